"""The raw columns of a model: numbers, or text as codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skarce._text import listed
from skarce._typing import Floats

UNSEEN = -1.0  # the code of text that was not in the training rows


class Gaps(NamedTuple):
    """The codes that stand for NaN and for None in a column of text. None stands for the code of text that was not seen."""

    nan: int | None = None
    none: int | None = None

    @property
    def code(self) -> int | None:
        """The code of missing text where there is one kind of it only."""
        return self.none if self.nan is None else self.nan


NO_GAPS = Gaps()


@dataclass(frozen=True)
class Input:
    """A raw column.

    Attributes
    ----------
    name : its name, or x0, x1 and so on
    is_named : whether tables have it by this name
    categories : the texts that it may have, in the order of their codes; None if it is a number
    keys : the numbers that an encoder knows, if one takes it as it came; NaN may be one of them
    gaps : the codes that stand for missing text
    """

    name: str
    is_named: bool = False
    categories: tuple[Any, ...] | None = None
    keys: tuple[float, ...] = ()
    gaps: Gaps = NO_GAPS

    @property
    def levels(self) -> Floats:
        """All coded numbers that training had, if it is a category; else none."""
        return np.array(self.keys if self.categories is None else range(len(self.categories)), dtype=np.float64)


def inputs_of(
    estimator: Any, n_inputs: int, texts: dict[int, tuple[Any, ...]], keys: dict[int, Floats], gaps: dict[int, Gaps]
) -> tuple[Input, ...]:
    """Return the raw columns of an estimator, of which some are text, or numbers that an encoder takes."""
    names = getattr(estimator, "feature_names_in_", None)
    found = []
    for place in range(n_inputs):
        name = f"x{place}" if names is None else str(names[place])
        known = tuple(map(float, keys.get(place, ())))
        found.append(Input(name, names is not None, texts.get(place), known, gaps.get(place, NO_GAPS)))
    return tuple(found)


def coded(inputs: tuple[Input, ...], X: Any) -> Floats:
    """Return raw rows as numbers. Text becomes its code, or `UNSEEN`. Columns of a table are found by their names."""
    cells = _in_order(inputs, X).to_numpy(dtype=object) if hasattr(X, "columns") else np.asarray(X, dtype=object)
    if cells.ndim != 2 or cells.shape[1] != len(inputs):
        raise ValueError(f"X must have {len(inputs)} columns, one for each input of the model, got shape {cells.shape}.")
    rows = np.empty(cells.shape)
    for place, one in enumerate(inputs):
        rows[:, place] = cells[:, place].astype(np.float64) if one.categories is None else _codes(one, cells[:, place])
    return rows


def decoded(inputs: tuple[Input, ...], rows: Floats) -> Any:
    """Return rows of numbers as Python takes them: a table if the columns have names, else an array."""
    has_text = any(one.categories is not None for one in inputs)
    if not inputs[0].is_named and not has_text:
        return np.asarray(rows, dtype=np.float64)
    columns = [_texts(one, rows[:, place]) for place, one in enumerate(inputs)]
    if not inputs[0].is_named:
        return np.array(columns, dtype=object).T
    import pandas as pd

    # A series of objects keeps None, which a column of text would make NaN.
    return pd.DataFrame({one.name: pd.Series(column, dtype=column.dtype) for one, column in zip(inputs, columns, strict=True)})


def _in_order(inputs: tuple[Input, ...], table: Any) -> Any:
    """Return a table with the columns of the model in its order, if they have names."""
    if not inputs[0].is_named:
        return table
    names = [one.name for one in inputs]
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise ValueError(f"X must have the columns {listed(names)}, but it lacks {listed(missing)}.")
    return table[names]


def _codes(one: Input, cells: Any) -> Floats:
    known = {text: code for code, text in enumerate(one.categories or ()) if not is_missing(text)}
    nan, none = (UNSEEN if code is None else code for code in one.gaps)
    codes = [none if cell is None else nan if is_missing(cell) else known.get(cell, UNSEEN) for cell in cells]
    return np.array(codes, dtype=np.float64)


def _texts(one: Input, codes: Floats) -> Any:
    if one.categories is None:
        return np.asarray(codes, dtype=np.float64)
    return np.array([one.categories[int(code)] for code in codes], dtype=object)


def code_of(text: Any, categories: tuple[Any, ...]) -> int | None:
    """Return the code of a text, of NaN or of None, or None if it is no category."""
    for code, category in enumerate(categories):
        if category == text or (category is not None and text is not None and is_missing(category) and is_missing(text)):
            return code
    return None


def is_missing(cell: Any) -> bool:
    """Return whether a cell of a column of text has no text."""
    return cell is None or (isinstance(cell, float) and np.isnan(cell))
