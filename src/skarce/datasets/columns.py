"""Columns of a table as numbers, text or class labels. Each problem is reported with the first row that has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from skarce._text import quoted
from skarce._typing import Floats
from skarce.datasets.csv_text import DECIMAL_COMMA
from skarce.datasets.gaps import MISSING_TEXT, refuse_gaps
from skarce.datasets.tables import Table, TableError

NUMBER, TEXT = "number", "text"  # kinds of input columns, also in saved models
LARGEST = 1e150  # the squares of larger numbers overflow
LARGEST_LABEL = 2.0**53  # beyond it, floating-point numbers are all whole
OF_TEXT = ("string", "empty", "categorical")  # what pandas calls columns of text
DATES = "convert dates to numbers, such as days since the first one"
UNUSABLE = {
    **dict.fromkeys(("datetime64", "datetime", "date"), ("dates", DATES)),
    **dict.fromkeys(("timedelta64", "timedelta", "time"), ("times", "convert them to numbers, such as seconds")),
    **dict.fromkeys(("period", "interval"), ("periods or intervals", "convert them to numbers")),
    **dict.fromkeys(("bytes", "complex", "mixed"), ("lists or other objects", "use numbers or text")),
}  # by the words of pandas: what the column holds, and what would do


def input_kind(table: Table, name: str) -> str:
    """Whether a column holds numbers (booleans count as numbers) or text."""
    values = table.frame[name]
    if is_number(values):
        return NUMBER
    refuse_unusable(table, name)
    found = types.infer_dtype(values, skipna=True)
    if found == "boolean":  # with gaps, they have the type of objects
        return NUMBER
    if found not in OF_TEXT:
        raise TableError(f"column {quoted(name)} of {table.name} holds {values.dtype} values; inputs must be numbers or text.")
    _refuse_decimal_commas(table, name)
    return TEXT


def refuse_unusable(table: Table, name: str) -> None:
    """Raise for a column of dates, times, lists or other objects, of which numbers and text are only a shadow."""
    values = table.column(name)
    found = UNUSABLE.get(types.infer_dtype(_plain(values), skipna=True))
    if found is not None:
        what, remedy = found
        raise TableError(f"column {quoted(name)} of {table.name} holds {what} ({values.dtype}); {remedy}.")


def _plain(values: Any) -> Any:
    """The values, or the distinct ones if they are categories."""
    return values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values


def _refuse_decimal_commas(table: Table, name: str) -> None:
    """Raise if most texts of a column are numbers with a comma: as text they would mean nothing."""
    texts = table.frame[name].dropna().astype(str)
    is_number = texts.str.fullmatch(DECIMAL_COMMA.pattern).to_numpy(dtype=bool)
    if 2 * is_number.sum() > len(texts):
        first = quoted(texts.iloc[int(np.flatnonzero(is_number)[0])])
        raise TableError(f"column {quoted(name)} of {table.name} has commas in its numbers, such as {first}; write 1.5, not 1,5.")


def numbers(table: Table, name: str, *, has_gaps: bool = False) -> Floats:
    """A column as float64: true is 1, and no value is text, infinite or too large to square. NaN is missing, if it may be."""
    values = _usable(table, name) if has_gaps else _complete(table, name)
    converted = pd.to_numeric(values, errors="coerce")
    _refuse(
        table,
        converted.isna() & values.notna(),
        lambda row: f"column {quoted(name)} must hold numbers, but {table.place(row)} has {_with_hint(values.iloc[row])}",
    )
    floats: Floats = converted.to_numpy(dtype=np.float64, na_value=np.nan)
    too_large = np.abs(floats) > LARGEST
    _refuse(
        table,
        too_large,
        lambda row: (
            f"column {quoted(name)} has an infinite value, or one beyond {LARGEST:g}, in {table.place(row)}; correct it, or make "
            "it a missing value, which --missing drop leaves out"
        ),
    )
    return floats


def _with_hint(value: object) -> str:
    """A value that is not a number, and how to write it if it is one with a comma."""
    has_comma = isinstance(value, str) and DECIMAL_COMMA.fullmatch(value)
    return f"{quoted(value)}; write 1.5, not 1,5" if has_comma else quoted(value)


def counts(table: Table, name: str) -> Floats:
    """A column as counts or rates: numbers that are not negative, and not all zero."""
    values = counts_of_some(table, name)
    if not values.any():
        raise TableError(f"all counts in {quoted(name)} are zero, so there is no rate to learn.")
    return values


def counts_of_some(table: Table, name: str) -> Floats:
    """A column as counts or rates, if the table is a part of all rows: all of them may be zero."""
    values = numbers(table, name)
    _refuse(
        table,
        values < 0.0,
        lambda row: f"counts must not be negative, but {table.place(row)} of {quoted(name)} has {values[row]:g}",
    )
    return values


def texts(table: Table, name: str, *, has_gaps: bool = False) -> Any:
    """A column as text. What is missing becomes a text of its own, if something may be."""
    values = _usable(table, name) if has_gaps else _complete(table, name)
    written: Any = values.astype(str).to_numpy(dtype=object)
    return np.where(values.isna(), MISSING_TEXT, written)


def labels(table: Table, name: str) -> Any:
    """A column as class labels: text, booleans or whole numbers, with two rows or more per class on average."""
    found = _label_values(table, name)
    n_classes = len(np.unique(found))
    if n_classes > len(found) / 2:
        raise TableError(
            f"the target {quoted(name)} has {n_classes} different values in {len(found)} rows, too many for classes. "
            "Use --task regression if it holds numbers, convert dates to numbers, and check that it is not an identifier."
        )
    return _whole(table, name, found) if np.issubdtype(found.dtype, np.floating) else found


def labels_of_some(table: Table, name: str) -> Any:
    """A column as class labels, if the table is a part of all rows: its number of classes says nothing."""
    found = _label_values(table, name)
    return _whole(table, name, found) if np.issubdtype(found.dtype, np.floating) else found


def _label_values(table: Table, name: str) -> Any:
    """The values of a column without missing ones: text, booleans or numbers."""
    values = _complete(table, name)
    return values.to_numpy() if is_number(values) else values.astype(str).to_numpy(dtype=str)


def is_number(values: Any) -> bool:
    """Whether a column holds numbers or booleans, by its type."""
    return bool(types.is_bool_dtype(values) or types.is_numeric_dtype(values))


def _whole(table: Table, name: str, values: Floats) -> Any:
    """Labels that are floating-point numbers as integers."""
    _refuse(
        table,
        (values != np.round(values)) | (np.abs(values) > LARGEST_LABEL),
        lambda row: (
            f"column {quoted(name)} has {values[row]:g} in {table.place(row)}, but numbers must be whole to be classes. "
            "Write the classes as text or whole numbers, or use --task regression"
        ),
    )
    return values.astype(np.int64)


def _complete(table: Table, name: str) -> Any:
    values = _usable(table, name)
    refuse_gaps(table, [name])
    return values


def _usable(table: Table, name: str) -> Any:
    refuse_unusable(table, name)
    return table.column(name)


def _refuse(table: Table, is_bad: Any, describe: Callable[[int], str]) -> None:
    """Raise for the first bad row, if there is one."""
    rows = np.flatnonzero(is_bad)
    if len(rows):
        raise TableError(f"{table.name}: {describe(int(rows[0]))}.")
