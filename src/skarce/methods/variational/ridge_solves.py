"""Weights for given ridges, again and again, by whichever of three systems is smallest at the time.

=========================  =======================================================================
few candidates             (Phi'Phi + Lambda) w = Phi't, Cholesky
more candidates than rows  w = Lambda^-1 Phi'r with (I + Phi Lambda^-1 Phi') r = t, Cholesky
more than memory holds     the first by conjugate gradients, preconditioned by its diagonal
=========================  =======================================================================
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import cholesky_of_copy, cholesky_of_nearly_singular
from skarce._memory import fits
from skarce._parallel import add_squares
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.moments.moments import LOST_DIGITS
from skarce.states.state import RESOLUTION

CG_TOLERANCE = 1e-4  # of the preconditioned residual at zero weights; soon there are few enough candidates for Cholesky
CG_STEPS = 100  # at most in one solve; the next solve continues from there


class Solution(NamedTuple):
    """The weights, and |t - Phi w|^2."""

    weights: Floats
    residual: float


class RidgeSystem(Protocol):
    """Solves for the weights of some candidates at any ridges."""

    def solve(self, ridges: Floats, start: Floats) -> Solution:
        """Return the weights at these ridges. `start` is a first guess, for systems that can use one."""
        ...

    def restricted_to(self, kept: Indices) -> RidgeSystem:
        """Return a system for some of the candidates, in the form that now suits them."""
        ...


def ridge_system(moments: Moments, candidates: Indices) -> RidgeSystem:
    """Return the system that suits the number of candidates, the number of rows, and the memory budget."""
    m, rows = len(candidates), moments.rows
    if rows is not None and m > moments.n_samples + 2.0:
        n = len(rows.target())  # rows that depend on each other, or weigh little, are more than they count for
        if m > n and fits(n, m):
            return ByRows.of(moments, candidates)
    if rows is None or fits(m, m):
        whole = moments.gram.whole() if 2 * m > moments.n_candidates else None
        gram = moments.gram if whole is None else whole
        return ByBlock(moments, candidates, gram.block(candidates, candidates))
    return ByConjugateGradients(moments, candidates)


class ByBlock:
    """Keeps Phi'Phi of the candidates. Ridges are written onto its diagonal; `squared_norms` is the original diagonal."""

    def __init__(self, moments: Moments, candidates: Indices, gram: Floats, squared_norms: Floats | None = None) -> None:
        self._moments, self._candidates, self._gram = moments, candidates, gram
        self._squared_norms = gram.diagonal().copy() if squared_norms is None else squared_norms
        self._projections = moments.projections[candidates]

    def solve(self, ridges: Floats, start: Floats) -> Solution:
        weights = self._weights(ridges)
        moments = self._moments
        # For these weights, |t - Phi w|^2 = t't - w'b - w'Lambda w.
        residual = float(moments.target_energy - weights @ self._projections - ridges @ weights**2)
        if residual < LOST_DIGITS * moments.target_energy:
            residual = moments.residual_energy(self._candidates, weights)
        return Solution(weights, max(residual, RESOLUTION * moments.target_energy))

    def restricted_to(self, kept: Indices) -> RidgeSystem:
        return ByBlock(self._moments, self._candidates[kept], self._gram[kept[:, None], kept], self._squared_norms[kept])

    def _weights(self, ridges: Floats) -> Floats:
        if not len(ridges):
            return np.empty(0)
        self._gram.flat[:: len(ridges) + 1] = self._squared_norms + ridges
        factor = cholesky_of_nearly_singular(self._gram, factorize=cholesky_of_copy)
        return lapack.dpotrs(factor, self._projections, lower=1)[0]


class ByRows:
    """Keeps Phi of the candidates, for more columns than rows."""

    def __init__(self, moments: Moments, candidates: Indices, phi: Floats, target: Floats) -> None:
        self._moments, self._candidates = moments, candidates
        self._phi, self._target = phi, target

    @classmethod
    def of(cls, moments: Moments, candidates: Indices) -> ByRows:
        assert moments.rows is not None
        return cls(moments, candidates, moments.rows.centered(candidates), moments.rows.target())

    def solve(self, ridges: Floats, start: Floats) -> Solution:
        system = np.eye(len(self._target))
        add_squares((self._phi / np.sqrt(ridges)).T, system)
        residual, _ = lapack.dpotrs(cholesky_of_nearly_singular(system), self._target, lower=1)
        energy = max(float(residual @ residual), RESOLUTION * self._moments.target_energy)
        return Solution((self._phi.T @ residual) / ridges, energy)

    def restricted_to(self, kept: Indices) -> RidgeSystem:
        if len(kept) > len(self._target):
            return ByRows(self._moments, self._candidates[kept], self._phi[:, kept], self._target)
        phi = self._phi[:, kept]
        gram = np.zeros((len(kept), len(kept)))
        add_squares(phi, gram)
        return ByBlock(self._moments, self._candidates[kept], gram)


class ByConjugateGradients:
    """Needs only products with Phi'Phi: from Phi if it fits the memory budget, else from a pass over the rows."""

    def __init__(self, moments: Moments, candidates: Indices, tolerance: float = CG_TOLERANCE, max_steps: int = CG_STEPS) -> None:
        assert moments.rows is not None
        self._moments, self._rows, self._candidates = moments, moments.rows, candidates
        self._tolerance, self._max_steps = tolerance, max_steps
        self._diagonal = moments.gram.diagonal[candidates]
        self._projections = moments.projections[candidates]
        stored = fits(len(moments.rows.target()), len(candidates))
        self._phi = moments.rows.centered(candidates) if stored else None

    def solve(self, ridges: Floats, start: Floats) -> Solution:
        scale = self._diagonal + ridges
        weights = start.copy()
        rest = self._projections - self._product(weights) - ridges * weights
        direction = descent = rest / scale
        size = float(rest @ descent)
        enough = self._tolerance**2 * float(self._projections @ (self._projections / scale))
        for _ in range(self._max_steps):
            if size <= enough:
                break
            image = self._product(direction) + ridges * direction
            step = size / float(direction @ image)
            weights += step * direction
            rest -= step * image
            descent = rest / scale
            size, before = float(rest @ descent), size
            direction = descent + (size / before) * direction
        residual = self._rows.residual_energy(self._candidates, weights)
        return Solution(weights, max(residual, RESOLUTION * self._moments.target_energy))

    def restricted_to(self, kept: Indices) -> RidgeSystem:
        return ridge_system(self._moments, self._candidates[kept])

    def _product(self, weights: Floats) -> Floats:
        """Return Phi'Phi w."""
        if self._phi is not None:
            return (self._phi @ weights) @ self._phi
        return self._rows.gram_product(self._candidates, weights)
