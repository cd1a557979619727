"""The precisions of the variational bound at their best for given weights (see `skarce.criteria.variational`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria.variational import determination

Mask = NDArray[np.bool_]
RELEVANT = 0.5  # gamma above which a weight matters: after sweeps the two kinds are separate only in the limit
LARGEST = 1e20  # of u: above, a weight is zero to all digits
CLOSE = 1e-10  # the last relative change of precisions and noise: what is left is its square


@dataclass(frozen=True)
class Groups:
    """Which candidates share a precision: `label` has a group number for each, all of 0 ... n_groups - 1 occur."""

    label: Indices
    sizes: Floats

    @classmethod
    def of(cls, labels: Indices) -> Groups:
        _, label, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        return cls(label.astype(np.intp), sizes.astype(np.float64))

    def total(self, values: Floats) -> Floats:
        """The sum over each group."""
        if len(self.sizes) == len(self.label):
            out = np.empty(len(values))
            out[self.label] = values
            return out
        return np.bincount(self.label, weights=values, minlength=len(self.sizes))

    def restricted_to(self, kept: Indices) -> tuple[Groups, Indices]:
        """The groups of these candidates, and which of the old groups they are."""
        old, label, sizes = np.unique(self.label[kept], return_inverse=True, return_counts=True)
        return Groups(label.astype(np.intp), sizes.astype(np.float64)), old


@dataclass(frozen=True)
class Precisions:
    """The precisions u of groups relative to noise and columns, how well determined their weights are, and the noise."""

    relative_ridges: Floats  # u, one for each group
    determined: Floats  # gamma, one for each group
    total_determined: float  # Gamma, over all candidates
    noise: float  # s

    def restricted_to(self, groups: Indices, sizes: Floats) -> Precisions:
        """These groups only, of so many candidates."""
        determined = self.determined[groups]
        return replace(
            self, relative_ridges=self.relative_ridges[groups], determined=determined, total_determined=float(sizes @ determined)
        )


def best_precisions(
    strengths: Floats, sizes: Floats, residual: float, n_samples: float, start: Precisions, *, hold_noise: bool
) -> Precisions:
    r"""The u, shares and noise that maximise L where the weights are held.

    With :math:`T_g=\sum_g\mu^2h` (`strengths`, positive) they satisfy :math:`u_gT_g=s\,n_g\gamma_g`, MacKay's rule, and
    :math:`s=(|t-\Phi\mu|^2+\sum u_gT_g)/N`. For given :math:`\Gamma` and s the left side over the right one has a slope between 1
    and 3/2 in the logarithms, so Newton's method converges from anywhere.
    """
    relative_ridges, total, noise = start.relative_ridges, start.total_determined, start.noise
    wanted = np.log(sizes / strengths)
    log_ridges = np.log(relative_ridges)
    for _ in range(200):
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
    determined, total = determination(relative_ridges, sizes)
    return Precisions(relative_ridges, determined, total, noise)
