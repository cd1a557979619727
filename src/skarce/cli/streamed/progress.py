"""Progress of commands: bars in a terminal, and a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from skarce._progress import FIRST, Bars, Lines, progress, watched
from skarce.cli.rendering import messages, say

QUIET = 10.0  # seconds until the first line of a command that mostly takes less, if standard error is no terminal
OnRows = Callable[[int], None]  # takes the number of rows so far


@contextmanager
def shown_progress(first: float = FIRST) -> Iterator[None]:
    """Let all that is done inside show how far it is. Lines begin after the first seconds."""
    console = messages()
    opened = Bars(console) if console.is_terminal else nullcontext(Lines(say, first=first))
    with opened as screen, watched(screen):
        yield


@contextmanager
def working(what: str) -> Iterator[None]:
    """Progress of work without a count, and of all that is done inside."""
    with shown_progress(first=QUIET), progress(what):
        yield


@contextmanager
def rows_progress(what: str, total: int | None, done: int = 0) -> Iterator[OnRows]:
    """Progress of a pass over `total` rows, of which some are done already. Call the function with the number of rows so far."""
    with shown_progress(), progress(what, total, "rows", done=done) as part:
        yield part.to
