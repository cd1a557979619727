r"""Numbers with outliers: :math:`(t_i - f_i)/\text{scale}` has Student's t distribution.

It is a normal distribution whose precision is drawn for each row, :math:`\tau\sim\Gamma(\nu/2,\nu/2)`. Given the squared distance
:math:`d = (t - f)^2/\text{scale}^2` the mean of :math:`\tau` is :math:`(\nu + 1)/(\nu + d)`: the weight of the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from skarce._text import quoted
from skarce._typing import Floats
from skarce.likelihoods.likelihood import Likelihood, Slopes


@dataclass(frozen=True)
class StudentT(Likelihood):
    """Noise with heavy tails. Its density is not log concave: a row far away has a negative curvature.

    Parameters
    ----------
    degrees_of_freedom : float
        nu: the smaller, the heavier the tails. The noise has a variance above 2, and a mean above 1.
    scale : float, default=1.0
        For many degrees of freedom, the standard deviation.
    """

    degrees_of_freedom: float
    scale: float = 1.0

    is_log_concave: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("degrees_of_freedom", "scale"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {quoted(getattr(self, name))}.")

    def log_density(self, targets: Floats, latent: Floats) -> Floats:
        return log_density(((targets - latent) / self.scale) ** 2, self.degrees_of_freedom, self.scale**2)

    def row_weights(self, targets: Floats, latent: Floats) -> Floats:
        """Return the mean precision of each row relative to 1/scale^2, given its target."""
        return row_weights(((targets - latent) / self.scale) ** 2, self.degrees_of_freedom)

    def slopes(self, targets: Floats, latent: Floats) -> Slopes:
        """(nu+1) r/(a+r^2), (nu+1)(a-r^2)/(a+r^2)^2 and 2 (nu+1) r (3a-r^2)/(a+r^2)^3 with r = t - f and a = nu scale^2."""
        nu, residual = self.degrees_of_freedom, targets - latent
        a = nu * self.scale**2
        share = 1.0 / (a + residual**2)
        first = (nu + 1.0) * residual * share
        # (a - r^2)/(a + r^2) = 2 a share - 1 and (3a - r^2)/(a + r^2) = 4 a share - 1: no power of a far residual overflows
        return Slopes(first, (nu + 1.0) * share * (2.0 * a * share - 1.0), 2.0 * first * share * (4.0 * a * share - 1.0))

    def largest_curvature(self, targets: Floats) -> Floats:
        """(nu + 1)/(nu scale^2), at f = t."""
        return np.full(len(targets), (self.degrees_of_freedom + 1.0) / (self.degrees_of_freedom * self.scale**2))

    def mean(self, mean: Floats, variance: Floats) -> Floats:
        """Return the center of the distribution, which is its mean above one degree of freedom."""
        return mean

    def variance(self, mean: Floats, variance: Floats) -> Floats:
        """Var f + scale^2 nu/(nu - 2); infinite for two degrees of freedom or less."""
        nu = self.degrees_of_freedom
        return variance + (self.scale**2 * nu / (nu - 2.0) if nu > 2.0 else np.inf)


def log_density(squared_distances: Floats, degrees_of_freedom: float, squared_scale: float) -> Floats:
    """Return log t_nu at squared distances in units of the squared scale."""
    half = 0.5 * degrees_of_freedom
    peak = gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(np.pi * degrees_of_freedom * squared_scale)
    return peak - (half + 0.5) * np.log1p(squared_distances / degrees_of_freedom)


def row_weights(squared_distances: Floats, degrees_of_freedom: float) -> Floats:
    """Return E tau = (nu + 1)/(nu + d)."""
    return (degrees_of_freedom + 1.0) / (degrees_of_freedom + squared_distances)
