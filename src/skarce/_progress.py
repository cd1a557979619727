"""Progress of work that takes more than a moment: bars in a terminal, and lines at growing intervals elsewhere.

``fit`` opens a screen, by ``with shown(verbose)``. What works inside, however deep, tells how far it is, by
``with progress("adding up", total, "rows") as part`` and ``part.to(done)``. Parts inside of parts are shown below them. Without
a screen, `progress` returns an object whose methods do nothing. A screen belongs to the thread that opened it, so other threads and
processes are quiet.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
FIRST = 2.0  # seconds until the first line; parts that took less leave no line when they end
GROWTH = 1.5  # of the seconds between two lines ...
LONGEST = 60.0  # ... until it is a minute
REDRAWN = 0.1  # seconds between two changes of the text beside a bar
BAR_WIDTH = 20
NEAR = 0.1  # of a limit: it is shown from here on
LONG = 3e9  # floating-point operations of a pass that may take a second
Note = Callable[[], str]
Say = Callable[[str], object]  # prints a line that stays


class Quiet:
    """A part of the work that nobody watches."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    def to(self, done: int, note: Note | None = None) -> None:
        """Say that so much is done by now, and how to say more about it in a few words."""

    def step(self, size: int = 1) -> None:
        """Say that so much more is done."""

    def expect(self, total: int) -> None:
        """Say how many units there are, if that was not known before, or has changed."""


class Part(Quiet):
    """A part of the work that is watched.

    Attributes
    ----------
    label : what is done
    total : how many units there are, or None if that is not known
    unit : the plural of what is counted, or nothing if nothing is
    at_most : the number of units after which the work stops in any case
    deadline : when the work stops in any case, as a value of `time.monotonic`
    done : how many units are done
    began, since : when the part began, and how much was done already
    """

    def __init__(
        self,
        watchers: tuple[Watcher, ...],
        label: str,
        total: int | None,
        unit: str,
        at_most: int | None,
        deadline: float | None,
        done: int,
        clock: Callable[[], float],
    ) -> None:
        self.label, self.total, self.unit, self.at_most, self.deadline = label, total, unit, at_most, deadline
        self.done = self.since = done
        self.note: Note | None = None
        self.began = clock()
        self._watchers, self._clock = watchers, clock
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> Part:
        for watcher in self._watchers:
            watcher.begin(self)
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        for watcher in self._watchers:
            watcher.end(self, is_whole=kind is None, now=self._clock())

    def to(self, done: int, note: Note | None = None) -> None:
        self.done, self.note, now = done, note, self._clock()
        for watcher in self._watchers:
            if now >= watcher.due:
                watcher.show(self, now)

    def step(self, size: int = 1) -> None:
        """Say that so much more is done. Threads that share the work may call this."""
        with self._one_at_a_time:
            self.to(self.done + size, self.note)

    def expect(self, total: int) -> None:
        self.total = total

    def text(self, now: float) -> str:
        """How far the part is, and how long it will take if that can be known."""
        return ", ".join(filter(None, [self._count(), self._said(), self._rate(now), self._left(now)]))

    def line(self, now: float) -> str:
        """The same for a log file, with the time so far."""
        elapsed = f"{_duration(now - self.began)} so far"
        return ", ".join(filter(None, [self._count(), self._said(), self._rate(now), elapsed, self._left(now)]))

    def ending(self, now: float) -> str:
        """What was done, and in what time."""
        counted = f"{self.done - self.since:,} {self.unit} in " if self.unit else ""
        return ", ".join(filter(None, [f"{counted}{_duration(now - self.began)}", self._said(), self._rate(now)]))

    def place(self) -> str:
        """Where the part is, in a word or two."""
        counted = "" if not self.unit else f" {self.done:,}" if self.total is None else f" {self.done:,} of {self.total:,}"
        return f"{self.label}{counted}"

    def _count(self) -> str:
        if not self.unit:
            return ""
        if self.total is not None:
            share = f" ({self.done / self.total:.0%})" if self.total else ""
            return f"{self.done:,} of {self.total:,} {self.unit}{share}"
        is_near = self.at_most is not None and self.done >= NEAR * self.at_most
        return f"{self.done:,}{f' of at most {self.at_most:,}' if is_near else ''} {self.unit}"

    def _said(self) -> str:
        return "" if self.note is None else self.note()

    def _speed(self, now: float) -> float:
        return (self.done - self.since) / (now - self.began) if now > self.began else 0.0

    def _rate(self, now: float) -> str:
        return f"{self._speed(now):,.0f} rows/s" if self.unit == "rows" and self.done > self.since else ""

    def _left(self, now: float) -> str:
        """Time left by the speed so far if the total is known; else what the time limit leaves."""
        if self.total is not None:
            rest, speed = self.total - self.done, self._speed(now)
            return f"{_duration(rest / speed)} left" if rest > 0.0 and speed > 0.0 else ""
        return "" if self.deadline is None else f"at most {_duration(max(self.deadline - time.monotonic(), 0.0))} left"


class Watcher:
    """Sees parts begin and end, and at times how far they are."""

    due: float = float("inf")  # when it wants to see how far a part is

    def counts_rows(self) -> bool:
        """Tell whether it shows a part that counts rows."""
        return False

    def begin(self, part: Part) -> None:
        """See a part begin."""

    def show(self, part: Part, now: float) -> None:
        """See how far a part is."""

    def end(self, part: Part, *, is_whole: bool, now: float) -> None:
        """See a part end, completely or by an error."""


