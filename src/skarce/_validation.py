"""Checks of inputs in addition to those of scikit-learn."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data


def validated(estimator: Any, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, Any]:
    """Validate X and y as scikit-learn's `validate_data` does, but faster for plain arrays.

    With a few hundred rows the general check takes a good part of the time of a fit. Finite arrays of doubles with matching shapes
    do not need it. Everything else, and every error, is left to scikit-learn.
    """
    if reset and _is_plain(X, 2) and _is_plain(y, 1) and len(X) == len(y) > 1 and X.shape[1] > 0:
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return X, y
    return quietly_validated(estimator, X, y, reset=reset, multi_output=True, y_numeric=True)


def quietly_validated(estimator: Any, *data: Any, **options: Any) -> Any:
    """Validate as scikit-learn's `validate_data` does, for arrays of doubles or singles.

    It sums values to see whether all are finite. The sum of huge values may overflow, and NumPy would warn.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return validate_data(estimator, *data, **{"dtype": [np.float64, np.float32], **options})


def is_count(value: Any) -> bool:
    """Tell whether a value is a whole number of at least 1."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


def is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, or what pandas uses in their place."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, Real) and math.isnan(label))


def check_budget(n_basis: Any, max_active: int | None) -> None:
    """Raise a ValueError unless `n_basis` is None, or a count that is at most `max_active`."""
    if n_basis is None:
        return
    if not is_count(n_basis):
        raise ValueError(f"n_basis must be a whole number of at least 1, got {n_basis!r}.")
    if max_active is not None and n_basis > max_active:
        raise ValueError(f"n_basis={n_basis} asks for more functions than max_active={max_active} allows.")


def check_forgetting(forgetting: Any) -> float:
    """Check the factor by which the rows before a batch still count, and return it as a float."""
    is_number = isinstance(forgetting, (int, float, np.number)) and not isinstance(forgetting, bool)
    if not is_number or not 0.0 < float(forgetting) <= 1.0:
        raise ValueError(f"forgetting must be above 0 and at most 1 (nothing is forgotten), got {forgetting!r}.")
    return float(forgetting)


def check_weight_variance(variance: Any) -> float | None:
    """Return the prior variance of the weights if it is given, and None if it is learned."""
    if isinstance(variance, str) and variance == "learned":
        return None
    is_number = isinstance(variance, (int, float, np.number)) and not isinstance(variance, bool)
    if not is_number or not 0.0 < float(variance) < np.inf:
        raise ValueError(f'weight_variance must be "learned" or a positive and finite number; got {variance!r}.')
    return float(variance)


def check_significance(significance: Any, solver: str, prior: Any) -> None:
    """Raise a ValueError for an unknown rule of significance, or for a model that the rule cannot be applied to."""
    if significance is None:
        return
    is_level = isinstance(significance, Real) and 0.0 < float(significance) < 1.0
    if not (is_level or (isinstance(significance, str) and significance == "bound")):
        raise ValueError(f'significance must be None, a level between 0 and 1, or "bound"; got {significance!r}.')
    if solver != "direct" or (isinstance(prior, str) and prior != "ard"):
        raise ValueError(
            'significance removes candidates from a model with solver="direct" and prior="ard" or group labels; got '
            f"solver={solver!r}, prior={prior!r}."
        )


def _is_plain(values: Any, n_dimensions: int) -> bool:
    """Tell whether this is a C-ordered array of finite doubles."""
    if type(values) is not np.ndarray or values.dtype != np.float64 or values.ndim != n_dimensions:
        return False
    if not (values.flags.c_contiguous and values.size):
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # if the sum is finite, all its terms are
        return bool(np.isfinite(values.sum()))
