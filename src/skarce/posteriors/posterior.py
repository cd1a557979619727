"""The model that a method returns: active functions, weights with their uncertainty, precisions, and how the search ended."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skarce._device import to_device
from skarce._linalg import inverse_of_lower, solve_lower, squared_lengths, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.states.outcome import Outcome

if TYPE_CHECKING:
    from skarce.posteriors.nested import NestedPath


class CoefficientTests(NamedTuple):
    """Tests of each weight against zero.

    Attributes
    ----------
    statistic : ndarray of shape (n_active,)
        The t statistics.
    degrees_of_freedom : float
        Their degrees of freedom.
    p_value : ndarray of shape (n_active,)
        The two-sided p values.
    """

    statistic: Floats
    degrees_of_freedom: float
    p_value: Floats


def in_brief(posterior: Any, *more: str) -> str:
    """Return a posterior in one line: functions, intercept, the facts in `more`, criterion, steps and outcome."""
    active = np.array2string(posterior.active, separator=", ", threshold=6, edgeitems=3, max_line_width=1000)
    functions = f"{len(posterior.active)} function{'' if len(posterior.active) == 1 else 's'} {active}"
    steps = f"{posterior.n_iter} step{'' if posterior.n_iter == 1 else 's'}"
    facts = (functions, f"intercept {posterior.intercept:.4g}", *more, f"criterion {posterior.criterion:.6g}", steps)
    return f"{type(posterior).__name__}({', '.join(facts)}, {posterior.outcome.name})"


class SavedFields:
    """A dataclass that is saved as its fields, with the name of its outcome: skops does not construct enumerations."""

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {**state, "outcome": state["outcome"].name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What a version of before did not have yet gets its default.
        defaults = {field.name: field.default for field in fields(self) if field.default is not MISSING}  # type: ignore[arg-type]
        self.__dict__.update({**defaults, **state, "outcome": Outcome.restored(state["outcome"])})


@dataclass(frozen=True)
class Posterior(SavedFields):
    """The weights given the data, for one target, in user units.

    The covariance of the weights is ``noise_variance * (L L')^-1`` with L = `factor`. The variance of a prediction adds the noise
    and, with an intercept, the uncertainty of the intercept, ``noise_variance / level_worth``.

    Attributes
    ----------
    active : ndarray of shape (n_active,)
        The candidates in the model, in ascending order.
    mean : ndarray of shape (n_active,)
        The posterior means of their weights.
    center : ndarray of shape (n_active,)
        The means of the active candidates over the data, zero without an intercept.
    intercept : float
        The constant of the model.
    factor : ndarray of shape (n_active, n_active)
        The lower Cholesky factor L of H = Phi'Phi + Lambda, or of Phi'Phi + M'Lambda M if there is a `mixing`.
    ridges : ndarray of shape (n_active,)
        Lambda, the weight precisions relative to the noise precision.
    noise_variance : float
        The variance of the noise.
    n_samples : float
        The number of observations, or the sum of their weights.
    fit_intercept : bool
        Whether the model has an intercept.
    criterion : float
        The value of the published criterion.
    outcome : Outcome
        How the search ended.
    trace : structured ndarray of shape (n_iter,)
        The steps of the search.
    n_iter : int
        The number of steps.
    mixing : ndarray of shape (n_active, n_active) or None
        M, if the ridges penalize M w. None if they penalize w.
    path : NestedPath or None
        The nested models on the way to this one. None if the search has none.
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
    noise_freedom: ClassVar[float] = np.inf

    def __repr__(self) -> str:
        """Return one line, without the arrays."""
        return in_brief(self, f"noise variance {self.noise_variance:.4g}")

    @property
    def covariance(self) -> Floats:
        """Covariance of the weights, shape (n_active, n_active)."""
        return self.noise_variance * symmetric_inverse(self.factor)

    @property
    def weight_precision(self) -> Floats:
        """alpha = lambda / noise variance for each weight. It is 0 for a weight without a ridge, even if there is no noise."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.ridges > 0.0, self.ridges / self.noise_variance, 0.0)

    @property
    def well_determined(self) -> Floats:
        """gamma = 1 - lambda h for each (mixed) weight, with h = diag(H^-1): 1 if the data decide, 0 if the prior does."""
        root = inverse_of_lower(self.factor)
        if self.mixing is not None:
            root = root @ self.mixing.T
        return np.clip(1.0 - self.ridges * np.einsum("ij,ij->j", root, root), 0.0, 1.0)

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom left for the noise: N - Gamma, or N - 1 - Gamma with an intercept, but at least 1."""
        n = self.n_samples - 1.0 if self.fit_intercept else self.n_samples
        return max(n - float(self.well_determined.sum()), 1.0)

    @property
    def coefficient_std(self) -> Floats:
        """Standard deviation of each weight, by the full covariance."""
        root = inverse_of_lower(self.factor)
        return np.sqrt(self.noise_variance * np.einsum("ij,ij->j", root, root))

    @property
    def level_worth(self) -> float:
        """How many observations with normal noise tell the level at the center: all of them."""
        return self.n_samples

    @property
    def intercept_std(self) -> float:
        """Standard deviation of the constant: that of the level at the center, and of the weights times the center."""
        if not self.fit_intercept:
            return 0.0
        reach = solve_lower(self.factor, self.center[:, None])
        return float(np.sqrt(self.noise_variance * (1.0 / self.level_worth + (reach**2).sum())))

    def coefficient_tests(self) -> CoefficientTests:
        """Return t tests by the full covariance. They are NaN if least squares leaves no degree of freedom for the noise."""
        if self.outcome is Outcome.NO_NOISE and not self.ridges.any():
            unknown = np.full(len(self.mean), np.nan)
            return CoefficientTests(unknown, 0.0, unknown)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(self.mean == 0.0, 0.0, self.mean / self.coefficient_std)
        freedom = self.degrees_of_freedom
        return CoefficientTests(statistic, freedom, 2.0 * stats.t.sf(np.abs(statistic), freedom))

    def predict(self, phi: Floats) -> Floats:
        """Return the predicted mean at rows with active candidates `phi`, shape (n_rows, n_active)."""
        return phi @ to_device(self.mean, phi) + self.intercept

    def quantile(self, probability: float) -> float:
        """Return the quantile of a new target, in standard deviations from its mean.

        It is that of the noise: normal, or Student's t of unit variance if `noise_freedom` is finite.
        """
        freedom = self.noise_freedom
        if np.isinf(freedom):
            return float(stats.norm.ppf(probability))
        return float(stats.t.ppf(probability, freedom) * np.sqrt((freedom - 2.0) / freedom))

    @property
    def n_parameters(self) -> int:
        """The number of weights, and one more with an intercept."""
        return len(self.active) + int(self.fit_intercept)

    def deviations(self, phi: Floats, normals: Floats) -> Floats:
        """Return draws of the function at these rows, less its mean, shape (n_rows, n_draws). Noise is not in them.

        `normals` of shape (n_parameters, n_draws) are standard normal. The same normals give the same functions at other rows.
        """
        n_active = len(self.active)
        values = (phi - self.center) @ solve_lower(self.factor, normals[:n_active], transposed=True)
        if self.fit_intercept:
            values += normals[n_active] / np.sqrt(self.level_worth)
        return np.sqrt(self.noise_variance) * values

    def draw_noise(self, shape: tuple[int, ...], rng: np.random.RandomState) -> Floats:
        """Return noise of new targets: normal, or Student's t if `noise_freedom` is finite."""
        is_normal = np.isinf(self.noise_freedom)
        relative = rng.standard_normal(shape) if is_normal else rng.standard_t(self.noise_freedom, shape)
        return np.sqrt(self.noise_variance) * relative

    def joint_covariance(self, phi: Floats) -> Floats:
        """Return the covariance of new targets at these rows, shape (n_rows, n_rows). Only its diagonal has noise."""
        rest = solve_lower(self.factor, np.ascontiguousarray((phi - self.center).T))
        covariance = rest.T @ rest
        if self.fit_intercept:
            covariance += 1.0 / self.level_worth
        covariance *= self.noise_variance
        covariance.flat[:: len(phi) + 1] = self.variance(phi)
        return covariance

    def variance(self, phi: Floats) -> Floats:
        """Return the variance of a new target at these rows: noise, and the uncertainty of the intercept and the weights."""
        relative = 1.0 + squared_lengths(self.factor, phi - to_device(self.center, phi))
        if self.fit_intercept:
            relative += 1.0 / float(self.level_worth)
        return relative * float(self.noise_variance)
