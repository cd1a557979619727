"""Checks of the rows and the parameters of locally weighted projection regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._parameters import as_number
from skarce._scales import SQUARED, check_targets, checked_scales
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import checked_array, quietly_validated
from skarce.methods.lwpr import LocalModels

FARTHEST = 1e30  # in scales of the inputs or the target: products of squares of such numbers do not overflow


def checked_rows(estimator: Any, X: Any, y: Any, *, is_first: bool) -> tuple[Floats, Floats]:
    """Return checked inputs and one checked target. Names and number of features are set on the estimator."""
    X, y = quietly_validated(estimator, X, y, reset=is_first, y_numeric=True)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    check_targets(y[:, None], is_first=is_first)
    return checked_scales(X, SQUARED, is_first=is_first), y


def checked_norm(norm_in: Any, n_features: int) -> Floats:
    """Return the scale of each input that a user gives. Raise a ValueError if it is impossible."""
    is_number = np.ndim(norm_in) == 0 and not isinstance(norm_in, (str, bytes)) and norm_in is not None
    given = np.full(n_features, as_number(norm_in)) if is_number else checked_array(norm_in, "norm_in", ensure_2d=False)
    norm = np.asarray(given, dtype=np.float64)
    if norm.shape != (n_features,) or not ((norm > 0.0) & (norm < np.inf)).all():
        raise ValueError(
            f"norm_in must be None, a positive number, or one positive number for each of the {n_features} columns of X, got "
            f"{quoted(norm_in)}."
        )
    return norm


def check_share(name: str, value: Any) -> None:
    """Raise a ValueError unless a parameter is above 0 and at most 1."""
    if not 0.0 < as_number(value) <= 1.0:
        raise ValueError(f"{name} must be above 0 and at most 1, got {quoted(value)}.")


def check_near(model: LocalModels, X: Floats, y: Floats | None = None) -> None:
    """Raise a ValueError if a row is so far from the first rows that squares overflow."""
    with np.errstate(over="ignore"):
        far = np.abs(model.scaled(X)).max(axis=1)
    if not (far <= FARTHEST).all():
        row = int(np.argmax(~(far <= FARTHEST)))
        raise ValueError(
            f"row {row} of X is {far[row]:.3g} scales away from the rows that set the scales, but at most {FARTHEST:g} are "
            "possible. Check the units of X, or give norm_in."
        )
    if y is not None and not (np.abs(y - model.target_offset).max() <= FARTHEST * model.target_scale):
        raise ValueError(
            f"y has a value {np.abs(y - model.target_offset).max() / model.target_scale:.3g} times as far from the mean of the "
            f"first rows as these spread, but at most {FARTHEST:g} is possible. Check the units of y."
        )
