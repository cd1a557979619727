"""How often each observation is counted. Weights above one and repeated rows count it more than once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from skarce._scales import LEAST_WEIGHT, MOST_WEIGHT
from skarce._typing import Floats
from skarce._validation import check_container
from skarce.basis.centers import distinct_rows
from skarce.designs.design import Rows
from skarce.designs.row_blocks import RowBlocks


def times_counted(rows: Rows) -> float:
    """Return the sum of the weights divided by the number of distinct rows of positive weight, but at least one.

    A stream keeps the targets of its last batch only. This batch then stands for all rows.
    """
    weights, n = _weights(rows), len(rows.targets)
    return max((n if weights is None else float(weights.sum())) / _n_distinct(rows), 1.0) if n else 1.0


def n_distinct_in(X: Any, y: Any, fit_params: dict[str, Any]) -> float:
    """Return the number of distinct rows of positive weight among the arguments of a `fit`.

    It is infinite if the rows are not available, or if `fit` will refuse them: then none is known to be counted twice.
    """
    if isinstance(X, RowBlocks) or y is None:
        return np.inf
    weights = next((value for name, value in fit_params.items() if name.endswith("sample_weight") and value is not None), None)
    try:
        for values, name in ((X, "X"), (y, "y"), (weights, "sample_weight")):
            check_container(values, name)
        targets = _as_numbers(y)
        weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        return float(_n_distinct(Rows(X, targets, weights))) if _are_usable(_num_samples(X), targets, weights) else np.inf
    except (ValueError, TypeError):
        return np.inf


def _weights(rows: Rows) -> Floats | None:
    return None if rows.weights is None else rows.weights[-len(rows.targets) :]


def _n_distinct(rows: Rows) -> int:
    """Return the number of rows of positive weight that differ in inputs or targets."""
    weights, n = _weights(rows), len(rows.targets)
    n_distinct = len(distinct_rows(rows.targets, weights))
    if n_distinct < (n if weights is None else np.count_nonzero(weights)):
        n_distinct = len(distinct_rows(np.hstack([_as_numbers(rows.X)[-n:], rows.targets]), weights))
    return n_distinct


def _are_usable(n_rows: int, targets: Floats, weights: Floats | None) -> bool:
    """Tell whether there is a target for each row, and weights in range, or none."""
    if n_rows != len(targets) or weights is None:
        return n_rows == len(targets)
    return weights.shape == (n_rows,) and LEAST_WEIGHT <= weights.max() <= MOST_WEIGHT and bool((weights >= 0.0).all())


def _as_numbers(X: Any) -> Floats:
    """Turn anything that a transformer takes into numbers. Equal rows give equal numbers."""
    if sparse.issparse(X):
        return np.asarray(X @ np.random.default_rng(0).normal(size=(X.shape[1], 1)))
    values = np.asarray(X)
    if values.dtype.kind in "fiub":
        return values.reshape(len(values), -1).astype(np.float64)
    columns = values.reshape(len(values), -1).astype(str).T
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns]).astype(np.float64)
