r"""Moments of the columns of a sparse matrix, from sparse products. Means are subtracted from the products, not from the columns.

With the square roots r of the row weights and :math:`\Psi = \operatorname{diag}(r)\,\Phi`, the products about the means
:math:`\mu = \Psi^Tr/n` are :math:`\Psi^T\Psi - n\mu\mu^T`. This difference loses digits if the mean of a column is large. Such a
column is not sparse: if a share s of its values is not zero, :math:`n\mu^2\le s\,\psi^T\psi`. It is made dense, a few columns at a
time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from skarce._memory import fits
from skarce._parallel import slices
from skarce._scales import negligible
from skarce._typing import Floats, Indices
from skarce.basis.sparse_columns import SparseEvaluation, squared
from skarce.moments.gram import ColumnGram
from skarce.moments.sums import CONSTANT, Sums

PANEL_BYTES = 2**23  # dense panels have about this size
VARIES = 0.5  # if phi'phi about the mean is below this share of phi'phi, the difference loses digits; sparse columns are above it


class SparseProducts:
    """Products of sparse columns about their weighted means, or about zero.

    Parameters
    ----------
    evaluation : SparseEvaluation
        The columns.
    weights : array of shape (n_rows,)
        Sample weights.
    about_mean : bool
        Whether means are subtracted.

    Attributes
    ----------
    n_samples : float
        The sum of the sample weights.
    means : array of shape (n_candidates,)
        Weighted means, or zero.
    raw_squares : array of shape (n_candidates,)
        The sums of squares about zero.
    squares : array of shape (n_candidates,)
        The sums of squares about the mean. They are zero for columns that do not vary.
    """

    def __init__(self, evaluation: SparseEvaluation, weights: Floats, *, about_mean: bool) -> None:
        self._root = np.sqrt(weights)
        self._phi = sparse.csc_array(sparse.diags_array(self._root) @ evaluation.by_column)
        self.n_samples = float(weights.sum())
        self.means = (self._phi.T @ self._root) / self.n_samples if about_mean else np.zeros(evaluation.n_candidates)
        self.raw_squares = np.asarray(squared(self._phi).sum(axis=0)).ravel()
        self.squares = self.raw_squares - self.n_samples * self.means**2
        self._is_full = self.squares < VARIES * self.raw_squares
        for some in self._panels(np.flatnonzero(self._is_full)):
            self.squares[some] = (self._centered(some) ** 2).sum(axis=0)
        self.squares[self.squares <= np.maximum(CONSTANT * self.raw_squares, negligible(self.n_samples))] = 0.0

    def with_targets(self, targets: Floats) -> Floats:
        """Return Phi'W T for targets about their weighted means (or about zero), shape (n_candidates, n_outputs)."""
        right = self._root[:, None] * targets
        out = np.asarray(self._phi.T @ right)
        for some in self._panels(np.flatnonzero(self._is_full)):
            out[some] = self._centered(some).T @ right
        out[self.squares == 0.0] = 0.0
        return out

    def columns(self, indices: Indices) -> Floats:
        """Return Phi_A'W Phi, shape (len(indices), n_candidates)."""
        return self.block(indices, np.arange(len(self.means)))

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return Phi_R'W Phi_C, shape (len(rows), len(columns))."""
        left, right = self._phi[:, rows], self._phi[:, columns]
        out = np.asarray((left.T @ right).toarray())
        out -= np.multiply.outer(self.n_samples * self.means[rows], self.means[columns])
        for places, values in self._full(columns):
            out[:, places] = left.T @ values
        for places, values in self._full(rows):
            out[places] = (right.T @ values).T
            for others, more in self._full(columns):
                out[np.ix_(places, others)] = values.T @ more
        out[self.squares[rows] == 0.0] = 0.0
        out[:, self.squares[columns] == 0.0] = 0.0
        return out

    def whole(self) -> Floats:
        """Return all of Phi'W Phi, shape (n_candidates, n_candidates), exactly symmetric."""
        m = len(self.means)
        out, every = np.empty((m, m)), np.arange(m)
        for part in slices(m, max(16, PANEL_BYTES // (8 * m))):
            out[part, part.start :] = self.block(every[part], every[part.start :])
            on_diagonal = out[part, part].copy()  # both halves were computed, and they are equal only up to rounding
            out[part, part] = np.triu(on_diagonal) + np.triu(on_diagonal, 1).T
            out[part.stop :, part] = out[part, part.stop :].T
        return out

    def gram(self) -> ColumnGram:
        """Return the Gram matrix by column."""
        m = len(self.means)
        return ColumnGram(self.squares, self.columns, self.block, self.whole if fits(m, m) else None)

    def _full(self, indices: Indices) -> Iterator[tuple[Indices, Floats]]:
        """Yield which of these columns are not sparse, and their values, a few at a time."""
        for places in self._panels(np.flatnonzero(self._is_full[indices])):
            yield places, self._centered(indices[places])

    def _centered(self, indices: Indices) -> Floats:
        """Return dense columns about their means, times the square roots of the weights."""
        return np.asarray(self._phi[:, indices].toarray()) - np.multiply.outer(self._root, self.means[indices])

    def _panels(self, indices: Indices) -> Iterator[Indices]:
        for part in slices(len(indices), max(16, PANEL_BYTES // (8 * len(self._root)))):
            yield indices[part]


def sparse_sums(evaluation: SparseEvaluation, targets: Floats, weights: Floats | None) -> Sums:
    """Return whole moments of sparse columns."""
    weights = np.ones(len(targets)) if weights is None else weights
    if not weights.sum() > 0.0:
        return Sums.empty(evaluation.n_candidates, targets.shape[1])
    products = SparseProducts(evaluation, weights, about_mean=True)
    target_means = weights @ targets / products.n_samples
    centered = targets - target_means
    energies = np.einsum("ij,ij,i->j", centered, centered, weights)
    projections = products.with_targets(centered)
    return Sums(products.n_samples, products.means, target_means, products.whole(), projections, energies)
