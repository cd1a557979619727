"""The posterior of the variational method: the weights with their full covariance, and the paper's factorised one beside it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from skarce._linalg import inverse_of_lower
from skarce._typing import Floats
from skarce.criteria.variational import determination
from skarce.posteriors.posterior import CoefficientTests, Posterior
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class VariationalPosterior(Posterior):
    """A `Posterior` that also knows the fake targets.

    Attributes
    ----------
    squared_norms : h = diag(Phi'Phi) of the active candidates
    group_sizes : how many candidates share the precision of each
    is_factorized : whether the precisions were learned with independent weights (the paper), or with their full covariance
    noise_freedom : degrees of freedom of the noise; infinite for a normal distribution
    """

    squared_norms: Floats | None = None
    group_sizes: Floats | None = None
    is_factorized: bool = True
    noise_freedom: float = np.inf

    @classmethod
    def of(cls, posterior: Posterior, **more: Any) -> VariationalPosterior:
        """A plain posterior, completed."""
        return cls(**{field.name: getattr(posterior, field.name) for field in fields(Posterior)}, **more)

    @property
    def well_determined(self) -> Floats:
        """gamma of the factorised posterior, or 1 - lambda h of the full one: 1 where the data decide, 0 where the prior does."""
        return self._determination[0] if self.is_factorized else super().well_determined

    @property
    def degrees_of_freedom(self) -> float:
        """N - Gamma (N - 1 - Gamma with an intercept), at least one: what is left to tell the noise."""
        n = self.n_samples - 1.0 if self.fit_intercept else self.n_samples
        return max(n - float(self.well_determined.sum()), 1.0)

    @property
    def coefficient_std(self) -> Floats:
        """Of each weight, by the full covariance."""
        root = inverse_of_lower(self.factor)
        return np.sqrt(self.noise_variance * np.einsum("ij,ij->j", root, root))

    @property
    def factorized_variance(self) -> Floats:
        r"""The paper's variance of each weight, :math:`v=s\gamma^2/(\Gamma h)`: too small by a factor of about Gamma."""
        determined, total = determination(self.ridges / self._norms)
        return self.noise_variance * determined**2 / (total * self._norms)

    def coefficient_tests(self) -> CoefficientTests:
        """t tests by the full covariance; NaN where least squares leaves nothing to tell the noise."""
        if self.outcome is Outcome.NO_NOISE and not self.ridges.any():
            unknown = np.full(len(self.mean), np.nan)
            return CoefficientTests(unknown, 0.0, unknown)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(self.mean == 0.0, 0.0, self.mean / self.coefficient_std)
        freedom = self.degrees_of_freedom
        return CoefficientTests(statistic, freedom, 2.0 * stats.t.sf(np.abs(statistic), freedom))

    def marginals(self, kind: str) -> Any:
        """The paper's distributions of single weights, frozen: normal (4.1, 4.2) or Student's t (4.3; VBLS errata 3.11)."""
        scale = np.sqrt(self.factorized_variance)
        if kind == "gaussian":
            return stats.norm(self.mean, scale)
        assert self.group_sizes is not None
        n = self.n_samples - 1.0 if self.fit_intercept else self.n_samples
        return stats.t(n * self.group_sizes, self.mean, scale)

    def variance(self, phi: Floats) -> Floats:
        """Of a new target: the noise (of Student's t its variance), the intercept's and the weights' uncertainty."""
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
