"""What is returned for one latent function: its weights, and their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skarce._device import ones_before, to_device
from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower, solve_lower, squared_lengths
from skarce._typing import Floats, Indices
from skarce.posteriors.posterior import CoefficientTests, SavedFields, in_brief
from skarce.states.fit import Fit
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class LatentFit(Fit):
    """Where a search for a latent function ended. The candidates ascend, and `ridges` are the precisions of their weights.

    Attributes
    ----------
    center : means of the active candidates over the data, zero without an intercept
    constant : the latent function at the center, counted from the level of the observations; None without an intercept
    precision_matrix : of the weights given the targets; with an intercept, of (constant, weights)
    score : log evidence, or a lower bound of it
    own_variance : variance of the latent function beside that of the weights, if the model has such
    """

    center: Floats = field(default_factory=lambda: np.empty(0))
    constant: float | None = None
    precision_matrix: Floats = field(default_factory=lambda: np.empty((0, 0)))
    score: float = -np.inf
    own_variance: float = 0.0

    @classmethod
    def of(
        cls,
        indices: Indices,
        weights: Floats,
        precisions: Floats,
        precision_matrix: Floats,
        means: Floats,
        *,
        score: float,
        outcome: Outcome,
        trace: NDArray[np.void],
        own_variance: float = 0.0,
    ) -> LatentFit:
        """Put functions in order. Weights, precisions and their matrix begin with the constant if there is one.

        `means` are those of all candidates.
        """
        n_fixed = len(weights) - len(indices)
        order = np.concatenate([np.arange(n_fixed), n_fixed + np.argsort(indices)]).astype(np.intp)
        active = np.sort(indices)
        return cls(
            active=active,
            ridges=precisions[order][n_fixed:],
            outcome=outcome,
            weights=weights[order][n_fixed:],
            trace=trace,
            center=means[active],
            constant=float(weights[0]) if n_fixed else None,
            precision_matrix=precision_matrix[np.ix_(order, order)],
            score=score,
            own_variance=own_variance,
        )


@dataclass(frozen=True)
class LatentPosterior(SavedFields):
    """A Gaussian approximation of the weights given the targets, for one latent function.

    Attributes
    ----------
    active : candidates in the model, ascending
    mean : their weights
    center : means of the active candidates over the data, zero without an intercept
    intercept : the constant, zero if there is none
    factor : lower Cholesky factor of the precision matrix of the weights; with an intercept, of (level, weights): the level is the
        latent function at the center
    weight_precision : prior precisions of the weights
    fit_intercept : whether there is a constant
    criterion : log evidence, or a lower bound of it
    outcome, trace, n_iter : how the search went
    own_variance : variance of the latent function beside that of the weights, if the model has such
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

    @classmethod
    def of(cls, fit: LatentFit, level: float) -> LatentPosterior:
        """Make a posterior from a fit whose latent function is counted from `level`."""
        weights = np.empty(0) if fit.weights is None else fit.weights
        return cls(
            active=fit.active,
            mean=weights,
            center=fit.center,
            intercept=0.0 if fit.constant is None else float(fit.constant - fit.center @ weights) + level,
            factor=cholesky_of_nearly_singular(fit.precision_matrix.copy()),
            weight_precision=fit.ridges,
            fit_intercept=fit.constant is not None,
            criterion=fit.score,
            outcome=fit.outcome,
            trace=fit.trace,
            n_iter=len(fit.trace),
            own_variance=fit.own_variance,
        )

    @property
    def covariance(self) -> Floats:
        """Covariance of the weights, shape (n_active, n_active)."""
        root = inverse_of_lower(self.factor)
        n_fixed = int(self.fit_intercept)
        return (root.T @ root)[n_fixed:, n_fixed:]

    @property
    def degrees_of_freedom(self) -> float:
        """Infinite, so that intervals are normal ones: no noise is estimated."""
        return np.inf

    def coefficient_tests(self) -> CoefficientTests:
        """Test each weight by its ratio to its standard deviation, from the full covariance."""
        statistic = self.mean / self.coefficient_std
        return CoefficientTests(statistic, np.inf, 2.0 * stats.norm.sf(np.abs(statistic)))

    @property
    def coefficient_std(self) -> Floats:
        """Standard deviation of each weight."""
        return np.sqrt(self._spread)

    @property
    def intercept_std(self) -> float:
        """Standard deviation of the constant: that of the level at the center, and of the weights times the center."""
        if not self.fit_intercept:
            return 0.0
        return float(np.linalg.norm(solve_lower(self.factor, np.append(1.0, -self.center)[:, None])))

    @property
    def well_determined(self) -> Floats:
        """gamma = 1 - alpha Sigma_jj for each weight: 1 if the data decide, 0 if the prior does."""
        return np.clip(1.0 - self.weight_precision * self._spread, 0.0, 1.0)

    @property
    def _spread(self) -> Floats:
        """The variance of each weight."""
        root = inverse_of_lower(self.factor)
        return np.einsum("ij,ij->j", root, root)[int(self.fit_intercept) :]

    def predict(self, phi: Floats) -> Floats:
        """Return the mean of the latent function at rows whose active candidates are `phi`."""
        return phi @ to_device(self.mean, phi) + self.intercept

    def at_noise_of(self, other: LatentPosterior) -> LatentPosterior:
        """Return this posterior: a latent function has no noise."""
        return self

    @property
    def n_parameters(self) -> int:
        """The number of weights, and one more with an intercept."""
        return len(self.factor)

    def deviations(self, phi: Floats, normals: Floats) -> Floats:
        """Return draws of the latent function at those rows, less its mean, shape (n_rows, n_draws), without `own_variance`.

        `normals` of shape (n_parameters, n_draws) are standard normal. The same normals give the same functions at other rows.
        """
        return self._parameters_at(phi) @ solve_lower(self.factor, normals, transposed=True)

    def _parameters_at(self, phi: Floats) -> Floats:
        """Return what level and weights are multiplied with at those rows."""
        centered = phi - to_device(self.center, phi)
        return ones_before(centered) if self.fit_intercept else centered

    def variance(self, phi: Floats) -> Floats:
        """Return the variance of the latent function at those rows."""
        return squared_lengths(self.factor, self._parameters_at(phi)) + self.own_variance
