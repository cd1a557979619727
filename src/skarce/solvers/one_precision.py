r"""All functions under one precision by evidence: one-dimensional and smooth after a single eigendecomposition.

With the eigenvalues :math:`e_k` of Phi'Phi, the projections :math:`z_k` of the target on its eigenvectors, and
:math:`s_k = \rho/(e_k+\rho)` for the ridge :math:`\rho` (the precision of the weights relative to that of the noise),

.. math:: a(\rho) = t^TPt = q_0 + \sum_k \frac{z_k^2}{e_k}s_k, \qquad \log|I + \Phi\Phi^T/\rho| = \sum_k\log(1 + e_k/\rho),

where :math:`q_0` is what least squares leaves: sums of positive terms. With the noise at its optimum :math:`a/n` the log evidence
is :math:`-\frac n2\log a - \frac12\sum_k\log(1+e_k/\rho)` up to a constant (SSGE errata 5.3; note on profiled noise). Where the
prior variance v of the weights is given, :math:`\sigma^2 = \rho v`, and it is
:math:`-\frac n2\log\sigma^2 - a/(2\sigma^2) - \frac12\sum_k\log(1+e_k/\rho)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import lapack

from skarce._typing import Floats, Indices
from skarce.active_set import RESOLUTION
from skarce.moments import Gram

SEARCHED = (1e-13, 1e6)  # multiples of the largest eigenvalue: below, a ridge acts as none; above, nothing is fitted
PER_DECADE = 4
CLOSE = 1e-7  # the last step of Newton's method, in the logarithm of the ridge: what is left is its square


@dataclass(frozen=True)
class Directions:
    r"""The eigenvectors of Phi'Phi that are not rounding, found in a space of as many dimensions as there are.

    A pivoted Cholesky factorisation :math:`\Phi^T\Phi = R^TR` stops at the numerical rank r, which is at most the number of rows
    and of candidates. The small matrix :math:`RR^T = U\,\mathrm{diag}(e)\,U^T` has the same eigenvalues, and the eigenvectors of
    Phi'Phi are :math:`R^TUe^{-1/2}`.
    """

    eigenvalues: Floats
    root: Floats  # R with its columns in the order of the candidates, (r, n_candidates)
    vectors: Floats  # U
    pivots: Indices  # the r candidates that span the others, in the order in which they were chosen
    heights: Floats  # what was left of each when it was chosen: its squared distance from the span of those before

    @classmethod
    def of(cls, matrix: Floats) -> Directions:
        factor, pivots, rank, _ = lapack.dpstrf(matrix)
        pivots = pivots - 1
        rank = int(rank) if matrix.size and matrix.diagonal().max() > 0.0 else 0
        root = np.empty((rank, len(matrix)))
        root[:, pivots] = np.triu(factor[:rank])
        eigenvalues, vectors = np.linalg.eigh(root @ root.T)
        kept = eigenvalues > rank * np.finfo(float).eps * eigenvalues[-1:]  # below, z^2/e would be rounding over rounding
        heights = factor.diagonal()[:rank] ** 2
        return cls(eigenvalues[kept], root, vectors[:, kept], pivots[:rank].astype(np.intp), heights)

    def project(self, projections: Floats) -> Floats:
        """z = V'b for b = Phi't."""
        return self.vectors.T @ (self.root @ projections) / np.sqrt(self.eigenvalues)

    def weights(self, projected: Floats, ridge: float) -> Floats:
        """w = (Phi'Phi + rho I)^-1 b, nothing of it where rounding alone would be divided by a small ridge."""
        return self.root.T @ (self.vectors @ (projected / (np.sqrt(self.eigenvalues) * (self.eigenvalues + ridge))))


_KEPT: WeakKeyDictionary[Gram, Directions] = WeakKeyDictionary()


def directions_of(gram: Gram, candidates: Indices) -> Directions:
    """The directions of these candidates (all that are usable), decomposed once for all outputs on one Gram."""
    if gram not in _KEPT:
        _KEPT[gram] = Directions.of(gram.block(candidates, candidates))
    return _KEPT[gram]


@dataclass(frozen=True)
class OnePrecision:
    """All functions under one ridge, judged by evidence.

    Parameters
    ----------
    eigenvalues : e, positive
    projections : z
    target_energy : t't
    n_samples : n
    weight_variance : the prior variance of the weights where it is given; None where it is learned
    """

    eigenvalues: Floats
    projections: Floats
    target_energy: float
    n_samples: float
    weight_variance: float | None = None

    @cached_property
    def energies(self) -> Floats:
        """z^2 / e: what each direction explains without a ridge."""
        return self.projections**2 / self.eigenvalues

    @cached_property
    def unexplained(self) -> float:
        """q0; sums of squares do not resolve less than a share of t't."""
        return max(self.target_energy - float(self.energies.sum()), RESOLUTION * self.target_energy)

    @property
    def bounds(self) -> tuple[float, float]:
        """The ridges that are looked at."""
        lowest, highest = (factor * float(self.eigenvalues[-1]) for factor in SEARCHED)
        if self.weight_variance is not None:
            # The noise is less than all of the target, and rounding is felt below the lowest ridge.
            highest = max(10.0 * self.target_energy / (self.n_samples * self.weight_variance), 10.0 * lowest)
        return lowest, highest

    def score(self, ridge: float) -> float:
        """The log evidence up to a constant."""
        return float(self._scores(np.array([ridge]))[0])

    def best_ridge(self, tol: float = 1e-9, is_enough: Callable[[float], bool] = lambda ridge: False) -> float:
        """The ridge of largest evidence: a scan over its logarithm, then Newton's method; a bound where that is best.

        The last step promises to gain no more than `tol`; `is_enough` is asked after each, and may end the search before.
        """
        ridges = np.geomspace(*self.bounds, max(int(PER_DECADE * np.log10(self.bounds[1] / self.bounds[0])), 8))
        best = int(self._scores(ridges).argmax())
        if is_enough(float(ridges[best])) or best in (0, len(ridges) - 1):
            return float(ridges[best])
        left, at, right = np.log(ridges[best - 1 : best + 2]).tolist()
        return self._stationary(left, at, right, tol, is_enough)

    def _stationary(self, left: float, at: float, right: float, tol: float, is_enough: Callable[[float], bool]) -> float:
        """Newton's method from `at`, halving where it would leave the interval."""
        for _ in range(100):
            slope, curvature = self._derivatives(at)
            left, right = (at, right) if slope > 0.0 else (left, at)
            step = -slope / curvature if curvature < 0.0 else np.inf
            onward = at + step if left < at + step < right else 0.5 * (left + right)
            is_last = abs(slope * (onward - at)) <= tol or abs(onward - at) < CLOSE
            at = onward
            if is_enough(float(np.exp(at))) or is_last:
                break
        return float(np.exp(at))

    def _scores(self, ridges: Floats) -> Floats:
        left = self.unexplained + (ridges[:, None] / (self.eigenvalues + ridges[:, None])) @ self.energies
        log_determinants = np.log1p(self.eigenvalues / ridges[:, None]).sum(axis=1)
        if self.weight_variance is None:
            return -0.5 * (self.n_samples * np.log(left) + log_determinants)
        noise = ridges * self.weight_variance
        return -0.5 * (self.n_samples * np.log(noise) + left / noise + log_determinants)

    def _derivatives(self, log_ridge: float) -> tuple[float, float]:
        r"""Of the score in :math:`\log\rho`, with :math:`ds/d\log\rho = s(1-s)`."""
        ridge = float(np.exp(log_ridge))
        s = ridge / (self.eigenvalues + ridge)
        rate = s * (1.0 - s)
        left = self.unexplained + float(self.energies @ s)
        first, second = float(self.energies @ rate), float(self.energies @ (rate * (1.0 - 2.0 * s)))
        slope, curvature = 0.5 * float((1.0 - s).sum()), -0.5 * float(rate.sum())
        if self.weight_variance is None:
            n, change = self.n_samples, first / left
            return slope - 0.5 * n * change, curvature - 0.5 * n * (second / left - change**2)
        noise = ridge * self.weight_variance
        return (
            slope - 0.5 * (self.n_samples + (first - left) / noise),
            curvature - 0.5 * (second - 2.0 * first + left) / noise,
        )
