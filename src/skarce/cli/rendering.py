"""Results as lined-up tables: on a terminal with colours and at its width, elsewhere plain."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

PLAIN_WIDTH = 100  # where there is no terminal to ask
WIDEST = 10_000  # more than any table is wide
MOST_INPUT_COLUMNS = 6  # centres with more inputs are written into one column
MOST_FIXED = (-4, 6)  # powers of ten between which numbers are written without an exponent


def show(*results: Table | str) -> None:
    """Print tables and lines to standard output; lines, and tables that are made of lines, are not broken.

    A file or a pipe is as wide as a table of cells that must not be broken: only a terminal cuts it.
    """
    for result in results:
        console = _console(stderr=False)
        if not console.is_terminal and isinstance(result, Table) and any(column.no_wrap for column in result.columns):
            console.width = max(console.width, _widest(console, result))
        console.print(result, soft_wrap=isinstance(result, str))


def messages() -> Console:
    """Standard error: progress and remarks."""
    return _console(stderr=True)


def fits(table: Table) -> bool:
    """Whether standard output is wide enough to print the table as it is."""
    console = _console(stderr=False)
    return _widest(console, table) <= console.width


def _widest(console: Console, table: Table) -> int:
    """How wide the table is with no cell broken or cut."""
    return _measured(console, table).maximum


def _measured(console: Console, table: Table) -> Measurement:
    """How wide the table is with no word broken (`minimum`), and with no cell broken (`maximum`)."""
    return Measurement.get(console, console.options.update(max_width=WIDEST), table)


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


def text_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Texts under headings, the first column to the left and the others to the right."""
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
        table.add_row(Text(name, style="bold"), value)
    return table


def functions_table(functions: Any, inputs: list[str], n_hidden: int) -> Table:
    """The active functions; `n_hidden` says how many more there are. Inputs that are too many or too wide share one column."""
    title = "Active functions, most relevant first"
    table = _frame_table(title, functions)
    if set(inputs) <= set(functions.columns) and (len(inputs) > MOST_INPUT_COLUMNS or not fits(table)):
        table = _frame_table(title, _with_inputs_joined(functions, inputs))
    if n_hidden:
        table.caption = f"{n_hidden} more: --all shows them"
    return table


def steps_table(steps: Any) -> Table:
    """The last steps of the search."""
    return _frame_table("Last steps of the search", steps)


def _with_inputs_joined(functions: Any, inputs: list[str]) -> Any:
    """Many inputs as one column of ``name=value`` texts."""
    rows = functions[inputs].to_dict("records")
    rest = functions.drop(columns=inputs)
    rest.insert(1, "centre", [", ".join(f"{name}={_short(value)}" for name, value in row.items()) for row in rows])
    return rest


def _frame_table(title: str, frame: Any) -> Table:
    """Where there is not room enough, headings are broken between words, then cells are, and words where nothing else helps."""
    columns = {name: frame[name].tolist() for name in frame.columns}
    wide, tight = (_columns_table(title, columns, is_tight) for is_tight in (False, True))
    console = _console(stderr=False)
    return tight if not fits(wide) and _measured(console, tight).minimum <= console.width else wide


def _columns_table(title: str, columns: dict[str, list[Any]], is_tight: bool) -> Table:
    """Values under headings; tight columns are as wide as their longest word, those of several words in a cell as there is room."""
    table = titled_table(title)
    texts = [_cells(values) for values in columns.values()]
    for (name, values), cells in zip(columns.items(), texts, strict=True):
        justify: JustifyMethod = "left" if any(isinstance(v, str) for v in values) else "right"
        is_fixed = is_tight and not any(" " in cell for cell in cells)
        width = max(map(cell_len, (*name.split(), *cells))) if is_fixed else None
        table.add_column(name, justify=justify, overflow="fold", width=width)
    for row in zip(*texts, strict=True):
        table.add_row(*row)
    return table


def titled_table(title: str) -> Table:
    return Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, title_style="bold")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cells(values: list[Any]) -> list[str]:
    """A column as texts: numbers with the same decimals, six significant digits at most and none for show."""
    if not all(isinstance(value, float) for value in values):
        return [str(value) for value in values]
    largest = max((abs(value) for value in values), default=0.0) or 1.0
    exponent = math.floor(math.log10(largest))
    if not MOST_FIXED[0] <= exponent <= MOST_FIXED[1]:
        return [f"{value:.5e}" for value in values]
    most = max(0, 5 - exponent)
    decimals = next((n for n in range(most) if all(abs(round(v, n) - v) < 1e-6 * largest for v in values)), most)
    return [f"{value:.{decimals}f}" for value in values]
