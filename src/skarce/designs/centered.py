"""Candidates about their means. A constant next to them is then the level at the mean of the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skarce._memory import fits
from skarce._parallel import for_each, slices
from skarce._scales import negligible
from skarce._typing import Floats, Indices
from skarce.basis.candidates import ALL, ColumnsEvaluation, Evaluation, KernelEvaluation
from skarce.basis.tiles import weighted_squares
from skarce.moments import CONSTANT
from skarce.moments.passes import check_candidates

ROUNDING = 1e-14  # phi'phi about the mean below this share of raw phi'phi is rounding
PANEL_BYTES = 2**21  # of kernels that are centered while they are in the cache


class CenteredEvaluation:
    """An evaluation minus the weighted mean of each candidate. Candidates that do not vary are zero.

    Attributes
    ----------
    means : array of shape (n_candidates,)
        Weighted means of the candidates.
    """

    is_symmetric = False

    def __init__(self, evaluation: Evaluation, weights: Floats) -> None:
        self._evaluation = evaluation
        self.n_rows, self.n_candidates = evaluation.n_rows, evaluation.n_candidates
        self.dtype, self.cost = evaluation.dtype, evaluation.cost
        sums, squares = evaluation.project(weights[:, None], weights)
        total = float(weights.sum())
        check_candidates(squares, total, lambda: (evaluation,))
        self.means = sums[:, 0] / total
        self._varies = _varies(squares, self.means, total)

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        self._evaluation.fill(rows, columns, out)
        out -= self.means[columns]
        out[:, ~self._varies[columns]] = 0.0

    def columns(self, indices: Indices, rows: slice = ALL) -> Floats:
        values = self._evaluation.columns(indices, rows)
        values -= self.means[indices]
        values[:, ~self._varies[indices]] = 0.0
        return values

    def project(self, right: Floats, row_weights: Floats | None = None) -> tuple[Floats, Floats]:
        if row_weights is None:
            product, squares = self._evaluation.project(right)
            return self._centered(product, right.sum(axis=0)), squares
        weights = row_weights.reshape(self.n_rows, -1)
        both, squares = self._evaluation.project(np.concatenate([right, weights], axis=1), row_weights)
        product, weighted = both[:, : right.shape[1]], both[:, right.shape[1] :].reshape(squares.shape)
        means, totals = self.means.reshape(-1, *[1] * (squares.ndim - 1)), row_weights.sum(axis=0)
        squares = np.maximum(squares - means * (2.0 * weighted - means * totals), 0.0)
        squares[~self._varies] = 0.0
        return self._centered(product, right.sum(axis=0)), squares

    def _centered(self, product: Floats, totals: Floats) -> Floats:
        product = product - np.multiply.outer(self.means, totals)
        product[~self._varies] = 0.0
        return product


def _varies(squares: Floats, means: Floats, total: float) -> NDArray[np.bool_]:
    """Tell which candidates are more than their means and rounding, by phi'W phi. `total` is the sum of W."""
    return np.asarray(squares - total * means**2 > np.maximum(ROUNDING * squares, negligible(total)))


def centered(evaluation: Evaluation, weights: Floats, most_held: int = 0) -> tuple[Evaluation, Floats]:
    """Return the candidates about their weighted means, and the means. At most `most_held` values of kernels are kept."""
    if isinstance(evaluation, ColumnsEvaluation):
        return _centered_columns(evaluation.columns(np.arange(evaluation.n_candidates)), weights)
    n, m = evaluation.n_rows, evaluation.n_candidates
    if isinstance(evaluation, KernelEvaluation) and n * m <= most_held and fits(n, m):
        return _centered_kernels(evaluation, weights)
    about_mean = CenteredEvaluation(evaluation, weights)
    return about_mean, about_mean.means


def not_centered(evaluation: Evaluation, weights: Floats, most_held: int = 0) -> tuple[Evaluation, Floats]:
    """Return the candidates as they are, and zeros, after a check of their range. None of them are held."""
    _, squares = evaluation.project(weights[:, None], weights)
    check_candidates(squares, float(weights.sum()), lambda: (evaluation,))
    return evaluation, np.zeros(evaluation.n_candidates)


def _centered_kernels(evaluation: KernelEvaluation, weights: Floats) -> tuple[Evaluation, Floats]:
    """Hold the columns of kernels. Each panel of them is centered while it is in the cache."""
    n, m, total = evaluation.n_rows, evaluation.n_candidates, float(weights.sum())
    values, means, squares = np.empty((m, n)).T, np.empty(m), np.empty(m)

    def work(columns: slice) -> None:
        panel = values[:, columns]
        evaluation.fill(slice(0, n), columns, panel)
        means[columns] = weights @ panel / total
        squares[columns] = weighted_squares(panel, weights)
        panel -= means[columns]
        panel[:, ~_varies(squares[columns], means[columns], total)] = 0.0

    for_each(work, slices(m, max(16, PANEL_BYTES // (8 * n))), operations=20.0 * n * m)
    check_candidates(squares, total, lambda: (evaluation,))
    return ColumnsEvaluation(values), means


def _centered_columns(values: Floats, weights: Floats) -> tuple[Evaluation, Floats]:
    """Center columns that are in memory. They are centered once, and keep all their digits."""
    shares = weights / weights.sum()
    means = shares @ values
    centered_values, squares = values - means, shares @ values**2
    check_candidates(squares, 1.0, lambda: (ColumnsEvaluation(values),))
    constant = shares @ centered_values**2 <= np.maximum(CONSTANT * squares, negligible(1.0))
    centered_values[:, constant] = 0.0
    return ColumnsEvaluation(centered_values), means
