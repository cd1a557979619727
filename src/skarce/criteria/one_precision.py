r"""The best single ridge for all functions by evidence. The problem is one-dimensional and smooth, as in `one_ridge`.

With squared norms :math:`p_j` and projections :math:`o_j` of the target, and :math:`s_j = \rho/(p_j+\rho)` for the ridge
:math:`\rho` (the precision of the weights relative to that of the noise),

.. math:: a(\rho) = t^TPt = q_0 + \sum_j \frac{o_j^2}{p_j}s_j, \qquad \log|I + \Phi\Phi^T/\rho| = -\sum_j\log s_j .

At the best noise variance :math:`a/n`, the log evidence is :math:`-\frac n2\log a - \frac12\log|I+\Phi\Phi^T/\rho|` up to a
constant (SSGE errata 5.3; note on profiled noise). If the prior variance v of the weights is given, then :math:`\sigma^2 = \rho v`,
and the log evidence is :math:`-\frac n2\log\sigma^2 - a/(2\sigma^2) - \frac12\log|I+\Phi\Phi^T/\rho|`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._memory import require
from skarce._typing import Floats, Indices
from skarce.criteria.one_ridge import OneRidge
from skarce.moments import Moments
from skarce.moments.directions import Directions, directions_of
from skarce.states.state import resolved_energy

MAX_REESTIMATIONS = 200


@dataclass(frozen=True)
class EvidenceFit(OneRidge):
    """Orthogonal functions with one ridge, chosen by evidence.

    Parameters
    ----------
    squared_norms : array of shape (n_functions,)
        The squared norms p of the functions.
    projections : array of shape (n_functions,)
        The projections o of the target on them.
    unexplained : float
        q0, the energy of the target that least squares leaves unexplained.
    n_samples : float
        n, the number of samples.
    weight_variance : float, default=None
        The prior variance of the weights if it is given. None learns it.
    """

    weight_variance: float | None = None

    searched = (1e-13, 1e6)  # as multiples of the largest p: they bound alpha and beta

    @property
    def bounds(self) -> tuple[float, float]:
        lowest, highest = super().bounds
        if self.weight_variance is not None:
            # The noise is smaller than the whole target, and below the lowest ridge there is only rounding.
            all_of_it = self.unexplained + float(self.energies.sum())
            highest = max(10.0 * all_of_it / (self.n_samples * self.weight_variance), 10.0 * lowest)
        return lowest, highest

    def energy(self, ridge: float) -> float:
        """Return a = t'P t."""
        return self.unexplained + float(self.energies @ self._shrinkage(ridge))

    def log_determinant(self, ridge: float) -> float:
        """Return log|I + Phi Phi'/rho|."""
        return float(np.log1p(self.squared_norms / ridge).sum())

    def score(self, ridge: float) -> float:
        """Return the log evidence up to a constant."""
        return -0.5 * float(self._scan(np.array([ridge]))[0])

    def reestimated(self, ridge: float, noise: float, eps: float) -> tuple[float, float]:
        """Re-estimate ridge and noise together by SSGE, eqs. (2) and (5), until both have settled.

        New values are tested before they are taken (errata 3.2). The ridge stays within the range that is searched.
        """
        lowest, highest = self.bounds
        ridge = min(max(ridge, lowest), highest)
        for _ in range(MAX_REESTIMATIONS):
            shrunk = 1.0 / (self.squared_norms + ridge)
            determined = float((self.squared_norms * shrunk).sum())
            length = float(((self.projections * shrunk) ** 2).sum())
            left = max(self.n_samples - determined, 1e-8 * self.n_samples)
            new_noise = self.residual(ridge) / left
            new_ridge = min(max(determined * new_noise / length, lowest), highest) if length > 0.0 else highest
            moved = abs(np.log(new_ridge / ridge * (noise / new_noise)))
            if abs(np.log(new_noise / noise)) < eps * np.sqrt(2.0 / left) and moved < eps * np.sqrt(2.0 / determined):
                break
            ridge, noise = new_ridge, new_noise
        return ridge, noise

    def _scan(self, ridges: Floats) -> Floats:
        """Return twice the negative log evidence, up to a constant."""
        shrinkage = ridges[:, None] / (self.squared_norms + ridges[:, None])
        left = self.unexplained + shrinkage @ self.energies
        log_determinants = np.log1p(self.squared_norms / ridges[:, None]).sum(axis=1)
        if self.weight_variance is None:
            return self.n_samples * np.log(left) + log_determinants
        noise = ridges * self.weight_variance
        return self.n_samples * np.log(noise) + left / noise + log_determinants

    def _derivatives(self, log_ridge: float) -> tuple[float, float]:
        r"""Return two derivatives of the function of `_scan` in :math:`\log\rho`, with :math:`ds/d\log\rho = s(1 - s)`."""
        ridge = float(np.exp(log_ridge))
        s = self._shrinkage(ridge)
        rate = s * (1.0 - s)
        left = self.unexplained + float(self.energies @ s)
        first, second = float(self.energies @ rate), float(self.energies @ (rate * (1.0 - 2.0 * s)))
        slope, curvature = -float((1.0 - s).sum()), float(rate.sum())
        if self.weight_variance is None:
            change = first / left
            return slope + self.n_samples * change, curvature + self.n_samples * (second / left - change**2)
        noise = ridge * self.weight_variance
        return slope + self.n_samples + (first - left) / noise, curvature + (second - 2.0 * first + left) / noise


def fit_of_all(moments: Moments, weight_variance: float | None = None) -> tuple[Indices, Directions, EvidenceFit]:
    """Return all candidates that are not constant or zero, their directions, and the fit to one target."""
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    require(
        len(usable),
        len(usable),
        f"the model with all {len(usable)} candidates",
        "Use fewer candidates (KernelBasis(centers=500)), or a sparse method",
    )
    directions = directions_of(moments.gram, usable)
    projected = directions.project(moments.projections[usable])
    return (
        usable,
        directions,
        EvidenceFit.of(directions.eigenvalues, projected, resolved_energy(moments), moments.n_samples, weight_variance),
    )
