"""The posterior of variational least squares: weights with their full covariance, and with the factorized one of the paper."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import stats

from skarce._linalg import inverse_of_lower
from skarce._typing import Floats
from skarce.criteria.variational import determination
from skarce.posteriors.posterior import CoefficientTests, Posterior
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class VariationalPosterior(Posterior):
    """A `Posterior` with the factorized posterior of Ting et al. in addition.

    The attributes of `Posterior` come first.

    Attributes
    ----------
    squared_norms : ndarray of shape (n_active,) or None
        h = diag(Phi'Phi) of the active candidates. The factorized posterior needs it.
    group_sizes : ndarray of shape (n_active,) or None
        For each active candidate, how many candidates share its precision. None if the method has no groups.
    is_factorized : bool
        Whether the precisions were learned with independent weights, as in the paper. If False, they were learned with the full
        covariance of the weights.
    noise_freedom : float
        The degrees of freedom of Student's t noise. Infinite for normal noise.
    """

    squared_norms: Floats | None = None
    group_sizes: Floats | None = None
    is_factorized: bool = True
    noise_freedom: float = np.inf  # type: ignore[misc]

    @classmethod
    def of(cls, posterior: Posterior, **more: Any) -> VariationalPosterior:
        """Return a plain posterior with the additional attributes `more`."""
        return cls(**{field.name: getattr(posterior, field.name) for field in fields(Posterior)}, **more)

    @property
    def well_determined(self) -> Floats:
        """gamma of the factorized posterior, or 1 - lambda diag(H^-1) of the full one.

        It is 1 if the data decide a weight, and 0 if the prior does.
        """
        return self._determination[0] if self.is_factorized else super().well_determined

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
    def factorized_variance(self) -> Floats:
        r"""The paper's variance of each weight, :math:`v=s\gamma^2/(\Gamma h)`: too small by a factor of about Gamma."""
        determined, total = determination(self.ridges / self._norms)
        return self.noise_variance * determined**2 / (total * self._norms)

    def coefficient_tests(self) -> CoefficientTests:
        """Return t tests by the full covariance. They are NaN if least squares leaves no degree of freedom for the noise."""
        if self.outcome is Outcome.NO_NOISE and not self.ridges.any():
            unknown = np.full(len(self.mean), np.nan)
            return CoefficientTests(unknown, 0.0, unknown)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(self.mean == 0.0, 0.0, self.mean / self.coefficient_std)
        freedom = self.degrees_of_freedom
        return CoefficientTests(statistic, freedom, 2.0 * stats.t.sf(np.abs(statistic), freedom))

    def marginals(self, kind: str) -> Any:
        """Return the distributions of single weights, frozen: normal (4.1, 4.2) or Student's t (4.3; VBLS errata 3.11)."""
        scale = np.sqrt(self.factorized_variance)
        if kind == "gaussian":
            return stats.norm(self.mean, scale)
        assert self.group_sizes is not None
        n = self.n_samples - 1.0 if self.fit_intercept else self.n_samples
        return stats.t(n * self.group_sizes, self.mean, scale)

    def at_noise_of(self, other: Self) -> Self:
        """Return this posterior as if its noise had been found to be that of another fit to the same target."""
        return replace(self, noise_variance=other.noise_variance, noise_freedom=other.noise_freedom)

    def variance(self, phi: Floats) -> Floats:
        """Return the variance of a new target: noise (normal or Student's t), and the uncertainty of intercept and weights."""
        if np.isinf(self.noise_freedom):
            return super().variance(phi)
        return super().variance(phi) + self.noise_variance * 2.0 / (self.noise_freedom - 2.0)

    @cached_property
    def _determination(self) -> tuple[Floats, float]:
        return determination(self.ridges / self._norms)

    @property
    def _norms(self) -> Floats:
        assert self.squared_norms is not None
        return self.squared_norms
