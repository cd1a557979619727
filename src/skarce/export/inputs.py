"""The raw columns of a model: numbers, or text as codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._text import listed, quoted
from skarce._typing import Floats

UNSEEN = -1.0  # the code of text that was not in the training rows


@dataclass(frozen=True)
class Input:
    """A raw column.

    Attributes
    ----------
    name : its name, or x0, x1 and so on
    is_named : whether tables have it by this name
    categories : the texts that it may have, in the order of their codes; None if it is a number
    missing : the code that stands for missing text, if there is one
    """

    name: str
    is_named: bool = False
    categories: tuple[Any, ...] | None = None
    missing: int | None = None


def inputs_of(estimator: Any, n_inputs: int, texts: dict[int, tuple[Any, ...]], fills: dict[int, Any]) -> tuple[Input, ...]:
    """Return the raw columns of an estimator, of which some are text."""
    names = getattr(estimator, "feature_names_in_", None)
    found = []
    for place in range(n_inputs):
        name = f"x{place}" if names is None else str(names[place])
        categories = texts.get(place)
        missing = None if categories is None or place not in fills else _place_of(fills[place], categories)
        found.append(Input(name, names is not None, categories, missing))
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

    return pd.DataFrame({one.name: column for one, column in zip(inputs, columns, strict=True)})


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
    known = {text: code for code, text in enumerate(one.categories or ()) if not _is_missing(text)}
    missing = UNSEEN if one.missing is None else float(one.missing)
    return np.array([missing if _is_missing(cell) else known.get(cell, UNSEEN) for cell in cells], dtype=np.float64)


def _texts(one: Input, codes: Floats) -> Any:
    if one.categories is None:
        return np.asarray(codes, dtype=np.float64)
    return np.array([one.categories[int(code)] for code in codes], dtype=object)


def _place_of(text: Any, categories: tuple[Any, ...]) -> int:
    for code, category in enumerate(categories):
        if category == text or (_is_missing(category) and _is_missing(text)):
            return code
    raise ValueError(f"the text for missing values, {quoted(text)}, is none of the categories {quoted(categories)}.")


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and np.isnan(cell))
