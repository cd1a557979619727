"""Rows of arrays and data frames with some columns set to other values, and the features that a user asks for."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skarce._text import listed, quoted, similar
from skarce._typing import Floats, Indices
from skarce._validation import check_container

MOST_CATEGORIES = 30  # values of a column of text in one picture
MISSING = "(missing)"  # what missing values are called where categories are named
FEW_VALUES = 12  # a column with fewer distinct values is shown at these values

Features = tuple[int, ...]


def checked_rows(X: Any) -> Any:
    """Return X as a data frame of pandas if it is one, else as an array with two dimensions."""
    check_no_text(X)
    check_container(X, "X")
    if issparse(X):
        raise TypeError("X is a sparse matrix, whose columns cannot be varied one by one. Pass a few rows of it as X.toarray().")
    rows = X if hasattr(X, "iloc") else np.asarray(X)
    if rows.ndim != 2 or not rows.shape[0] or not rows.shape[1]:
        raise ValueError(f"X must have rows and columns, got shape {rows.shape}.")
    return rows


def check_no_text(X: Any) -> None:
    """Raise a TypeError for the name of a file in place of its rows."""
    if isinstance(X, (str, bytes, os.PathLike)):
        raise TypeError(
            f"X must have rows and columns, got {quoted(X)}, a text. If it names a file, read it first, for instance with "
            "X = pandas.read_csv(...), and leave out the column of the target."
        )


def column(X: Any, place: int) -> Any:
    """Return a column as an array."""
    return np.asarray(X.iloc[:, place]) if hasattr(X, "iloc") else X[:, place]


def with_values(X: Any, rows: Indices, features: Features, values: list[Any]) -> Any:
    """Return some rows of X, possibly several times, with other values of some features."""
    if hasattr(X, "iloc"):
        table = X.iloc[rows].reset_index(drop=True)
        for place, new in zip(features, values, strict=True):
            old = table.iloc[:, place]  # categories keep the type of their column, which says how missing ones are written
            table.isetitem(place, new if is_numeric(new) else type(old)(new, index=old.index, dtype=old.dtype))
        return table
    table = X[rows]
    if table.dtype.kind in "iub":
        table = table.astype(np.float64)  # a grid has values between whole numbers
    for place, new in zip(features, values, strict=True):
        table[:, place] = new
    return table


def is_numeric(values: Any) -> bool:
    """Whether a column has numbers, so that there are values in between."""
    return np.asarray(values).dtype.kind in "iuf"


def grid_of(values: Any, resolution: int, name: str, *, few: bool) -> Any:
    """Return values at which a feature is shown: evenly from the smallest to the largest, or the categories.

    With `few`, a column with few distinct numbers is shown at these. Missing values of a column of text are its last category.
    """
    if not is_numeric(values):
        categories = _categories(values) if values.dtype.kind == "O" else np.unique(values)
        if len(categories) > MOST_CATEGORIES:
            raise ValueError(f"feature {quoted(name)} has {len(categories)} categories. At most {MOST_CATEGORIES} can be shown.")
        return categories
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        raise ValueError(f"feature {quoted(name)} has no finite value in X.")
    distinct: Floats = np.unique(finite)
    return distinct if few and len(distinct) < FEW_VALUES else np.linspace(distinct[0], distinct[-1], resolution)


def _categories(values: Any) -> Any:
    """Return the distinct values of a column of objects: numbers, then texts, then what is missing, if anything is."""
    known = sorted({value for value in values if not is_missing(value)}, key=lambda value: (isinstance(value, str), value))
    categories = np.empty(len(known), dtype=object)
    categories[:] = known
    missing = [value for value in values if is_missing(value)][:1]
    return np.append(categories, np.array(missing, dtype=object)) if missing else categories


def category_names(categories: Any) -> list[str]:
    """Return what categories are called in a picture."""
    return [MISSING if is_missing(value) else str(value) for value in categories]


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, or what pandas has for it."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def features_asked(features: Any, names: list[str]) -> list[Features]:
    """Return the features of each picture: a name or number, two of them in a tuple, or a list of such."""
    asked = features if isinstance(features, list) else [features]
    if not asked:
        raise ValueError("features is an empty list. Pass names or numbers of inputs, pairs of them as tuples, or None.")
    return [tuple(_place(one, names) for one in (each if isinstance(each, tuple) else (each,))) for each in map(_checked, asked)]


def _checked(feature: Any) -> Any:
    if isinstance(feature, tuple) and (len(feature) != 2 or feature[0] == feature[1]):
        raise ValueError(f"a picture shows one feature, or two different ones in a tuple, got {quoted(feature)}.")
    return feature


def _place(feature: Any, names: list[str]) -> int:
    if isinstance(feature, str):
        if names.count(feature) != 1:
            close = "" if feature in names else similar(feature, names)
            hint = f" Did you mean {close}?" if close else ""
            raise ValueError(f"feature {quoted(feature)} is not a name of one column of X, which has {listed(names)}.{hint}")
        return names.index(feature)
    if not isinstance(feature, (int, np.integer)) or isinstance(feature, bool):
        raise TypeError(f"a feature must be a name or a number of a column of X, got {quoted(feature)}.")
    if not -len(names) <= feature < len(names):
        raise ValueError(f"feature {feature} is not a column of X, which has {len(names)}: 0 to {len(names) - 1}.")
    return int(feature) % len(names)
