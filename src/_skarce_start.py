"""The command ``skarce`` before its first import. Imports take a while, and a signal meanwhile ends them with one line."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

WORDS = {"SIGINT": b"Interrupted", "SIGTERM": b"Terminated", "SIGHUP": b"Terminated"}
HANDLED_BY_PYTHON = (signal.SIG_DFL, signal.default_int_handler)  # other signals are ignored on purpose, for instance by nohup
BY_SIGNAL = 128  # plus its number, as in shells


def main() -> None:
    """Load the command line, and run it."""
    numbers = [getattr(signal, name) for name in WORDS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) in HANDLED_BY_PYTHON}
    for number in before:
        signal.signal(number, _end)
    from skarce.__main__ import loaded

    run = loaded()
    for number, handler in before.items():
        signal.signal(number, handler)
    run(prog_name="skarce")


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, WORDS[signal.Signals(number).name] + b"; " + _what_is_left(sys.argv) + b"\n")
    os._exit(BY_SIGNAL + number)


def _what_is_left(arguments: list[str]) -> bytes:
    """Say that no file was written, and that the file of ``--state`` is still there if it is."""
    for place, argument in enumerate(arguments):
        option, _, name = argument.partition("=")
        if option == "--state":
            path = name or "".join(arguments[place + 1 : place + 2])
            if os.path.isfile(path):
                return b"no model was written. The state in " + os.fsencode(path) + b" is still there."
    return b"no file was written."
