"""How a command ends: whatever happens, with an exit code, and with one line on standard error if something went wrong."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from skarce._text import one_line
from skarce._whole_file import OutputError
from skarce.cli.model_file import ModelFileError
from skarce.cli.rendering import StandardOutputError, say
from skarce.comparison import TooFewRowsError, UnknownMethodError
from skarce.datasets import DataNotFoundError
from skarce.datasets.tables import TableError
from skarce.export import ExportError
from skarce.reproduce.runner.selection import UnknownExperimentError

EXPLAINED = (
    TableError,
    TooFewRowsError,
    UnknownMethodError,
    ModelFileError,
    OutputError,
    ExportError,
    DataNotFoundError,
    UnknownExperimentError,
)  # errors whose message tells the user what to do
WRONG_USE = 2  # the user can fix the problem
INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h: the fault is ours
BY_SIGNAL = 128  # plus its number, as in shells
BROKEN_PIPE = 1  # as click and rich do
INTERRUPTED = BY_SIGNAL + signal.SIGINT
DEBUG_VARIABLE = "SKARCE_DEBUG"
NO_MEMORY = "there is not enough memory. Use fewer rows, fewer --centers, or a method that needs less."


class Stopped(KeyboardInterrupt):
    """A signal asked the process to end. Whatever cleans up after Ctrl-C cleans up after it, too."""

    def __init__(self, message: str = "", number: int = signal.SIGTERM) -> None:
        super().__init__(message)
        self.number = number


class PassedError(Exception):
    """Carries an interrupt through click, which would print an empty line and lose what the interrupt says."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        super().__init__(str(interrupt))
        self.interrupt = interrupt


def ended(work: Callable[[], Any]) -> int:
    """Do the work of a command, and return its exit code."""
    _degrade_characters()
    with warnings.catch_warnings(), _signals_stop():
        warnings.showwarning = _note_warning
        try:
            code = work() or 0
            _flush()
            return int(code)
        except PassedError as passed:
            return _explained(passed.interrupt)
        except BaseException as error:
            return _explained(error)


def _explained(error: BaseException) -> int:
    """Print what went wrong, and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    if isinstance(error, KeyboardInterrupt | click.Abort):
        say(str(error) or "Interrupted; no file was written.")
        return BY_SIGNAL + error.number if isinstance(error, Stopped) else INTERRUPTED
    if isinstance(error, BrokenPipeError | StandardOutputError):
        return _output_failed(error)
    message, code = _message(error)
    say(f"Error: {message}")
    return code


def _message(error: BaseException) -> tuple[str, int]:
    """What to say about an error, and the exit code."""
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if isinstance(error, EXPLAINED):
        return str(error), WRONG_USE
    if isinstance(error, MemoryError):
        return NO_MEMORY, WRONG_USE
    if isinstance(error, OSError):  # of a file, or of standard output if there is none
        return f"{error.filename or 'standard output'}: {error.strerror or error}.", WRONG_USE
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    what = one_line(error, 250)
    return f"this is a fault of skarce: {type(error).__name__}: {what} (set {DEBUG_VARIABLE}=1 for the traceback)", INTERNAL_ERROR


def _output_failed(error: OSError | StandardOutputError) -> int:
    """Nobody reads standard output any more, which is no error, or it cannot be written, which is one."""
    with suppress(OSError, ValueError, AttributeError):  # else Python tries to write the rest when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
        return BROKEN_PIPE
    say(f"Error: {error}")
    return WRONG_USE


def _flush() -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise StandardOutputError(error) from error


def _degrade_characters() -> None:
    """Let characters that the terminal cannot show become escapes, instead of errors."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _note_warning(message: Warning | str, *others: Any, **more: Any) -> None:
    say(f"Note: {message}")


@contextmanager
def _signals_stop() -> Iterator[None]:
    """Let signals that would kill the process raise `Stopped` instead, so that drafts are deleted and processes are ended."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set signal handlers
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, _stop) for number in numbers if signal.getsignal(number) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped("Terminated; no file was written.", number)
