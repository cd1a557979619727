"""The command line as a process of its own, for tests of signals, pipes and terminals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 600.0  # seconds until a test gives up; everything here takes a few on an idle machine
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has only the other
needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals, pipes and devices")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find processes")


def command(*arguments):
    return [sys.executable, "-m", "skarce", *map(str, arguments)]


def skarce(*arguments, **options):
    """Run a command to its end, with bytes in and out."""
    return subprocess.run(command(*arguments), capture_output="stdout" not in options, timeout=PATIENCE, check=False, **options)


def in_session(session):
    """The living processes of a session; zombies are gone, only not yet collected."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(its_session) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def assert_one_line_of(stderr, *mentions):
    text = stderr.decode()
    assert text.count("\n") == 1, text
    assert len(text) < 500
    assert "Traceback" not in text
    for mention in mentions:
        assert mention in text