class Screen(Watcher):
    """Shows parts to a person. Those that took a while leave a line, unless they are inside of another part."""

    first: float = FIRST

    def __init__(self, say: Say) -> None:
        self.parts: list[Part] = []
        self.say = say

    def counts_rows(self) -> bool:
        return any(part.unit == "rows" for part in self.parts)

    def begin(self, part: Part) -> None:
        self.parts.append(part)

    def end(self, part: Part, *, is_whole: bool, now: float) -> None:
        self.parts.remove(part)
        if is_whole and not self.parts and now - part.began >= self.first:
            self.say(f"{part.label}: {part.ending(now)}")


class Lines(Screen):
    """Prints a line now and then, more and more rarely, from `first` seconds on: for log files."""

    def __init__(self, say: Say | None = None, clock: Callable[[], float] = time.monotonic, first: float = FIRST) -> None:
        super().__init__(say or _print)
        self.first = self._pause = first
        self.due = clock() + first

    def show(self, part: Part, now: float) -> None:
        outer = [other.place() for other in self.parts[: self.parts.index(part)]]
        self.say(f"{' > '.join([*outer, part.label])}: {part.line(now)}")
        self._pause = min(GROWTH * self._pause, LONGEST)
        self.due = now + self._pause


class Bars(Screen):
    """Draws a bar for each part. They vanish at the end. Needs rich, and a terminal of its own."""

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        console = console or Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
        super().__init__(console.print)
        self.due = 0.0
        self._tasks: dict[Part, Any] = {}
        columns = (
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(BAR_WIDTH),
            TimeElapsedColumn(),
            TextColumn("{task.fields[text]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        )
        same = sys.stdout is not None and sys.stdout.isatty()  # what is printed elsewhere stays there
        self._progress = Progress(*columns, console=console, transient=True, redirect_stdout=same)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._progress.stop()

    def begin(self, part: Part) -> None:
        super().begin(part)
        if len(self.parts) == 1:  # inner parts may be short and many; they get a bar when they have done a step
            self._draw(part, "")

    def show(self, part: Part, now: float) -> None:
        for one in self.parts[: self.parts.index(part) + 1]:  # the outer ones may have moved since they were drawn
            self._draw(one, one.text(now))
        self.due = now + REDRAWN

    def end(self, part: Part, *, is_whole: bool, now: float) -> None:
        task = self._tasks.pop(part, None)
        if task is not None:
            self._progress.remove_task(task)
        super().end(part, is_whole=is_whole, now=now)

    def _draw(self, part: Part, text: str) -> None:
        if part in self._tasks:
            self._progress.update(self._tasks[part], completed=part.done, total=part.total, text=text)
            return
        label = "  " * self.parts.index(part) + part.label
        self._tasks[part] = self._progress.add_task(label, total=part.total, completed=part.done, text=text)


QUIET = Quiet()
_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())
_terminal = threading.Lock()  # of whoever draws bars


def progress(
    label: str,
    total: int | None = None,
    unit: str = "",
    *,
    at_most: int | None = None,
    deadline: float | None = None,
    done: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Quiet:
    """Return a part of the work as a context manager. If nobody watches, this is one look at a variable."""
    watchers = _watchers.get()
    return Part(watchers, label, total, unit, at_most, deadline, done, clock) if watchers else QUIET


def one_pass(label: str, total: int, unit: str, operations: float) -> Quiet:
    """Return a pass over rows in memory as a part of the work. A short one is quiet, and one whose rows are counted already."""
    if operations < LONG or any(watcher.counts_rows() for watcher in _watchers.get()):
        return QUIET
    return progress(label, total, unit)


def is_watched() -> bool:
    """Tell whether somebody watches the work of this thread."""
    return bool(_watchers.get())


def counted(items: Iterable[Item], size: Callable[[Item], int], label: str, total: int | None, unit: str) -> Iterator[Item]:
    """Yield the items. Each counts by its size, as soon as the next one is asked for."""
    with progress(label, total, unit) as part:
        for item in items:
            yield item
            part.step(size(item))


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let somebody watch all parts of the work inside, in this thread."""
    token = _watchers.set((*_watchers.get(), watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


@contextmanager
def shown(verbose: Any) -> Iterator[None]:
    """Show the progress of all that happens inside, unless `verbose` is zero. A screen that is open already is used."""
    if not verbose or any(isinstance(watcher, Screen) for watcher in _watchers.get()):
        yield
        return
    with ExitStack() as stack:
        screen: Screen = Lines()
        if _has_room_for_bars() and _terminal.acquire(blocking=False):
            stack.callback(_terminal.release)
            screen = stack.enter_context(Bars())
        stack.enter_context(watched(screen))
        yield


def _has_room_for_bars() -> bool:
    """Tell whether errors go to a terminal that can draw bars, and that this process has for itself."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    if not is_terminal or multiprocessing.parent_process() is not None or importlib.util.find_spec("rich") is None:
        return False
    from rich.file_proxy import FileProxy

    return not isinstance(sys.stderr, FileProxy)  # somebody else draws with rich


def _print(line: str) -> None:
    print(line, file=sys.stderr)


def _duration(seconds: float) -> str:
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
