"""What the metadata of Dask data tell before any partition is computed: names, number and kinds of columns."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any

from skarce._text import listed, quoted
from skarce._validation import check_no_dates

TEXT_TYPES = ("str", "large_string")  # how the names of types of text begin, those of pandas and Arrow
ENCODE = (
    "Pass a transformer as basis=, such as a ColumnTransformer with a OneHotEncoder, or drop the column. If the text is numbers, "
    "use astype(float)."
)
LABELS = "Regressors need numbers, and classifiers take text. If the text is numbers, use astype(float)."


def is_frame(values: Any) -> bool:
    """Tell whether data have named columns. A series of Dask has one, too, but it is not a frame."""
    return hasattr(values, "columns") and getattr(values, "ndim", 0) == 2


def check_collection(values: Any, name: str) -> None:
    """Raise for objects of Dask that have no partitions, such as delayed ones, and for frames with a name twice.

    A delayed object has every attribute, so its class is asked.
    """
    if not hasattr(type(values), "to_delayed"):
        raise TypeError(
            f"{name} must be a Dask array, series or data frame, got {type(values).__name__}. Make one from delayed parts by "
            "dask.dataframe.from_delayed or dask.array.from_delayed, or call .compute() on it if it fits into memory."
        )
    if is_frame(values):
        column, count = Counter(values.columns).most_common(1)[0] if len(values.columns) else (None, 0)
        if count > 1:
            raise ValueError(f"{name} has {count} columns named {quoted(column)}. Give each column its own name.")


def check_inputs(X: Any) -> None:
    """Raise for collections of Dask that have no rows of one length."""
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
        raise ValueError(
            f"X must be a Dask array or data frame with rows and columns, got {type(X).__name__} with "
            f"{getattr(X, 'ndim', 'no')} dimensions."
        )
    if X.shape[1] == 0:
        raise ValueError("X has no columns, or none but targets and sample weights.")


def with_columns_taken(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Put columns of X in place of their names, and return X without them. Lists and whole numbers are names for y only."""
    names = {"y": y} if isinstance(y, str) or _is_number_of(X, y) or _are_names(X, y) else {}
    names |= {"sample_weight": sample_weight} if isinstance(sample_weight, str) else {}
    if not names:
        return X, y, sample_weight
    for role, name in names.items():
        _check_known(X, role, name)
        _check_named_once(role, name)
    taken = [column for name in names.values() for column in _listed(name)]
    if len(set(taken)) < len(taken):
        raise ValueError(f"each column has one use, but both y and sample_weight name {quoted(taken[-1])}.")
    given = {"y": y, "sample_weight": sample_weight, **{role: X[name] for role, name in names.items()}}
    return X.drop(columns=taken), given["y"], given["sample_weight"]


def check_no_names(X: Any, y: Any, sample_weight: Any) -> None:
    """Raise a ValueError if names stand for columns, but X is not a Dask data frame."""
    are_names = isinstance(y, str) or (_are_names(X, y) and all(name in X.columns for name in y) and len(y) != len(X))
    for role, name in ({"y": y} if are_names else {"sample_weight": sample_weight}).items():
        if isinstance(name, str) or role == "y":
            columns = quoted([name] if isinstance(name, str) else name)
            raise ValueError(
                f"{role}={quoted(name)}: names of columns are for Dask data frames. Pass the values: {role}=frame[{quoted(name)}], "
                f"and X=frame.drop(columns={columns})."
            )


def check_kinds(values: Any, name: str) -> None:
    """Raise a ValueError if the types of columns say that these are dates or text, and not numbers."""
    known = getattr(values, "_meta", values)  # an empty frame, series or array with the same types
    check_no_dates(known, name)
    remedy = ENCODE if name == "X" else LABELS
    for column, kind in known.dtypes.items() if is_frame(known) else ((None, getattr(known, "dtype", None)),):
        if str(kind).startswith(TEXT_TYPES) or getattr(kind, "kind", "") in ("U", "S"):
            place = name if column is None else f"column {quoted(column)} of {name}"
            raise ValueError(f"{place} holds text ({kind}), but numbers are needed. {remedy}")


def _is_number_of(X: Any, y: Any) -> bool:
    """Tell whether this is a whole number that is the name of a column."""
    return is_frame(X) and isinstance(y, Integral) and not isinstance(y, bool) and y in X.columns


def _are_names(X: Any, y: Any) -> bool:
    """Tell whether targets are a list of names. Next to an array, such a list holds labels."""
    return is_frame(X) and isinstance(y, list) and bool(y) and all(isinstance(name, str) or _is_number_of(X, name) for name in y)


def _listed(name: Any) -> list[Any]:
    """A list of one name or of several."""
    return name if isinstance(name, list) else [name]


def _check_named_once(role: str, name: Any) -> None:
    column, count = Counter(_listed(name)).most_common(1)[0]
    if count > 1:
        times = "twice" if count == 2 else f"{count} times"
        raise ValueError(f"each column has one use, but {role} names {quoted(column)} {times}.")


def _check_known(X: Any, role: str, name: Any) -> None:
    if not is_frame(X):
        raise ValueError(f"{role}={quoted(name)} is for data frames, but X is of type {type(X).__name__}: pass a Dask array.")
    unknown = [column for column in _listed(name) if column not in X.columns]
    if unknown:
        raise ValueError(f"{role}={quoted(name)}: X has no column {listed(unknown)}; its columns are {listed(list(X.columns))}.")
