"""What every method returns: the active set, the weights and their uncertainty, the precisions, and how the search ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._linalg import inverse_of_lower, solve_lower, symmetric_inverse
from skarce._typing import Floats, Indices

if TYPE_CHECKING:
    from skarce.nested_path import NestedPath

TRACE = np.dtype([("action", "U8"), ("index", np.intp), ("criterion", np.float64), ("n_active", np.intp)])
SQUARED_UNITS = ("increment", "objective")  # fields of a method's own that have the units of the squared target


class Outcome(Enum):
    """How a fit ended; the value reads as advice."""

    CONVERGED = "The criterion has settled: no step that this method takes improves it any more."
    SIZE_LIMIT = "The model reached max_active. Raise max_active for a larger one."
    ILL_CONDITIONED = (
        "Active functions are so nearly dependent that rounding hides what a further change would do. Narrow the kernel, or thin "
        "out close centres."
    )
    STEP_LIMIT = "The step limit was reached before the criterion settled. Raise max_iter, or loosen tol."
    TIME_LIMIT = "The time limit was reached; this is the best model so far. Raise max_time, or loosen tol."
    CONSTANT_TARGET = "The target does not vary, so the model is its mean alone."
    TOO_LITTLE_DATA = "There is no more than one observation (sample weights are counts), so the model is its mean alone."
    NO_ADDITION_HELPS = "Further additions do not improve the criterion any more."
    GOAL_REACHED = "The model has as many functions, or explains as much, as was asked for."
    TOO_FEW_CANDIDATES = (
        "The candidates that are left depend on those in the model, or there are none left: it has fewer functions than n_basis. "
        "Ask for fewer, offer more candidates, or narrow the kernel."
    )
    NONE_BETTER_FOUND = (
        "This is the best of all models that the search compared. Another search, or the same with more patience, may find a "
        "better one."
    )
    NO_NOISE = (
        "The candidates explain the target to within rounding: the noise cannot be told from zero, and what is given for it is a "
        "bound of the method."
    )
    END_OF_PATH = (
        "The criterion is least at an end of the path of penalties: it may fall further beyond, which need not mean that the model "
        "predicts better. Give penalty= an array that goes on there, and compare on rows that were held out."
    )
    HALF_USED = (
        "The criterion still fell where the path of penalties ended, because models began to use more than half of the "
        "observations: what it says of those cannot be trusted. Widen the kernel, take degrees_of_freedom='active', or choose the "
        "penalty on rows that were held out."
    )
    FOLLOWING = "The stream goes on: a few steps were taken from the last model, and more may follow with the next batch."
    NOTHING_HELPS = "No candidate explains the target better than noise does, so the model has no basis functions."

    def __str__(self) -> str:
        return self.value

    @property
    def deserves_a_warning(self) -> bool:
        """Whether less came out than was asked for."""
        return self.is_early or self is Outcome.TOO_FEW_CANDIDATES

    @property
    def is_early(self) -> bool:
        """Whether a limit stopped the fit before it had settled."""
        return self in (Outcome.STEP_LIMIT, Outcome.TIME_LIMIT)


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
