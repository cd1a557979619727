"""How often each observation is counted: by weights above one, or by rows that repeat another."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skarce._typing import Floats
from skarce.basis.kernel_basis import distinct_rows
from skarce.estimators.streaming import Training


def times_counted(rows: Training) -> float:
    """The sum of the weights over the number of rows of positive weight that differ in inputs or targets; not below one."""
    weights = np.ones(len(rows.targets)) if rows.weights is None else rows.weights
    n_distinct = len(distinct_rows(rows.targets, weights))
    if n_distinct < np.count_nonzero(weights):
        n_distinct = len(distinct_rows(np.hstack([_as_numbers(rows.X), rows.targets]), weights))
    return max(float(weights.sum()) / n_distinct, 1.0)


def _as_numbers(X: Any) -> Floats:
    """Numbers that are the same for rows that are, of anything that a transformer may take."""
    if sparse.issparse(X):
        return np.asarray(X @ np.random.default_rng(0).normal(size=(X.shape[1], 1)))
    values = np.asarray(X)
    if values.dtype.kind in "fiub":
        return values.reshape(len(values), -1).astype(np.float64)
    columns = values.reshape(len(values), -1).astype(str).T
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns]).astype(np.float64)
