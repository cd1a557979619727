"""Progress of a pass over rows: a bar in a terminal, and a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from skarce._progress import Bars, Lines, progress, watched
from skarce.cli.rendering import messages, say

OnRows = Callable[[int], None]  # takes the number of rows so far


@contextmanager
def shown_progress() -> Iterator[None]:
    """Let all that is done inside show how far it is."""
    console = messages()
    opened = Bars(console) if console.is_terminal else nullcontext(Lines(say))
    with opened as screen, watched(screen):
        yield


@contextmanager
def rows_progress(what: str, total: int | None, done: int = 0) -> Iterator[OnRows]:
    """Progress of a pass over `total` rows, of which some are done already. Call the function with the number of rows so far."""
    with shown_progress(), progress(what, total, "rows", done=done) as part:
        yield part.to
