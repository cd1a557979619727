r"""The best single ridge for all functions. The problem is one-dimensional and smooth.

In coordinates in which the functions are orthogonal (eigenvectors of the active block, or Gram-Schmidt), let them have squared
norms :math:`p_j` and projections :math:`o_j` of the target, and let :math:`s_j = \lambda/(p_j+\lambda)`. Then

.. math:: q(\lambda) = q_0 + \sum_j \frac{o_j^2}{p_j}s_j^2, \qquad v(\lambda) = n - \sum_j(1 - s_j),

where :math:`q_0` is the residual energy of least squares. Every term of q is positive, so no digits are lost to a difference.
`OrthogonalFit` chooses the ridge by generalized cross validation, `one_precision.EvidenceFit` by evidence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from skarce._typing import Floats
from skarce.states.state import RESOLUTION, ROUNDING

SEARCHED = (1e-12, 1e2)  # as multiples of the largest p: a smaller ridge acts like zero, at a larger one almost nothing is fitted
PER_DECADE = 4
CLOSE = 1e-6  # length of the last step of Newton's method, in the logarithm of the ridge: the error left is about its square
NO_FREEDOM = 1e-8  # below this share of n, v counts as zero: the model interpolates, and V = 0/0


@dataclass(frozen=True)
class OneRidge(ABC):
    """Orthogonal functions with one ridge. The best ridge is where `_scan` is smallest.

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
    """

    squared_norms: Floats
    projections: Floats
    unexplained: float
    n_samples: float

    searched: ClassVar[tuple[float, float]] = SEARCHED

    @classmethod
    def of(cls, squared_norms: Floats, projections: Floats, target_energy: float, n_samples: float, *others: Any) -> Self:
        """Make a fit from the energy of the target. What is unexplained is at least the share that sums of squares can resolve."""
        unexplained = target_energy - float((projections**2 / squared_norms).sum())
        return cls(squared_norms, projections, max(unexplained, RESOLUTION * target_energy), n_samples, *others)

    @classmethod
    def of_block(cls, gram: Floats, projections: Floats, target_energy: float, n_samples: float) -> Self:
        """Make a fit from the eigenvectors of an active block, without directions whose squared norm is only rounding."""
        squared_norms, vectors = np.linalg.eigh(gram)
        kept = squared_norms > ROUNDING * len(squared_norms) * squared_norms[-1]
        return cls.of(squared_norms[kept], projections @ vectors[:, kept], target_energy, n_samples)

    @cached_property
    def energies(self) -> Floats:
        """o^2 / p: how much of the target's energy each function explains without a ridge."""
        return self.projections**2 / self.squared_norms

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest ridge that are tried."""
        longest = float(self.squared_norms.max())
        return self.searched[0] * longest, self.searched[1] * longest

    def residual(self, ridge: float) -> float:
        """Return the residual energy q."""
        return self.unexplained + float(self.energies @ self._shrinkage(ridge) ** 2)

    def best_ridge(self, tol: float = 0.0, is_enough: Callable[[float], bool] = lambda ridge: False) -> float:
        """Return the best ridge: scan a grid of logarithms, then use Newton's method between the neighbors of the best point.

        If a bound is best, return the bound. The last step is one that promises to lower `_scan` by at most twice `tol`.
        `is_enough` is called after each step and may end the search earlier.
        """
        lowest, highest = self.bounds
        ridges = np.geomspace(lowest, highest, max(round(PER_DECADE * np.log10(highest / lowest)), 8) + 1)
        best = int(self._scan(ridges).argmin())
        if is_enough(float(ridges[best])) or best in (0, len(ridges) - 1):
            return float(ridges[best])
        left, at, right = np.log(ridges[best - 1 : best + 2]).tolist()
        return self._stationary(left, at, right, tol, is_enough)

    @abstractmethod
    def _scan(self, ridges: Floats) -> Floats:
        """Return the function to be minimized, at several ridges."""

    @abstractmethod
    def _derivatives(self, log_ridge: float) -> tuple[float, float]:
        """Return the first and the second derivative of that function, in the logarithm of the ridge."""

    def _shrinkage(self, ridge: float) -> Floats:
        return ridge / (self.squared_norms + ridge)

    def _stationary(self, left: float, at: float, right: float, tol: float, is_enough: Callable[[float], bool]) -> float:
        """Return the ridge at which the slope is zero: Newton's method from `at`, with bisection if a step leaves the interval."""
        for _ in range(100):
            slope, curvature = self._derivatives(at)
            left, right = (left, at) if slope > 0.0 else (at, right)
            step = -slope / curvature if curvature > 0.0 else np.inf
            onward = at + step if left < at + step < right else 0.5 * (left + right)
            is_last = abs(slope * (onward - at)) <= 2.0 * tol or abs(onward - at) < CLOSE
            at = onward
            if is_enough(float(np.exp(at))) or is_last:
                break
        return float(np.exp(at))


class OrthogonalFit(OneRidge):
    """Orthogonal functions with one ridge, chosen by generalized cross validation: the ridge of smallest q / v^2."""

    def freedom(self, ridge: float) -> float:
        """Return the degrees of freedom v."""
        return max(self.n_samples - float((self.squared_norms / (self.squared_norms + ridge)).sum()), NO_FREEDOM * self.n_samples)

    def score(self, ridge: float) -> float:
        """Return -n/2 log(q / v^2)."""
        return self.n_samples * float(np.log(self.freedom(ridge)) - 0.5 * np.log(self.residual(ridge)))

    def _scan(self, ridges: Floats) -> Floats:
        """Return log q - 2 log v."""
        shrinkage = ridges[:, None] / (self.squared_norms + ridges[:, None])
        freedom = np.maximum(self.n_samples - (1.0 - shrinkage).sum(axis=1), NO_FREEDOM * self.n_samples)
        return np.log(self.unexplained + shrinkage**2 @ self.energies) - 2.0 * np.log(freedom)

    def _derivatives(self, log_ridge: float) -> tuple[float, float]:
        r"""Return two derivatives of log q - 2 log v in :math:`\log\lambda`, with :math:`ds/d\log\lambda = s(1 - s)`."""
        s = self._shrinkage(float(np.exp(log_ridge)))
        rate = s * (1.0 - s)
        residual = self.unexplained + float(self.energies @ s**2)
        freedom = max(self.n_samples - float((1.0 - s).sum()), NO_FREEDOM * self.n_samples)
        first = 2.0 * float(self.energies @ (s * rate)) / residual
        second = 2.0 * float(self.energies @ (s * rate * (2.0 - 3.0 * s))) / residual
        freed, freed_twice = float(rate.sum()) / freedom, float((rate * (1.0 - 2.0 * s)).sum()) / freedom
        return first - 2.0 * freed, second - first**2 - 2.0 * (freed_twice - freed**2)
