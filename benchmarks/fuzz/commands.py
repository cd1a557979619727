"""Run the command line in this process, and judge what it does."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from threading import Thread
from typing import Any

from benchmarks.fuzz.faults import LONGEST_MESSAGE, Fault, place_of_exception
from benchmarks.fuzz.watch import Seen
from benchmarks.timing import peak_megabytes
from skarce.__main__ import main

EXIT_CODES = (0, 1, 2, 130)  # done, some fits failed, the user can mend it, interrupted
MOST_ERROR_LINES = 1
MOST_MEGABYTES = 500.0  # that a command may need on a small table or model
RUNS_CODE = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "socket.connect", "shutil.rmtree")
CLEAR = Path("/proc/self/clear_refs")
_heard: list[str] = []
_listening = False


def command(*arguments: str, stdout: str | None = None, encoding: str = "utf-8") -> int:
    """Run ``skarce ARGUMENTS`` and return the exit code. Standard output may go to another file or have another encoding.

    No real data are at hand, so that every machine sees the same, and no paper is reproduced for minutes.
    """
    before = sys.argv
    sys.argv = ["skarce", *arguments]
    try:
        with _without_data(), _to_file(stdout, encoding):
            main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1 if end.code else 0
    finally:
        sys.argv = before
    return 0


def through_pipe(table: Path, data: bytes) -> None:
    """Put a pipe in the place of a table. Its bytes come when a command opens it; a pipe that no command opens is given up."""
    os.mkfifo(table)
    Thread(target=_fed, args=(table.absolute(), data), daemon=True).start()


def _fed(pipe: Path, data: bytes) -> None:
    with suppress(OSError):  # the folder of the case may be gone, or the command does not read to the end
        pipe.write_bytes(data)


@contextmanager
def _without_data() -> Iterator[None]:
    before = os.environ.get("SKARCE_DATA")
    os.environ["SKARCE_DATA"] = "no-data"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SKARCE_DATA"]
        else:
            os.environ["SKARCE_DATA"] = before


@contextmanager
def _to_file(path: str | None, encoding: str) -> Iterator[None]:
    if path is None and encoding == "utf-8":
        yield
        return
    with open(path or "stdout.txt", "wb", buffering=0) as raw:
        file = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
        with redirect_stdout(file):
            yield
        file.detach()


def judged(seen: Seen, code: Any, arguments: tuple[str, ...]) -> Iterator[Fault]:
    """The faults of a command that has run."""
    name = f"skarce {arguments[0] if arguments else ''}".strip()
    yield from seen.faults
    if seen.error is not None:
        yield Fault(f"{type(seen.error).__name__} reaches the user", place_of_exception(seen.error), str(seen.error)[:200])
        return
    if code not in EXIT_CODES:
        yield Fault(f"exit code {code}", name)
    if "Traceback (most recent call last)" in seen.output:
        yield Fault("traceback is printed", name, seen.output[-300:])
    if "\x1b" in seen.output:
        yield Fault("control characters are printed", name, repr(seen.output[:200]))
    if code == 2:
        yield from _judged_message(seen.output, name)


def _judged_message(output: str, name: str) -> Iterator[Fault]:
    """An error is one short line, the last one; notes may come before it."""
    lines = output.strip().splitlines()
    errors = [place for place, line in enumerate(lines) if line.startswith("Error: ")]
    if not errors:
        yield Fault("exit code 2 without a message", name, output[-200:])
    elif len(lines) - errors[0] > MOST_ERROR_LINES:
        yield Fault("error of several lines", name, "\n".join(lines[errors[0] :])[:300])
    elif len(lines[-1]) > LONGEST_MESSAGE:
        yield Fault("long error message", name, f"{len(lines[-1])} characters: {lines[-1][:120]} ...")


def judged_prediction(table: Path, written: Path) -> Iterator[Fault]:
    """Predictions have a record for each record of the table, all as long as the header, and only numbers that are finite."""
    if not written.is_file():
        yield Fault("exit code 0 without a file", "skarce predict")
        return
    header, *records = csv.reader(io.StringIO(written.read_text(encoding="utf-8"), newline=""))
    if any(len(record) != len(header) for record in records):
        yield Fault("records of different length are written", "skarce predict")
    added = [place for place, name in enumerate(header) if name.endswith(("_mean", "_std")) or "_p_" in name]
    if any(
        record[place].lower() in ("nan", "inf", "-inf", "") for record in records for place in added[-2:] if place < len(record)
    ):
        yield Fault("predictions are not finite", "skarce predict", str(records[:1])[:200])
    expected = _n_records(table)
    if expected is not None and len(records) != expected:
        yield Fault("rows are lost", "skarce predict", f"{len(records)} of {expected}")


def judged_table(table: Path, name: str) -> Iterator[Fault]:
    """A table that was accepted must not have records that are longer than its header."""
    records = _records(table)
    if records and any(len(record) > len(records[0]) for record in records):
        yield Fault("longer records than the header are accepted", f"skarce {name}", str(records[:2])[:200])


def _records(table: Path) -> list[list[str]] | None:
    """The records of a CSV file that are not blank, or None if this is something else."""
    try:
        if table.suffix != ".csv" or not table.is_file():
            return None
        text = table.read_bytes().decode("utf-8-sig")
        return [
            fields for fields in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True) if any(f.strip() for f in fields)
        ]
    except (OSError, UnicodeError, csv.Error):
        return None


def _n_records(table: Path) -> int | None:
    records = _records(table)
    return None if records is None else len(records) - 1


@contextmanager
def no_code_is_run(faults: list[Fault]) -> Iterator[None]:
    """Add a fault if a process is started, or a connection is made."""
    global _listening
    if not _heard:
        sys.addaudithook(_hear)
        _heard.append("")  # hooks stay, so there is only one
    del _heard[1:]
    _listening = True
    try:
        yield
    finally:
        _listening = False
        faults.extend(Fault("a model file runs code", event) for event in set(_heard[1:]))


def _hear(event: str, _: Any) -> None:
    if _listening and event in RUNS_CODE:
        _heard.append(event)


@contextmanager
def little_memory(faults: list[Fault], name: str) -> Iterator[None]:
    """Add a fault if the memory of this process grows by much on the way. Only Linux can tell."""
    if not CLEAR.exists():
        yield
        return
    CLEAR.write_text("5")  # the peak starts again at what is in use now
    before = peak_megabytes()
    yield
    grown = peak_megabytes() - before
    if grown > MOST_MEGABYTES:
        faults.append(Fault("much memory", name, f"{grown:.0f} MB more"))
