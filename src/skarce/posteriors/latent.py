"""What a classifier returns for one class against the rest: the weights of the latent function, and their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skarce._linalg import cholesky, inverse_of_lower, solve_lower
from skarce._typing import Floats, Indices
from skarce.posteriors.posterior import CoefficientTests, in_brief
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class LatentPosterior:
    """A Gaussian approximation of the weights given the labels, for one latent function (the log odds).

    Attributes
    ----------
    active : candidates in the model, ascending
    mean : their weights
    center : means of the active candidates over the data, zero without an intercept
    intercept : the constant, zero where there is none
    factor : lower Cholesky factor of the precision matrix of the weights; with an intercept, of (level, weights),
        where the level is the latent function at the centre
    weight_precision : prior precisions of the weights
    fit_intercept : whether there is a constant
    criterion : log evidence, or a lower bound of it
    outcome, trace, n_iter : how the search went
    own_variance : of the latent function beside that of the weights, where the model has such
    """

    active: Indices
    mean: Floats
    center: Floats
    intercept: float
    factor: Floats
    weight_precision: Floats
    fit_intercept: bool
    criterion: float
    outcome: Outcome
    trace: NDArray[np.void]
    n_iter: int
    own_variance: float = 0.0

    def __repr__(self) -> str:
        """In one line, without the numbers of every function and step."""
        return in_brief(self)

    @staticmethod
    def of(
        indices: Indices,
        weights: Floats,
        precision_matrix: Floats,
        precisions: Floats,
        means: Floats,
        *,
        criterion: float,
        outcome: Outcome,
        trace: NDArray[np.void],
        n_iter: int,
        own_variance: float = 0.0,
    ) -> LatentPosterior:
        """From functions in any order; weights, precisions and their matrix begin with the level where there is one.

        `means` are those of all candidates.
        """
        n_fixed = len(weights) - len(indices)
        order = np.concatenate([np.arange(n_fixed), n_fixed + np.argsort(indices)]).astype(np.intp)
        weights, precisions = weights[order], precisions[order]
        active = np.sort(indices)
        center = means[active]
        return LatentPosterior(
            active=active,
            mean=weights[n_fixed:],
            center=center,
            intercept=float(weights[0] - center @ weights[1:]) if n_fixed else 0.0,
            factor=cholesky(precision_matrix[np.ix_(order, order)]),
            weight_precision=precisions[n_fixed:],
            fit_intercept=bool(n_fixed),
            criterion=criterion,
            outcome=outcome,
            trace=trace,
            n_iter=n_iter,
            own_variance=own_variance,
        )

    @property
    def covariance(self) -> Floats:
        """Of the weights, shape (n_active, n_active)."""
        root = inverse_of_lower(self.factor)
        n_fixed = int(self.fit_intercept)
        return (root.T @ root)[n_fixed:, n_fixed:]

    @property
    def degrees_of_freedom(self) -> float:
        """There is no noise to be told: infinite, so that intervals are normal ones."""
        return np.inf

    def coefficient_tests(self) -> CoefficientTests:
        """Each weight over its standard deviation, by the full covariance."""
        statistic = self.mean / self.coefficient_std
        return CoefficientTests(statistic, np.inf, 2.0 * stats.norm.sf(np.abs(statistic)))

    @property
    def coefficient_std(self) -> Floats:
        """Of each weight."""
        return np.sqrt(self.covariance.diagonal())

    @property
    def well_determined(self) -> Floats:
        """gamma = 1 - alpha Sigma_jj for each weight: 1 where the data decide, 0 where the prior does."""
        return np.clip(1.0 - self.weight_precision * self.covariance.diagonal(), 0.0, 1.0)

    def predict(self, phi: Floats) -> Floats:
        """The mean of the latent function at rows whose active candidates are `phi`."""
        return phi @ self.mean + self.intercept

    def variance(self, phi: Floats) -> Floats:
        """Of the latent function at those rows."""
        phi = phi - self.center
        if self.fit_intercept:
            phi = np.column_stack([np.ones(len(phi)), phi])
        rest = solve_lower(self.factor, np.ascontiguousarray(phi.T))
        return np.einsum("ai,ai->i", rest, rest) + self.own_variance
