"""Predictions for rows on a device: they are computed there, and stay there."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from skarce._device import is_on_device, where
from skarce._validation import in_brief
from skarce.designs.device_rows import check_finite_on_device


def checked_queries_on_device(model: Any, X: Any) -> Any:
    """Check inputs of a prediction on a device, as those of the host are checked."""
    if len(X.shape) != 2:
        raise ValueError(f"X must have rows and columns, got shape {tuple(X.shape)}.")
    if not X.shape[0]:
        raise ValueError("X has no rows: found 0 sample(s), while a minimum of 1 is required.")
    with in_brief("X"):
        validate_data(model, X, skip_check_array=True, reset=False)
    check_finite_on_device(X, "X")
    return X


def check_on_host(X: Any, what: str) -> None:
    """Raise a TypeError if rows are on a device, for what is computed on the host only."""
    if is_on_device(X):
        raise TypeError(f"{what} work in the memory of the host, but X is {where(X)}. Move X to the host.")
