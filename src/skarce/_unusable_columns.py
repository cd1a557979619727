"""Columns of inputs that hold text or miss values: messages that name them and say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skarce._text import quoted
from skarce._typing import Floats

VALUES_REFUSED = ("could not convert", "Input X contains NaN")  # how errors of NumPy and scikit-learn begin
ENCODE = "Encode it as numbers first, such as by OneHotEncoder in a ColumnTransformer."
IMPUTE = "Fill them first, such as by SimpleImputer in a pipeline, or drop the rows."
NUMBERED = " Columns count from 0 in the inputs of this model; in a pipeline, after the steps before it."
MOST_LISTED = 3  # columns in a message


@contextmanager
def naming_columns(X: Any, name: str = "X") -> Iterator[None]:
    """If the checks inside refuse the values of X, raise an error that names the columns with text or missing values.

    `name` says what X is.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        message = _complaint(X, name) if str(error).startswith(VALUES_REFUSED) and not issparse(X) else None
        if message is None:
            raise
        raise ValueError(message) from None


def _complaint(X: Any, name: str) -> str | None:
    """What is wrong with the columns of X, text before missing values; None if both are elsewhere, such as in y."""
    texts: list[str] = []
    gaps: list[str] = []
    for column, values in columns_of(X):
        numbers = _numbers(values)
        if numbers is None:
            texts.append(f"column {column} ({quoted(_first_text(values))})")
        elif np.isnan(numbers).any():
            gaps.append(f"column {column} ({int(np.isnan(numbers).sum())} of {len(numbers)} values)")
    if texts:
        return f"{name} must hold numbers, but there is text in {_listed(texts)}. {ENCODE}"
    counted = "" if hasattr(X, "columns") else NUMBERED
    return f"{name} contains NaN: values are missing in {_listed(gaps)}. {IMPUTE}{counted}" if gaps else None


def columns_of(X: Any) -> Iterator[tuple[str, Any]]:
    """The name of each column, or its number if it has none, and its values."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        for place, name in enumerate(X.columns):
            yield quoted(name), np.asarray(X.iloc[:, place], dtype=object)
        return
    names = [quoted(name) for name in getattr(X, "columns", ())]
    values = np.asarray(X)
    for place in range(values.shape[1] if values.ndim == 2 else 0):
        yield names[place] if names else str(place), values[:, place]


def _numbers(values: Any) -> Floats | None:
    """The values as numbers, NaN for those that are missing; None if some are text."""
    try:
        return values.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None if _first_text(values) is not None else np.array([_number(value) for value in values])


def _number(value: Any) -> float:
    """A value that is not text as a number, NaN if it cannot be one: None, or what pandas uses in its place."""
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        return np.nan


def _first_text(values: Any) -> str | None:
    """The first text that is not a number."""
    for value in values:
        if isinstance(value, (str, bytes)) and np.isnan(_number(value)):
            return str(value)
    return None


def _listed(columns: list[str]) -> str:
    shown = ", ".join(columns[:MOST_LISTED])
    return shown if len(columns) <= MOST_LISTED else f"{shown} and {len(columns) - MOST_LISTED} more"
