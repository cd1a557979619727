"""Run a piece of code and record everything that it should not do: exceptions, warnings, output, and the time it takes."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.fuzz.faults import CASE_FILE, Fault, fault_of_warning

OF_NUMPY = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}  # the errors that NumPy warns of by default


@dataclass
class Seen:
    """What a piece of code did."""

    error: BaseException | None = None
    faults: list[Fault] = field(default_factory=list)
    output: str = ""
    seconds: float = 0.0
    keeps_numpy: bool = True  # whether NumPy warns of the same errors as before


def run_lines(source: str, names: dict[str, Any]) -> Seen:
    """Run source code in these names. All exceptions end up in the result."""
    seen = Seen()
    code = compile(source, CASE_FILE, "exec")
    with _watched_warnings(seen), _captured(seen), np.errstate(**OF_NUMPY):
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            exec(code, names)
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            seen.error = error
        # Of the two clocks, the wall runs on while other processes have the core, and the CPU counts every thread.
        seen.seconds = min(time.perf_counter() - wall, time.process_time() - cpu)
        seen.keeps_numpy = np.geterr() == OF_NUMPY
    return seen


@contextmanager
def _watched_warnings(seen: Seen) -> Iterator[None]:
    """Record faults of warnings, each once, with the function that gave them."""

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        fault = fault_of_warning(category, str(message), traceback.extract_stack()[:-1])
        if fault is not None and fault.signature not in {known.signature for known in seen.faults}:
            seen.faults.append(fault)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextmanager
def _captured(seen: Seen) -> Iterator[None]:
    """Record what is written to standard output and error, also by compiled code: the file descriptors go to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            with _stream(1) as out, _stream(2) as err, redirect_stdout(out), redirect_stderr(err):
                yield
        finally:
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)
            file.seek(0)
            seen.output = file.read().decode("utf-8", "replace")


def _stream(number: int) -> Any:
    """A text stream on a file descriptor, as Python has at its start. That of a test runner would keep its own file."""
    return open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
