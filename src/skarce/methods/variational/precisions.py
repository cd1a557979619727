"""The precisions that maximize the variational bound for given weights (see `skarce.criteria.variational`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria.variational import determination

Mask = NDArray[np.bool_]
RELEVANT = 0.5  # a weight matters if its gamma is larger; after finitely many sweeps, gamma is not yet exactly zero for the others
LARGEST = 1e20  # upper bound of u, at which a weight is zero to all digits
CLOSE = 1e-10  # the last relative change of precisions and noise; the remaining error is about its square


@dataclass(frozen=True)
class Groups:
    """Which candidates share a precision.

    Attributes
    ----------
    label : ndarray of shape (n_active,)
        The group number of each candidate. All numbers from 0 to n_groups - 1 occur.
    sizes : ndarray of shape (n_groups,)
        The number of candidates of each group.
    """

    label: Indices
    sizes: Floats

    @classmethod
    def of(cls, labels: Indices) -> Groups:
        """Return the groups of candidates with equal labels."""
        _, label, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        return cls(label.astype(np.intp), sizes.astype(np.float64))

    def total(self, values: Floats) -> Floats:
        """Return the sum over each group."""
        if len(self.sizes) == len(self.label):
            out = np.empty(len(values))
            out[self.label] = values
            return out
        return np.bincount(self.label, weights=values, minlength=len(self.sizes))

    def restricted_to(self, kept: Indices) -> tuple[Groups, Indices]:
        """Return the groups of these candidates, and the old number of each of these groups."""
        old, label, sizes = np.unique(self.label[kept], return_inverse=True, return_counts=True)
        return Groups(label.astype(np.intp), sizes.astype(np.float64)), old


@dataclass(frozen=True)
class Precisions:
    """The precisions of groups, how well determined their weights are, and the noise.

    Attributes
    ----------
    relative_ridges : ndarray of shape (n_groups,)
        u, the ridge of each group relative to the squared norms of its columns.
    determined : ndarray of shape (n_groups,)
        gamma of each group.
    total_determined : float
        Gamma, the sum of gamma over all candidates.
    noise : float
        s, the noise variance.
    """

    relative_ridges: Floats
    determined: Floats
    total_determined: float
    noise: float

    def restricted_to(self, groups: Indices, sizes: Floats) -> Precisions:
        """Return the precisions of only these groups, which now have `sizes` candidates."""
        determined = self.determined[groups]
        return replace(
            self, relative_ridges=self.relative_ridges[groups], determined=determined, total_determined=float(sizes @ determined)
        )


def best_precisions(
    strengths: Floats,
    sizes: Floats,
    residual: float,
    n_samples: float,
    start: Precisions,
    *,
    hold_noise: bool = False,
    most: int = 200,
) -> Precisions:
    r"""Return the u, shares and noise that maximize L for fixed weights.

    With :math:`T_g=\sum_g\mu^2h` (`strengths`, positive) they satisfy :math:`u_gT_g=s\,n_g\gamma_g`, MacKay's rule, and
    :math:`s=(|t-\Phi\mu|^2+\sum u_gT_g)/N`. For given :math:`\Gamma` and s, the log of the ratio of both sides has a slope
    between 1 and 3/2 in log u, so Newton's method converges from any start. It takes `most` steps at most.
    """
    relative_ridges, total, noise = start.relative_ridges, start.total_determined, start.noise
    wanted = np.log(sizes / strengths)
    log_ridges = np.log(relative_ridges)
    for _ in range(most):
        root = np.sqrt(1.0 + 4.0 * relative_ridges / total)
        determined = 2.0 / (1.0 + root)
        steps = wanted + np.log(determined * noise) - log_ridges
        steps /= 1.5 - 0.5 / root
        log_ridges = np.minimum(log_ridges + steps, np.log(LARGEST))
        relative_ridges = np.exp(log_ridges)
        total_before, noise_before = total, noise
        total = float(sizes @ determined)
        if not hold_noise:
            noise = (residual + float(relative_ridges @ strengths)) / n_samples
        moved = max(float(np.abs(steps).max()), abs(total / total_before - 1.0), abs(noise / noise_before - 1.0))
        if moved < CLOSE:
            break
    determined, total = determination(relative_ridges, sizes, total)
    return Precisions(relative_ridges, determined, total, noise)
