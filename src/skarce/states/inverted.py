r"""Functions that share one ridge, kept as the inverse of H, for steps that leave the ridge where it is.

Let :math:`Y = H^{-1}G_{A,:}`. A candidate k that enters, with :math:`y = Y_k` and :math:`\mu = G_k - g_k^TY` (so that
:math:`\mu_m=\varphi_k^TP\varphi_m`), and a function i that leaves, with :math:`c = H^{-1}e_i`, change both by one outer product:

.. math::
    H^{-1} \to \begin{pmatrix} H^{-1} + yy^T/s & -y/s \\ -y^T/s & 1/s \end{pmatrix}, \quad
    Y \to \begin{pmatrix} Y - y\mu^T/s \\ \mu^T/s \end{pmatrix}, \quad s = \mu_k + \lambda ; \qquad
    H^{-1} \to H^{-1} - cc^T/c_i, \quad Y \to Y - cY_i/c_i .

That costs O(L^2 + L M), where eigenvectors cost O(L^3 + L^2 M). Y is made when a quantity of the candidates is needed, and not
before, so functions can leave and come back for O(L^2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.state import RESOLUTION, RidgeSlopes, resolved_energy

MOST_STEPS = 64  # changes by outer products, after which rounding may matter
WELL_CONDITIONED = 1e6  # the largest ratio of two squared pivots of H for which its inverse has enough digits


class Cover(NamedTuple):
    """Quantities of all candidates.

    Attributes
    ----------
    solved : Y, shape (n_active, n_candidates)
    leftover : phi'P phi
    alignment : phi'P t
    """

    solved: Floats
    leftover: Floats
    alignment: Floats


class Inverted:
    """A set at one ridge. It never changes; a step makes another one.

    Attributes
    ----------
    moments : Moments
        What the data say about all candidates.
    active : array of shape (n_active,)
        The candidates in the set.
    ridge : float
        The ridge lambda of all functions.
    inverse : array of shape (n_active, n_active)
        H^-1.
    weights : array of shape (n_active,)
        H^-1 Phi_A't.
    energy : float
        t'P t.
    log_determinant : float
        log|I + Phi Phi'/lambda|.
    n_steps : int
        How many changes by outer products have led here.
    """

    def __init__(
        self,
        moments: Moments,
        active: Indices,
        ridge: float,
        inverse: Floats,
        weights: Floats,
        energy: float,
        log_determinant: float,
        n_steps: int,
        make_cover: Callable[[], Cover],
    ) -> None:
        self.moments, self.active, self.ridge, self.n_steps = moments, active, ridge, n_steps
        self.inverse, self.weights, self.log_determinant = inverse, weights, log_determinant
        self.energy = max(energy, RESOLUTION * moments.target_energy)
        self._make_cover: Callable[[], Cover] | None = make_cover

    @classmethod
    def of(cls, moments: Moments, active: Indices, ridge: float, n_steps: int = 0) -> Inverted | None:
        """Return a set, or None if its inverse would have too few digits."""
        matrix = moments.gram.block(active, active)
        matrix.flat[:: len(active) + 1] += ridge
        try:
            lower = cholesky(matrix)
        except NotPositiveDefiniteError:
            return None
        pivots = lower.diagonal() ** 2
        if pivots.max() > WELL_CONDITIONED * pivots.min():
            return None
        inverse, projections = symmetric_inverse(lower), moments.projections[active]
        weights = inverse @ projections
        energy = resolved_energy(moments) - float(weights @ projections)

        def cover() -> Cover:
            columns = moments.gram.columns(active)
            solved = inverse @ columns
            return Cover(
                solved, moments.gram.diagonal - np.einsum("am,am->m", columns, solved), moments.projections - weights @ columns
            )

        return cls(moments, active, ridge, inverse, weights, energy, float(np.log(pivots / ridge).sum()), n_steps, cover)

    def with_added(self, candidate: int) -> Inverted:
        """Return the set with one more candidate."""
        moments, (solved, leftover, alignment) = self.moments, self._cover
        column = moments.gram.column(candidate)
        left = column - column[self.active] @ solved
        total = max(float(leftover[candidate]), 0.0) + self.ridge
        own, weight, n = solved[:, candidate] / total, float(alignment[candidate]) / total, len(self.active)
        inverse = np.empty((n + 1, n + 1))
        np.add(self.inverse, np.multiply.outer(own, solved[:, candidate]), out=inverse[:n, :n])
        inverse[n, :n] = inverse[:n, n] = -own
        inverse[n, n] = 1.0 / total

        def cover() -> Cover:
            larger = np.empty((n + 1, len(left)))
            np.subtract(solved, np.multiply.outer(own, left), out=larger[:n])
            np.divide(left, total, out=larger[n])
            return Cover(larger, leftover - left * larger[n], alignment - weight * left)

        weights = np.append(self.weights - own * (weight * total), weight)
        return self._after(np.append(self.active, candidate), inverse, weights, -(weight**2) * total, total / self.ridge, cover)

    def without(self, position: int) -> Inverted:
        """Return the set without the function at this position."""
        column, kept = self.inverse[position], np.delete(np.arange(len(self.active)), position)
        spread, weight = float(column[position]), float(self.weights[position])
        share = column[kept] / spread
        inverse = self.inverse[kept[:, None], kept] - np.multiply.outer(share, column[kept])

        def cover() -> Cover:
            solved, leftover, alignment = self._cover
            moved = solved[position]
            smaller = solved[kept]
            smaller -= np.multiply.outer(share, moved)
            return Cover(smaller, leftover + moved**2 / spread, alignment + (weight / spread) * moved)

        weights = self.weights[kept] - share * weight
        return self._after(self.active[kept], inverse, weights, weight**2 / spread, self.ridge * spread, cover)

    def at_ridge(self, ridge: float) -> Inverted | None:
        """Return the same set at another ridge, or None if that has too few digits."""
        return Inverted.of(self.moments, self.active, ridge, self.n_steps + 1)

    def _after(
        self, active: Indices, inverse: Floats, weights: Floats, more: float, factor: float, cover: Callable[[], Cover]
    ) -> Inverted:
        """Return the set after a step that adds `more` to the energy and multiplies the determinant by `factor`."""
        log_determinant = self.log_determinant + float(np.log(factor))
        known = inverse, weights, self.energy + more, log_determinant
        return Inverted(self.moments, active, self.ridge, *known, self.n_steps + 1, cover)

    @cached_property
    def _cover(self) -> Cover:
        assert self._make_cover is not None
        made, self._make_cover = self._make_cover(), None  # the sets before this one are not needed any more
        return made

    def spread(self) -> Floats:
        """diag(H^-1)."""
        return self.inverse.diagonal()

    def squared_spread(self) -> Floats:
        """diag(H^-2)."""
        return np.einsum("ij,ij->i", self.inverse, self.inverse)

    @property
    def residual(self) -> float:
        return self.energy - self.ridge * float(self.weights @ self.weights)

    @property
    def freedom(self) -> float:
        return self.moments.n_samples - len(self.active) + self.ridge * float(self.inverse.trace())

    @cached_property
    def slopes(self) -> RidgeSlopes:
        r"""How the evidence changes with the ridge: sums over :math:`s=\lambda/(p+\lambda)`, as traces of H^-1."""
        n, ridge, weights = self.moments.n_samples, self.ridge, self.weights
        moved = self.inverse @ weights
        share = ridge * float(weights @ weights) / self.energy
        freed = ridge * float(self.inverse.trace()) - ridge**2 * float(self.squared_spread().sum())
        second = share - 2.0 * ridge**2 * float(weights @ moved) / self.energy
        determined = n - self.freedom
        return RidgeSlopes(n * share - determined, freed + n * (second - share**2), freed)

    @cached_property
    def candidates(self) -> tuple[Floats, Floats, Floats, Floats]:
        """`leftover`, `alignment`, `remainder` and `overlap` of all candidates."""
        solved, leftover, alignment = self._cover
        leftover = np.maximum(leftover, 0.0)
        remainder = np.clip(leftover - self.ridge * np.einsum("am,am->m", solved, solved), 0.0, leftover)
        return leftover, alignment, remainder, alignment - self.ridge * (self.weights @ solved)
