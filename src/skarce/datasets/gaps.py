"""Missing values of a table: an error that names every column that has some, or the rows that have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skarce._text import quoted
from skarce._typing import Indices
from skarce.datasets.tables import Table, TableError

ERROR, DROP, FILL = WAYS = ("error", "drop", "fill")  # what to do about missing values
MISSING_TEXT = "(missing)"  # what is filled into columns of text
MOST_NAMED = 30  # columns in a message
REMEDY = "use --missing drop to leave out such rows, or --missing fill to fill in the inputs"
REMEDY_STREAMED = "use --missing drop to leave out such rows, or --missing fill with --no-stream, if all rows fit into memory"


def refuse_gaps(table: Table, names: Iterable[str], remedy: str = REMEDY) -> None:
    """Raise if values are missing in some of the columns. The message names all of them, and ends with the remedy."""
    gaps = {name: table.column(name).isna().to_numpy() for name in names}
    counts = {name: int(is_gap.sum()) for name, is_gap in gaps.items() if is_gap.any()}
    if not counts:
        return
    first = table.place(min(int(np.argmax(gaps[name])) for name in counts))
    if len(counts) > 1:
        named = [f"{quoted(name)} ({count})" for name, count in counts.items()]
        more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
        columns = ", ".join(named[:MOST_NAMED] + more)
        raise TableError(f"{table.name}: {len(counts)} columns have missing values, the first in {first}: {columns}; {remedy}.")
    ((name, count),) = counts.items()
    found = f"1 missing value, in {first}" if count == 1 else f"{count} missing values, the first in {first}"
    raise TableError(f"{table.name}: column {quoted(name)} has {found}; {remedy}.")


def complete_rows(table: Table, names: Iterable[str]) -> Indices:
    """The numbers of the rows that have a value in each of the columns."""
    is_complete = np.ones(len(table.frame), dtype=bool)
    for name in names:
        is_complete &= table.column(name).notna().to_numpy()
    return np.flatnonzero(is_complete)


def only_rows(table: Table, rows: Indices) -> Table:
    """The table with some rows only, which still know where they are in the source."""
    if len(rows) == len(table.frame):
        return table
    # Booleans with gaps are objects; without the gaps they are booleans again.
    frame = table.frame.iloc[rows].reset_index(drop=True).infer_objects()
    return Table(frame, table.name, lambda row: table.place(int(rows[row])))


def n_gaps(frame: Any) -> tuple[int, int]:
    """The number of missing values, and of the columns that have some."""
    counts = frame.isna().sum()
    return int(counts.sum()), int((counts > 0).sum())


def left_out(n_left_out: int, n_rows: int) -> str:
    """How many rows were left out, for a message."""
    return f"{n_left_out:,} of {n_rows:,} rows {'was' if n_left_out == 1 else 'were'} left out"
