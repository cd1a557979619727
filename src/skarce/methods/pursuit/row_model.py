r"""A weighted sum of functions that makes a loss of the rows small, by Newton's method.

The objective is :math:`\sum_i c_il(t_i, f_i) + \frac12w^TAw` with :math:`f = \Phi w`. The penalty A may be zero. A step solves
:math:`(\Phi^TB\Phi + A)\,d = \Phi^Tg - Aw` with the slopes g and the curvatures B of the loss, weights of rows counted. If a full
step does not lower the objective, it is halved. If the matrix is singular, or no part of the step helps, a parabola above the loss
takes its place, whose step always helps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, cholesky_of_nearly_singular, solve_lower
from skarce._typing import Floats, Indices
from skarce.methods.pursuit.losses import RowLoss

MOST_STEPS, HALVINGS = 200, 30
ARRIVED = 1e-13  # a step promises no more than this share of the objective
SUFFICIENT = 1e-4  # the share of what the slope promises that a step must bring
NEARLY_DEPENDENT = 1e-13  # pivots below this share of the diagonal are rounding


@dataclass(frozen=True)
class LossOfRows:
    """A loss, and the rows that it is summed over.

    Parameters
    ----------
    loss : RowLoss
        The loss of one row.
    targets : array of shape (n_rows,)
        The targets.
    counts : array of shape (n_rows,)
        How often each row counts.
    """

    loss: RowLoss
    targets: Floats
    counts: Floats

    def total(self, latent: Floats) -> float:
        """Return the sum over the rows."""
        return float(self.counts @ self.loss.values(self.targets, latent))

    def slopes(self, latent: Floats) -> tuple[Floats, Floats]:
        """Return minus the first derivative by f, and the second, for each row."""
        first, curvature = self.loss.slopes(self.targets, latent)
        return self.counts * first, self.counts * curvature

    def majorizer(self, latent: Floats) -> Floats:
        """Return the curvatures of parabolas above the loss."""
        return self.counts * self.loss.majorizer(self.targets, latent)


@dataclass(frozen=True)
class RowModel:
    """Functions at all rows with their weights.

    Parameters
    ----------
    rows : LossOfRows
        What is made small.
    columns : array of shape (n_rows, n_weights)
        The functions. The constant, if there is one, is the first.
    penalty : array of shape (n_weights, n_weights)
        A, the matrix of the quadratic penalty.
    weights : array of shape (n_weights,)
        The weights.
    """

    rows: LossOfRows
    columns: Floats
    penalty: Floats
    weights: Floats

    @property
    def latent(self) -> Floats:
        """The function at all rows."""
        return self.columns @ self.weights

    @property
    def objective(self) -> float:
        return self._objective_at(self.weights, self.latent)

    def with_column(self, column: Floats, penalty: Floats) -> RowModel:
        """Return the model with one more function of weight zero; `penalty` is the last row of A."""
        size = len(self.weights)
        larger = np.empty((size + 1, size + 1))
        larger[:size, :size], larger[size], larger[:, size] = self.penalty, penalty, penalty
        return replace(self, columns=np.column_stack([self.columns, column]), penalty=larger, weights=np.append(self.weights, 0.0))

    def hessian(self, curvature: Floats) -> Floats:
        """Return Phi'B Phi + A."""
        return _weighted_gram(self.columns, curvature) + self.penalty

    def gradient(self) -> Floats:
        """Return minus the gradient of the objective by the weights."""
        return self.columns.T @ self.rows.slopes(self.latent)[0] - self.penalty @ self.weights

    def fitted(self, free: Indices | None = None, is_late: Callable[[], bool] = lambda: False) -> RowModel:
        """Return the model at the smallest objective over the weights at `free` positions (default: all of them)."""
        free = np.arange(len(self.weights)) if free is None else free
        if not len(free):
            return self
        columns, weights, latent = self.columns[:, free], self.weights.copy(), self.latent
        for _ in range(MOST_STEPS):
            objective = self._objective_at(weights, latent)
            slope, curvature = self.rows.slopes(latent)
            gradient = columns.T @ slope - self.penalty[free] @ weights
            moved = None
            for curvatures, sure in ((curvature, False), (self.rows.majorizer(latent), True)):
                step = self._step(columns, curvatures, free, gradient, sure=sure)
                if step is None:
                    continue
                promised = float(gradient @ step)
                if promised <= ARRIVED * abs(objective):  # the step is right, but too short to show in the objective
                    weights[free] += step
                    return replace(self, weights=weights)
                moved = self._walked(weights, latent, free, step, columns @ step, objective, promised)
                if moved is not None:
                    break
            if moved is None or is_late():  # rounding hides what further steps would do
                break
            weights, latent = moved
        return replace(self, weights=weights)

    def _step(self, columns: Floats, curvature: Floats, free: Indices, gradient: Floats, *, sure: bool) -> Floats | None:
        """Return the Newton step, or None if its matrix is singular. With `sure` it is made regular."""
        matrix = _weighted_gram(columns, curvature) + self.penalty[np.ix_(free, free)]
        if sure:
            lower = cholesky_of_nearly_singular(matrix)
        else:
            try:
                lower = cholesky(matrix)
            except NotPositiveDefiniteError:
                return None
            if (lower.diagonal() ** 2 <= NEARLY_DEPENDENT * matrix.diagonal()).any():
                return None
        return solve_lower(lower, solve_lower(lower, gradient), transposed=True)

    def _walked(
        self, weights: Floats, latent: Floats, free: Indices, step: Floats, change: Floats, objective: float, promised: float
    ) -> tuple[Floats, Floats] | None:
        """Return weights and function after as much of the step as lowers the objective, or None if no part of it does."""
        share = 1.0
        for _ in range(HALVINGS):
            onward = weights.copy()
            onward[free] += share * step
            there = latent + share * change
            if self._objective_at(onward, there) <= objective - SUFFICIENT * share * promised:
                return onward, there
            share *= 0.5
        return None

    def _objective_at(self, weights: Floats, latent: Floats) -> float:
        return self.rows.total(latent) + 0.5 * float(weights @ self.penalty @ weights)


def _weighted_gram(columns: Floats, curvature: Floats) -> Floats:
    """Return Phi'B Phi. Rows without curvature cost nothing."""
    bent = curvature != 0.0
    if not bent.all():
        columns, curvature = columns[bent], curvature[bent]
    rooted = columns * np.sqrt(curvature)[:, None]
    return rooted.T @ rooted
