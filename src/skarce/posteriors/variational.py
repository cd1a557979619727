"""The posterior of variational least squares: weights with their full covariance, and with the factorized one of the paper."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import stats

from skarce._typing import Floats
from skarce.criteria.variational import determination
from skarce.posteriors.posterior import Posterior


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
    information : float
        The share of the information in the weighted rows that Student's t noise leaves, at most 1. `factor` has it as a factor on
        Phi'Phi. It is 1 for normal noise.
    """

    squared_norms: Floats | None = None
    group_sizes: Floats | None = None
    is_factorized: bool = True
    noise_freedom: float = np.inf  # type: ignore[misc]
    information: float = 1.0

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
    def level_worth(self) -> float:
        """How many observations with normal noise tell as much about the level at the center."""
        return self.information * self.n_samples

    @property
    def factorized_variance(self) -> Floats:
        r"""The paper's variance of each weight, :math:`v=s\gamma^2/(\Gamma h)`: too small by a factor of about Gamma."""
        determined, total = determination(self.ridges / self._norms)
        return self.noise_variance * determined**2 / (total * self._norms)

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
