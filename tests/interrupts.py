"""Ctrl-C at a chosen moment: KeyboardInterrupt at the n-th line that the package runs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import skarce
from skarce import _blas

PACKAGE = str(Path(skarce.__file__).parent)
# Python runs no signal handler between the end of a with block and the release of its lock, but it traces the line of the with
# statement there. An interrupt at that line would hold the lock for good, and no real signal comes there.
LOCKED = str(Path(_blas.__file__))


class Lines:
    """Counts the lines of the package that `action` runs on this thread, and interrupts it at line number `stop`."""

    def __init__(self, stop: int | None = None) -> None:
        self.stop, self.count, self.was_interrupted = stop, 0, False

    def run(self, action: Callable[[], Any]) -> "Lines":
        before = sys.gettrace()
        sys.settrace(self._on_call)
        try:
            action()
        except KeyboardInterrupt:
            self.was_interrupted = True
        finally:
            sys.settrace(before)
        return self

    def _on_call(self, frame: Any, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        return self._on_line if file.startswith(PACKAGE) and file != LOCKED else None

    def _on_line(self, frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self.stop:
                raise KeyboardInterrupt
        return self._on_line


def spread(n_lines: int, n_points: int, n_last: int) -> list[int]:
    """Line numbers over the whole action, and each of its last lines."""
    step = max(1, n_lines // n_points)
    return sorted({*range(1, n_lines, step), *range(max(1, n_lines - n_last), n_lines + 1)})
