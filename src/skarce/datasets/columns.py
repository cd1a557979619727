"""Columns of a table as numbers, text or class labels. Each problem is reported with the first row that has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from skarce._typing import Floats
from skarce.datasets.tables import Table, TableError

NUMBER, TEXT = "number", "text"  # kinds of input columns, also in saved models
LARGEST = 1e150  # the squares of larger numbers overflow


def input_kind(table: Table, name: str) -> str:
    """Whether a column holds numbers (booleans count as numbers) or text."""
    values = table.frame[name]
    if types.is_bool_dtype(values) or types.is_numeric_dtype(values):
        return NUMBER
    if types.infer_dtype(values, skipna=True) in ("string", "empty", "categorical"):
        return TEXT
    raise TableError(f"column {name!r} of {table.name} holds {values.dtype} values; inputs must be numbers or text.")


def numbers(table: Table, name: str) -> Floats:
    """A column as float64: true is 1, and no value is missing, text, infinite or too large to square."""
    values = _complete(table, name)
    converted = pd.to_numeric(values, errors="coerce")
    _refuse(
        table, converted.isna(), lambda row: f"column {name!r} must hold numbers, but {table.place(row)} has {values.iloc[row]!r}"
    )
    floats: Floats = converted.to_numpy(dtype=np.float64)
    too_large = np.abs(floats) > LARGEST
    _refuse(
        table, too_large, lambda row: f"column {name!r} has an infinite value, or one beyond {LARGEST:g}, in {table.place(row)}"
    )
    return floats


def counts(table: Table, name: str) -> Floats:
    """A column as counts or rates: numbers that are not negative, and not all zero."""
    values = numbers(table, name)
    _refuse(table, values < 0.0, lambda row: f"counts must not be negative, but {table.place(row)} of {name!r} has {values[row]:g}")
    if not values.any():
        raise TableError(f"all counts in {name!r} are zero, so there is no rate to learn.")
    return values


def texts(table: Table, name: str) -> Any:
    """A column as text, nothing missing."""
    return _complete(table, name).astype(str).to_numpy(dtype=object)


def labels(table: Table, name: str) -> Any:
    """A column as class labels: text, booleans or whole numbers, with two rows or more per class on average."""
    values = _complete(table, name)
    is_text = not (types.is_bool_dtype(values) or types.is_numeric_dtype(values))
    found = values.astype(str).to_numpy(dtype=str) if is_text else values.to_numpy()
    n_classes = len(np.unique(found))
    if n_classes > len(found) / 2:
        raise TableError(
            f"the target {name!r} has {n_classes} different values in {len(found)} rows, too many for classes. "
            "Use --task regression if it holds numbers, and check that it is not an identifier."
        )
    return _whole(table, name, found) if np.issubdtype(found.dtype, np.floating) else found


def _whole(table: Table, name: str, values: Floats) -> Any:
    """Labels that are floating-point numbers as integers."""
    _refuse(
        table,
        values != np.round(values),
        lambda row: (
            f"column {name!r} has {values[row]:g} in {table.place(row)}, but numbers must be whole to be classes. "
            "Write the classes as text or whole numbers, or use --task regression"
        ),
    )
    return values.astype(np.int64)


def _complete(table: Table, name: str) -> Any:
    values = table.column(name)
    n_missing = int(values.isna().sum())
    _refuse(table, values.isna(), lambda row: f"column {name!r} has {_missing(n_missing, table.place(row))}")
    return values


def _missing(n_missing: int, place: str) -> str:
    if n_missing == 1:
        return f"1 missing value, in {place}; fill it or drop the row"
    return f"{n_missing} missing values, the first in {place}; fill them or drop the rows"


def _refuse(table: Table, is_bad: Any, describe: Callable[[int], str]) -> None:
    """Raise for the first bad row, if there is one."""
    rows = np.flatnonzero(is_bad)
    if len(rows):
        raise TableError(f"{table.name}: {describe(int(rows[0]))}.")
