"""Columns of a sparse matrix as candidates. Only the columns or the rows that are asked for are made dense."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skarce._typing import Floats, Indices

ALL = slice(None)


class SparseEvaluation:
    """Candidates that are the columns of a sparse matrix, in double precision.

    Parameters
    ----------
    X : sparse matrix of shape (n_rows, n_candidates)
        Any format. It stays as it is.
    """

    cost = 1.0
    is_symmetric = False
    dtype = np.dtype(np.float64)

    def __init__(self, X: Any) -> None:
        self._by_row = canonical(X)
        self.n_rows, self.n_candidates = self._by_row.shape

    @property
    def n_stored(self) -> int:
        """The number of values that are stored."""
        return int(self._by_row.nnz)

    @cached_property
    def by_column(self) -> Any:
        """All candidates as a sparse array whose columns are quick to find."""
        return self._by_row.tocsc()

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        out[...] = self._by_row[rows][:, columns].toarray()

    def columns(self, indices: Indices, rows: slice = ALL) -> Floats:
        if rows == ALL:
            return np.asarray(self.by_column[:, indices].toarray())
        return np.asarray(self._by_row[rows][:, indices].toarray())

    def project(self, right: Floats, row_weights: Floats | None = None) -> tuple[Floats, Floats]:
        product = np.asarray(self.by_column.T @ right)
        if row_weights is None:
            return product, np.zeros(self.n_candidates)
        return product, np.asarray(squared(self.by_column).T @ row_weights)

    def combined(self, weights: Floats) -> Floats:
        """Return Phi w, shape (n_rows,)."""
        return np.asarray(self._by_row @ weights)


def canonical(X: Any) -> Any:
    """Return a sparse matrix as rows of doubles, without duplicates. X itself does not change."""
    rows = sparse.csr_array(X, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def squared(values: Any) -> Any:
    """Return the squares of all values of a sparse array."""
    squares = values.copy()
    squares.data **= 2
    return squares
