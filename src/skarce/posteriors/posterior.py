"""What every method returns: the active set, the weights and their uncertainty, the precisions, and how the search ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._linalg import inverse_of_lower, solve_lower, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.states.outcome import Outcome

if TYPE_CHECKING:
    from skarce.posteriors.nested import NestedPath


class CoefficientTests(NamedTuple):
    """Tests of each weight against zero: t statistics, their degrees of freedom, and two-sided p values."""

    statistic: Floats
    degrees_of_freedom: float
    p_value: Floats


def in_brief(posterior: Any, *more: str) -> str:
    """A posterior in one line: its functions, its constant, what more there is to it, and how the search went."""
    active = np.array2string(posterior.active, separator=", ", threshold=6, edgeitems=3, max_line_width=1000)
    functions = f"{len(posterior.active)} function{'' if len(posterior.active) == 1 else 's'} {active}"
    steps = f"{posterior.n_iter} step{'' if posterior.n_iter == 1 else 's'}"
    facts = (functions, f"intercept {posterior.intercept:.4g}", *more, f"criterion {posterior.criterion:.6g}", steps)
    return f"{type(posterior).__name__}({', '.join(facts)}, {posterior.outcome.name})"


@dataclass(frozen=True)
class Posterior:
    """The weights given the data, for one target.

    The covariance of the weights is ``noise_variance * (L L')^-1`` with L = `factor`; that of a prediction adds the noise and,
    with an intercept, its own uncertainty ``noise_variance / n_samples``.

    Attributes
    ----------
    active : candidates in the model, ascending
    mean : their weights
    center : their means over the data, zero without an intercept
    intercept : the constant
    factor : lower Cholesky factor of Phi'Phi + Lambda
    ridges : Lambda, the weight precisions relative to the noise precision
    noise_variance, n_samples, fit_intercept
    criterion : the value of the method's criterion
    outcome, trace, n_iter : how the search went
    mixing : M where the ridges penalise M w and the factor is of Phi'Phi + M'Lambda M; None where they penalise w
    path : the models that contain one another on the way to this one, where the search has such
    """

    active: Indices
    mean: Floats
    center: Floats
    intercept: float
    factor: Floats
    ridges: Floats
    noise_variance: float
    n_samples: float
    fit_intercept: bool
    criterion: float
    outcome: Outcome
    trace: NDArray[np.void]
    n_iter: int
    mixing: Floats | None = None
    path: NestedPath | None = None

    def __repr__(self) -> str:
        """In one line, without the numbers of every function and step."""
        return in_brief(self, f"noise variance {self.noise_variance:.4g}")

    @property
    def covariance(self) -> Floats:
        """Of the weights, shape (n_active, n_active)."""
        return self.noise_variance * symmetric_inverse(self.factor)

    @property
    def weight_precision(self) -> Floats:
        """alpha = lambda / noise variance for each weight; 0 where there is no ridge, also where there is no noise."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.ridges > 0.0, self.ridges / self.noise_variance, 0.0)

    @property
    def well_determined(self) -> Floats:
        """gamma = 1 - lambda h for each (mixed) weight: 1 where the data decide, 0 where the prior does."""
        root = inverse_of_lower(self.factor)
        if self.mixing is not None:
            root = root @ self.mixing.T
        return np.clip(1.0 - self.ridges * np.einsum("ij,ij->j", root, root), 0.0, 1.0)

    def predict(self, phi: Floats) -> Floats:
        """The mean at rows whose active candidates are `phi`."""
        return phi @ self.mean + self.intercept

    def variance(self, phi: Floats) -> Floats:
        """Of a new target at those rows: the noise, the intercept's and the weights' uncertainty."""
        rest = solve_lower(self.factor, np.ascontiguousarray((phi - self.center).T))
        relative = 1.0 + np.einsum("ai,ai->i", rest, rest)
        if self.fit_intercept:
            relative += 1.0 / self.n_samples
        return self.noise_variance * relative
