"""Progress of a pass over rows: a bar in a terminal, and a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from skarce.cli.rendering import messages, say

OnRows = Callable[[int], None]  # takes the number of rows so far
SECONDS = 30.0  # between two lines


@contextmanager
def rows_progress(what: str, total: int | None, done: int = 0) -> Iterator[OnRows]:
    """Progress of a pass over `total` rows, of which some are done already. Call the function with the number of rows so far."""
    if not messages().is_terminal:
        yield RowLines(what, total, done)
        return
    columns = (TextColumn(what), BarColumn(bar_width=None), _RowsColumn(done), TimeElapsedColumn())
    with Progress(*columns, console=messages(), transient=True, expand=True) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda rows: progress.update(task, completed=rows)


class RowLines:
    """Prints a line for a log file, at most once every `every` seconds."""

    def __init__(
        self, what: str, total: int | None, done: int = 0, every: float = SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what, self._total, self._done, self._every, self._clock = what, total, done, every, clock
        self._started = self._said = clock()

    def __call__(self, rows: int) -> None:
        now = self._clock()
        if now - self._said >= self._every:
            self._said = now
            say(f"{self._what}: {rows_text(rows, self._total, (rows - self._done) / (now - self._started))}")


class _RowsColumn(ProgressColumn):
    """Rows so far, all rows, and rows per second."""

    def __init__(self, done: int) -> None:
        super().__init__(Column(no_wrap=True))
        self._done = done

    def render(self, task: Task) -> Text:
        rate = (task.completed - self._done) / task.elapsed if task.elapsed else 0.0
        return Text(rows_text(int(task.completed), None if task.total is None else int(task.total), rate))


def rows_text(rows: int, total: int | None, rate: float) -> str:
    """Rows so far, all rows if their number is known, and rows per second."""
    of_all = "" if total is None else f" of {total:,}"
    return f"{rows:,}{of_all} rows ({max(rate, 0.0):,.0f} rows/s)"
