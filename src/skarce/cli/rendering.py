"""Results as aligned tables: with colors and at its width on a terminal, plain elsewhere."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from skarce._text import one_line, printable

PLAIN_WIDTH = 100  # if there is no terminal to ask
WIDEST = 10_000  # wider than any table
MOST_INPUT_COLUMNS = 6  # centers with more inputs are written into one column
MOST_FIXED = (-4, 6)  # from this power of ten to that one, numbers are written without an exponent


class StandardOutputError(Exception):
    """Standard output cannot be written."""

    def __init__(self, reason: OSError | str) -> None:
        words = reason if isinstance(reason, str) else reason.strerror or reason
        super().__init__(f"standard output cannot be written: {words}.")


@contextmanager
def _to_standard_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StandardOutputError(error) from error


def show(*results: Table | str) -> None:
    """Print tables and lines to standard output; lines are not wrapped.

    A table with cells that must not wrap gets all the width it needs in a file or a pipe; only a terminal cuts it.
    """
    for result in results:
        console = _console(stderr=False)
        if not console.is_terminal and isinstance(result, Table) and any(column.no_wrap for column in result.columns):
            console.width = max(console.width, _widest(console, result))
        with _to_standard_output():
            console.print(result, soft_wrap=isinstance(result, str))


def write(text: str) -> None:
    """Write text for other programs to standard output: as UTF-8, unless the encoding of the stream has all its characters."""
    if sys.stdout is None:
        raise StandardOutputError("it is closed")
    try:
        content = text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        content = text.encode()
        say(f"Note: the output is UTF-8, because {sys.stdout.encoding} lacks some of its characters.")
    with _to_standard_output():
        sys.stdout.flush()
        rest = memoryview(content)
        while rest:  # without buffers (python -u), a pipe takes only as much at a time as it can hold
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()


def messages() -> Console:
    """Standard error, for progress and remarks."""
    return _console(stderr=True)


def say(message: str) -> None:
    """Print one line of bounded length to standard error."""
    messages().print(one_line(message))


def plus_minus() -> str:
    """The sign between a number and its deviation, or what standard output has instead of it."""
    return "+-" if _console(stderr=False).options.ascii_only else "±"


class _Forgiving:
    """Standard error as far as it can be written: if it is full or closed, there is nobody left to tell."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def fits(table: Table) -> bool:
    """Whether standard output is wide enough to print the table as it is."""
    console = _console(stderr=False)
    return _widest(console, table) <= console.width


def _widest(console: Console, table: Table) -> int:
    """The width of the table if no cell is wrapped or cut."""
    return _measured(console, table).maximum


def _measured(console: Console, table: Table) -> Measurement:
    """The width of the table if no word is broken (`minimum`), and if no cell is wrapped (`maximum`)."""
    return Measurement.get(console, console.options.update(max_width=WIDEST), table)


def _console(stderr: bool) -> Console:
    # Without a file, rich takes standard output, or nothing if that is closed.
    file = cast(TextIO, _Forgiving(sys.stderr)) if stderr and sys.stderr is not None else None
    console = Console(file=file, stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


def text_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Text under headings; the first column is aligned left, the others right."""
    table = titled_table(title)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def facts_table(facts: dict[str, str]) -> Table:
    """Names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(Text(name, style="bold"), printable(value))
    return table


def functions_table(functions: Any, inputs: list[str], n_hidden: int) -> Table:
    """The active functions; `n_hidden` more are not shown. If the inputs are too many or too wide, they share one column."""
    title = "Active functions, most relevant first"
    table = _frame_table(title, functions)
    if set(inputs) <= set(functions.columns) and (len(inputs) > MOST_INPUT_COLUMNS or not fits(table)):
        table = _frame_table(title, _with_inputs_joined(functions, inputs))
    if n_hidden:
        table.caption = f"{n_hidden} more; use --all to see them"
    return table


def steps_table(steps: Any) -> Table:
    """The last steps of the search."""
    return _frame_table("Last steps of the search", steps)


def _with_inputs_joined(functions: Any, inputs: list[str]) -> Any:
    """Many inputs as one column of ``name=value`` pairs."""
    rows = functions[inputs].to_dict("records")
    rest = functions.drop(columns=inputs)
    rest.insert(1, "center", [", ".join(f"{name}={_short(value)}" for name, value in row.items()) for row in rows])
    return rest


def _frame_table(title: str, frame: Any) -> Table:
    """If there is not enough room, headings wrap between words, then cells do, and words break only if nothing else helps."""
    columns = {name: frame[name].tolist() for name in frame.columns}
    wide, tight = (_columns_table(title, columns, is_tight) for is_tight in (False, True))
    console = _console(stderr=False)
    return tight if not fits(wide) and _measured(console, tight).minimum <= console.width else wide


def _columns_table(title: str, columns: dict[str, list[Any]], is_tight: bool) -> Table:
    """Values under headings. A tight column is as wide as its longest word, unless cells hold several words."""
    table = titled_table(title)
    texts = [[printable(cell) for cell in _cells(values)] for values in columns.values()]
    for (name, values), cells in zip(columns.items(), texts, strict=True):
        justify: JustifyMethod = "left" if any(isinstance(v, str) for v in values) else "right"
        is_fixed = is_tight and not any(" " in cell for cell in cells)
        width = max(map(cell_len, (*name.split(), *cells))) if is_fixed else None
        table.add_column(printable(name), justify=justify, overflow="fold", width=width)
    for row in zip(*texts, strict=True):
        table.add_row(*row)
    return table


def titled_table(title: str) -> Table:
    return Table(title=printable(title), title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, title_style="bold")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cells(values: list[Any]) -> list[str]:
    """The cells of a column: numbers with the same decimals, at most six significant digits, and no needless zeros."""
    if not all(isinstance(value, float) for value in values):
        return [str(value) for value in values]
    largest = max((abs(value) for value in values), default=0.0) or 1.0
    exponent = math.floor(math.log10(largest))
    if not MOST_FIXED[0] <= exponent <= MOST_FIXED[1]:
        return [f"{value:.5e}" for value in values]
    most = max(0, 5 - exponent)
    decimals = next((n for n in range(most) if all(abs(round(v, n) - v) < 1e-6 * largest for v in values)), most)
    return [f"{value:.{decimals}f}" for value in values]
