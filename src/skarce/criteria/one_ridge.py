r"""One ridge for all functions: one-dimensional and smooth.

In coordinates in which the functions are orthogonal, with squared norms :math:`p_j` and projections :math:`o_j` of the target
(eigenvectors of the active block, or Gram-Schmidt), and :math:`s_j = \lambda/(p_j+\lambda)`,

.. math:: q(\lambda) = q_0 + \sum_j \frac{o_j^2}{p_j}s_j^2, \qquad v(\lambda) = n - \sum_j(1 - s_j),

where :math:`q_0` is what least squares leaves: sums of positive terms, so that nothing is lost to a difference. `OrthogonalFit`
chooses the ridge by generalized cross validation, `one_precision.EvidenceFit` by evidence.
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

SEARCHED = (1e-12, 1e2)  # multiples of the longest p: below, a ridge acts as none; above, next to nothing is fitted
PER_DECADE = 4
CLOSE = 1e-6  # the last step of Newton's method, in the logarithm of the ridge: what is left is its square
NO_FREEDOM = 1e-8  # the share of n below which v counts as none: an interpolation, with V = 0/0


@dataclass(frozen=True)
class OneRidge(ABC):
    """Orthogonal functions under one ridge, which is chosen where `_scan` is least.

    Parameters
    ----------
    squared_norms : squared norms p
    projections : o, the projections of the target on them
    unexplained : q0, what is left of the target's energy without a ridge
    n_samples : n
    """

    squared_norms: Floats
    projections: Floats
    unexplained: float
    n_samples: float

    searched: ClassVar[tuple[float, float]] = SEARCHED

    @classmethod
    def of(cls, squared_norms: Floats, projections: Floats, target_energy: float, n_samples: float, *others: Any) -> Self:
        """What is unexplained from the energy of the target, of which sums of squares do not resolve less than a share."""
        unexplained = target_energy - float((projections**2 / squared_norms).sum())
        return cls(squared_norms, projections, max(unexplained, RESOLUTION * target_energy), n_samples, *others)

    @classmethod
    def of_block(cls, gram: Floats, projections: Floats, target_energy: float, n_samples: float) -> Self:
        """By the eigenvectors of an active block; directions whose length is rounding are left out."""
        squared_norms, vectors = np.linalg.eigh(gram)
        kept = squared_norms > ROUNDING * len(squared_norms) * squared_norms[-1]
        return cls.of(squared_norms[kept], projections @ vectors[:, kept], target_energy, n_samples)

    @cached_property
    def energies(self) -> Floats:
        """o^2 / p: what each function explains without a ridge."""
        return self.projections**2 / self.squared_norms

    @property
    def bounds(self) -> tuple[float, float]:
        """The ridges that are looked at."""
        longest = float(self.squared_norms.max())
        return self.searched[0] * longest, self.searched[1] * longest

    def residual(self, ridge: float) -> float:
        """q."""
        return self.unexplained + float(self.energies @ self._shrinkage(ridge) ** 2)

    def best_ridge(self, tol: float = 0.0, is_enough: Callable[[float], bool] = lambda ridge: False) -> float:
        """A scan over the logarithm, then Newton's method between the neighbours of the best; a bound where that is best.

        A step that promises to lower `_scan` by no more than twice `tol` is the last; `is_enough` is asked after each, and may end
        the search before.
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
        """What is to be least, at several ridges."""

    @abstractmethod
    def _derivatives(self, log_ridge: float) -> tuple[float, float]:
        """The first and the second, in the logarithm of the ridge."""

    def _shrinkage(self, ridge: float) -> Floats:
        return ridge / (self.squared_norms + ridge)

    def _stationary(self, left: float, at: float, right: float, tol: float, is_enough: Callable[[float], bool]) -> float:
        """Where the slope vanishes between `left` and `right`: Newton's method from `at`, halving where it would leave them."""
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
    """The ridge of least q / v^2."""

    def freedom(self, ridge: float) -> float:
        """v."""
        return max(self.n_samples - float((self.squared_norms / (self.squared_norms + ridge)).sum()), NO_FREEDOM * self.n_samples)

    def score(self, ridge: float) -> float:
        """-n/2 log(q / v^2)."""
        return self.n_samples * float(np.log(self.freedom(ridge)) - 0.5 * np.log(self.residual(ridge)))

    def _scan(self, ridges: Floats) -> Floats:
        """log q - 2 log v."""
        shrinkage = ridges[:, None] / (self.squared_norms + ridges[:, None])
        freedom = np.maximum(self.n_samples - (1.0 - shrinkage).sum(axis=1), NO_FREEDOM * self.n_samples)
        return np.log(self.unexplained + shrinkage**2 @ self.energies) - 2.0 * np.log(freedom)

    def _derivatives(self, log_ridge: float) -> tuple[float, float]:
        r"""Of log q - 2 log v in :math:`\log\lambda`, with :math:`ds/d\log\lambda = s(1 - s)`."""
        s = self._shrinkage(float(np.exp(log_ridge)))
        rate = s * (1.0 - s)
        residual = self.unexplained + float(self.energies @ s**2)
        freedom = max(self.n_samples - float((1.0 - s).sum()), NO_FREEDOM * self.n_samples)
        first = 2.0 * float(self.energies @ (s * rate)) / residual
        second = 2.0 * float(self.energies @ (s * rate * (2.0 - 3.0 * s))) / residual
        freed, freed_twice = float(rate.sum()) / freedom, float((rate * (1.0 - 2.0 * s)).sum()) / freedom
        return first - 2.0 * freed, second - first**2 - 2.0 * (freed_twice - freed**2)
