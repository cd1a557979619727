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


def information_share(residuals: Floats, degrees_of_freedom: float, counts: Floats, n_determined: float) -> float:
    r"""Return the share of the information that rows weighted by E tau seem to have, but Student's t noise leaves.

    If the precisions of the rows were known to be :math:`\tau_i`, a constant would have the information
    :math:`\sum\tau_i/s`. They are not known. With :math:`\psi=-\partial\log t_\nu` at the residuals, in units of the scale,
    the missing-information identity (Louis 1982) leaves

    .. math:: \psi'_i = \tau_i - z_i^2\,\mathrm{Var}(\tau_i\mid z_i) = \tau_i\frac{\nu-z_i^2}{\nu+z_i^2}.

    The variance of the estimate is the mean square of the scores between two inverses of this information, which also holds if
    the noise is not Student's t (Huber 1981, section 7.6, with his correction K for few rows). So the share is

    .. math::
        \frac{\overline{\psi'}^2}{K^2\,\bar\tau\sum\psi_i^2/(n-p)}, \qquad
        K = 1 + \frac pn\frac{\mathrm{Var}\,\psi'}{\overline{\psi'}^2}.

    For many rows of Student's t noise it is :math:`(\nu+1)/(\nu+3)`, the Fisher information (Lange, Little and Taylor 1989).

    Parameters
    ----------
    residuals : ndarray of shape (n_rows,)
        Residuals in units of the scale, z.
    degrees_of_freedom : float
        nu, above 1.
    counts : ndarray of shape (n_rows,)
        How often each row counts.
    n_determined : float
        p: how many weights the rows determine, with the constant.
    """
    n, nu = float(counts.sum()), degrees_of_freedom
    slopes = StudentT(nu).slopes(residuals, np.zeros(len(residuals)))
    scores = float(counts @ slopes.first**2) / max(n - n_determined, 1.0)
    if scores == 0.0:  # an exact fit has no noise to judge by
        return 1.0
    seen = float(counts @ slopes.curvature) / n
    varies = float(counts @ (slopes.curvature - seen) ** 2) / n
    # At the best scale the mean of z^2/(nu + z^2) is 1/(nu + 1), and by Jensen's inequality the mean curvature is not below this.
    seen = max(seen, (nu - 1.0) / (nu + 1.0))
    correction = 1.0 + n_determined / n * varies / seen**2
    complete = float(counts @ row_weights(residuals**2, nu)) / n
    return min(seen**2 / (correction**2 * complete * scores), 1.0)
