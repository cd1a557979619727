r"""Functions that share one ridge, kept as the inverse of H, for steps that leave the ridge where it is.

A function that enters or leaves changes H^-1 by one outer product. For a candidate k that enters, let :math:`y = H^{-1}g_k` and
:math:`s = \varphi_k^TP\varphi_k + \lambda`; for a function i that leaves, :math:`c = H^{-1}e_i`. Then

.. math::
    H^{-1} \to \begin{pmatrix} H^{-1} & 0 \\ 0 & 0 \end{pmatrix} + \sigma vv^T, \quad
    v = \begin{pmatrix} -y \\ 1 \end{pmatrix}, \; \sigma = \frac1s, \quad\text{or}\quad
    H^{-1} \to H^{-1} + \sigma vv^T, \quad v = c, \; \sigma = -\frac1{c_i},

and row and column i, which are zero then, go. With :math:`u = H^{-1}v` before the step (padded by a zero if a function enters), the
weights change by a multiple :math:`\omega v`, and everything else by products with v and u. In particular, with
:math:`\rho = G_{A,:}^Tv` and :math:`\chi = G_{A,:}^Tu`, and with :math:`\ell_m = |H^{-1}\Phi_A^T\varphi_m|^2`,

.. math::
    \gamma \to \gamma - \sigma\rho^2, \quad r \to r - \omega\rho, \quad
    \ell \to \ell + 2\sigma\rho\chi + \sigma^2|v|^2\rho^2, \quad u_m = \gamma_m - \lambda\ell_m .

That costs O(L^2 + L M) with a small factor, where eigenvectors cost O(L^3 + L^2 M). Candidates see the steps when one of their
quantities is needed, and not before, so functions can leave and come back for O(L^2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import log
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas

from skarce._linalg import NotPositiveDefiniteError, add_square, cholesky, inverse_of_lower, squared_lower
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.gram_rows import GramRows
from skarce.states.state import RESOLUTION, RidgeSlopes, resolved_energy

MOST_STEPS = 256  # changes by outer products and of the ridge, after which all ridges are compared again
WELL_CONDITIONED = 1e6  # the largest ratio of two squared pivots of H for which its inverse has enough digits


class Cover(NamedTuple):
    """Quantities of all candidates.

    Attributes
    ----------
    leftover : phi'P phi
    alignment : phi'P t
    lengths : |H^-1 Phi_A'phi|^2
    """

    leftover: Floats
    alignment: Floats
    lengths: Floats


class Change(NamedTuple):
    """What an outer product changes.

    Attributes
    ----------
    functions : the functions that v and u belong to
    vector : v
    solved : u = H^-1 v, before the step
    factor : sigma
    weight : omega
    squared : |v|^2
    """

    functions: Indices
    vector: Floats
    solved: Floats
    factor: float
    weight: float
    squared: float

    def seen(self, rows: GramRows, cover: Cover) -> Cover:
        """Return the quantities of the candidates after the step."""
        along, twice = rows.products(self.functions, self.vector, self.solved)
        scaled = self.factor * along
        return Cover(
            cover.leftover - scaled * along,
            cover.alignment - self.weight * along,
            cover.lengths + scaled * (2.0 * twice + self.squared * scaled),
        )

    def moved(self, vectors: Floats) -> Floats:
        """Return the weights w, H^-1 w and diag(H^-2) after the step, as rows."""
        factor, weight, squared = self.factor, self.weight, self.squared
        steps = [
            [weight, 0.0],
            [factor * (float(self.vector @ vectors[0]) + weight * squared), weight],
        ]
        after = vectors.copy()
        after[:2] += np.array(steps) @ np.stack([self.vector, self.solved])
        after[2] += self.vector * ((2.0 * factor) * self.solved + (factor**2 * squared) * self.vector)
        return after

    def cubed(self, cubes: float) -> float:
        """Return tr H^-3 after the step."""
        factor, squared = self.factor, self.squared
        both, solved = float(self.vector @ self.solved), float(self.solved @ self.solved)
        return cubes + factor * (3.0 * solved + factor * squared * (3.0 * both + factor * squared**2))


class Sight:
    """The quantities of all candidates, which are computed when they are first asked for.

    Parameters
    ----------
    rows : GramRows
        Rows of the Gram matrix.
    make : callable or None
        () -> the quantities. None if there was a step before.
    before : Sight, default=None
        What was seen before the last step. None if there was no step.
    change : Change, default=None
        The last step.
    """

    def __init__(
        self, rows: GramRows, make: Callable[[], Cover] | None, before: Sight | None = None, change: Change | None = None
    ) -> None:
        self._rows, self._make, self._before, self._change = rows, make, before, change
        self._cover: Cover | None = None

    def after(self, change: Change) -> Sight:
        """Return what is seen after one more step."""
        return Sight(self._rows, None, self, change)

    @property
    def cover(self) -> Cover:
        """The quantities. All steps since the last look are seen now."""
        unseen, last = [], self
        while last._cover is None and last._before is not None:
            unseen.append(last._change)
            last = last._before
        cover = last._known()
        for change in reversed(unseen):
            assert change is not None
            cover = change.seen(self._rows, cover)
        self._cover, self._before, self._change = cover, None, None  # what was before is not needed any more
        return cover

    def _known(self) -> Cover:
        if self._cover is None:
            assert self._make is not None
            self._cover, self._make = self._make(), None
        return self._cover


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
        w = H^-1 Phi_A't.
    solved_weights : array of shape (n_active,)
        H^-1 w.
    energy : float
        t'P t.
    log_determinant : float
        log|I + Phi Phi'/lambda|.
    cubes : float
        tr H^-3.
    n_steps : int
        How many changes have led here.
    """

    def __init__(
        self,
        moments: Moments,
        active: Indices,
        ridge: float,
        inverse: Floats,
        vectors: Floats,
        sums: tuple[float, float, float],
        n_steps: int,
        rows: GramRows,
        sight: Sight | None = None,
    ) -> None:
        self.moments, self.active, self.ridge, self.n_steps = moments, active, ridge, n_steps
        self.inverse, self._vectors, self._rows = inverse, vectors, rows
        self.weights, self.solved_weights, self._squared_spread = vectors
        energy, self.log_determinant, self.cubes = sums
        self.energy = max(energy, RESOLUTION * moments.target_energy)
        self._sight = sight or Sight(rows, self._first_cover)

    @classmethod
    def of(cls, moments: Moments, active: Indices, ridge: float, n_steps: int = 0, rows: GramRows | None = None) -> Inverted | None:
        """Return a set, or None if its inverse would have too few digits. `rows` are those of another set."""
        matrix = moments.gram.block(active, active)
        matrix.flat[:: len(active) + 1] += ridge
        try:
            lower = cholesky(matrix)
        except NotPositiveDefiniteError:
            return None
        pivots = lower.diagonal() ** 2
        if pivots.max() > WELL_CONDITIONED * pivots.min():
            return None
        root, projections = inverse_of_lower(lower), moments.projections[active]
        inverse = squared_lower(root)
        weights = inverse @ projections
        thirds = blas.dtrmm(1.0, root.T, inverse.T, side=1)  # H^-1 L^-T; the sum of its squares is tr H^-3
        sums = (
            resolved_energy(moments) - float(weights @ projections),
            float(np.log(pivots / ridge).sum()),
            float(np.vdot(thirds, thirds)),
        )
        vectors = np.stack([weights, inverse @ weights, np.einsum("ij,ij->i", inverse, inverse)])
        return cls(moments, active, ridge, inverse, vectors, sums, n_steps, GramRows(moments.gram) if rows is None else rows)

    def with_added(self, candidate: int) -> Inverted:
        """Return the set with one more candidate."""
        cover, n = self._sight.cover, len(self.active)
        own = self.inverse @ self.moments.gram.column(candidate)[self.active]
        total = max(float(cover.leftover[candidate]), 0.0) + self.ridge
        weight = float(cover.alignment[candidate]) / total
        active = np.append(self.active, candidate)
        change = Change(
            active, np.append(-own, 1.0), np.append(-(self.inverse @ own), 0.0), 1.0 / total, weight, float(own @ own) + 1.0
        )
        vectors = np.zeros((3, n + 1))
        vectors[:, :n] = self._vectors
        inverse = np.zeros((n + 1, n + 1))
        inverse[:n, :n] = self.inverse
        add_square(inverse, change.factor, change.vector)
        return self._after(change, active, inverse, change.moved(vectors), -(weight**2) * total, total / self.ridge)

    def without(self, position: int) -> Inverted:
        """Return the set without the function at this position."""
        column, at = self.inverse[position], position
        spread, weight, n = float(column[position]), float(self.weights[position]), len(self.active)
        change = Change(self.active, column, self.inverse @ column, -1.0 / spread, -weight / spread, float(column @ column))
        active, own, vectors = np.empty(n - 1, dtype=np.intp), np.empty(n - 1), np.empty((3, n - 1))
        inverse = np.empty((n - 1, n - 1))
        moved = change.moved(self._vectors)
        sides = (slice(at), slice(at)), (slice(at, None), slice(at + 1, None))
        for rows, of_rows in sides:
            active[rows], own[rows], vectors[:, rows] = self.active[of_rows], column[of_rows], moved[:, of_rows]
            for columns, of_columns in sides:
                inverse[rows, columns] = self.inverse[of_rows, of_columns]
        add_square(inverse, change.factor, own)
        return self._after(change, active, inverse, vectors, weight**2 / spread, self.ridge * spread)

    def at_ridge(self, ridge: float) -> Inverted | None:
        """Return the same set at another ridge, or None if that has too few digits."""
        return Inverted.of(self.moments, self.active, ridge, self.n_steps + 1, self._rows)

    def _after(self, change: Change, active: Indices, inverse: Floats, vectors: Floats, more: float, times: float) -> Inverted:
        """Return the set after a step that adds `more` to the energy and multiplies the determinant by `times`."""
        sums = self.energy + more, self.log_determinant + log(times), change.cubed(self.cubes)
        sight = self._sight.after(change)
        return Inverted(self.moments, active, self.ridge, inverse, vectors, sums, self.n_steps + 1, self._rows, sight)

    def _first_cover(self) -> Cover:
        """Return the quantities of all candidates. Those of the active functions follow from H^-1."""
        moments, ridge, active = self.moments, self.ridge, self.active
        is_outside = np.ones(moments.n_candidates, dtype=bool)
        is_outside[active] = False
        others = np.flatnonzero(is_outside)
        columns = self._rows.columns(active, others)
        solved = self.inverse @ columns
        leftover, alignment, lengths = (np.empty(moments.n_candidates) for _ in range(3))
        leftover[others] = moments.gram.diagonal[others] - np.einsum("am,am->m", columns, solved)
        alignment[others] = moments.projections[others] - self.weights @ columns
        lengths[others] = np.einsum("am,am->m", solved, solved)
        shares = ridge * self.spread()
        leftover[active], alignment[active] = ridge * (1.0 - shares), ridge * self.weights
        lengths[active] = 1.0 - 2.0 * shares + ridge**2 * self._squared_spread
        return Cover(leftover, alignment, lengths)

    def spread(self) -> Floats:
        """diag(H^-1)."""
        return self.inverse.diagonal()

    def squared_spread(self) -> Floats:
        """diag(H^-2)."""
        return self._squared_spread

    @property
    def residual(self) -> float:
        return self.energy - self.ridge * float(self.weights @ self.weights)

    @cached_property
    def freedom(self) -> float:
        return self.moments.n_samples - len(self.active) + self.ridge * float(self.inverse.trace())

    @cached_property
    def slopes(self) -> RidgeSlopes:
        r"""How the evidence changes with the ridge: sums over :math:`s=\lambda/(p+\lambda)`, as traces of powers of H^-1.

        Derivatives of :math:`\sum es` are sums of polynomials in s. The fourth one of the log determinant is at most `freed`.
        """
        n, ridge, energy, weights, moved = self.moments.n_samples, self.ridge, self.energy, self.weights, self.solved_weights
        once, twice, thrice = (float(left @ right) for left, right in ((weights, weights), (weights, moved), (moved, moved)))
        fourth = float(moved @ (self.inverse @ moved))
        of_energy = (
            ridge * once / energy,
            (ridge * once - 2.0 * ridge**2 * twice) / energy,
            (ridge * once - 6.0 * ridge**2 * twice + 6.0 * ridge**3 * thrice) / energy,
            (ridge * once - 14.0 * ridge**2 * twice + 36.0 * ridge**3 * thrice - 24.0 * ridge**4 * fourth) / energy,
        )
        first, second, third, fourth = cumulants(*of_energy)
        determined = n - self.freedom
        traces = len(weights) - determined, ridge**2 * float(self._squared_spread.sum()), ridge**3 * self.cubes
        freed, freed_more = traces[0] - traces[1], traces[0] - 3.0 * traces[1] + 2.0 * traces[2]
        return RidgeSlopes(
            n * first - determined, freed + n * second, freed_more + n * third, freed + n * abs(fourth), freed, freed_more
        )

    @cached_property
    def nearby(self) -> Nearby | None:
        """The set at the best ridge, or None if the evidence has no maximum near this one."""
        return Nearby(self, self.slopes) if self.slopes.has_minimum_nearby else None

    @property
    def drift(self) -> float:
        """How far the updated alignments of the active functions are from lambda w, relative to their size."""
        off = self._sight.cover.alignment[self.active] - self.ridge * self.weights
        scale = np.sqrt(self.moments.gram.diagonal[self.active] * self.energy)
        return float((np.abs(off) / scale).max()) if len(off) else 0.0

    @cached_property
    def candidates(self) -> tuple[Floats, Floats, Floats]:
        """`leftover`, `alignment` and `remainder` of all candidates."""
        leftover, alignment, lengths = self._sight.cover
        leftover = np.maximum(leftover, 0.0)
        return leftover, alignment, np.clip(leftover - self.ridge * lengths, 0.0, leftover)

    @cached_property
    def overlap(self) -> Floats:
        """phi'P^2 t of all candidates."""
        (explained,) = self._rows.products(self.active, self.solved_weights)
        return self._sight.cover.alignment - self.ridge * explained


class Nearby:
    """A set at the best ridge near the one that is held, to first order in the logarithm of the ridge.

    Parameters
    ----------
    held : Inverted
        The set at the ridge that is held.
    slopes : RidgeSlopes
        How the evidence changes with the ridge.
    """

    noise: float | None = None

    def __init__(self, held: Inverted, slopes: RidgeSlopes) -> None:
        self._held, self._step = held, slopes.step
        self.ridges = np.full(len(held.active), held.ridge * np.exp(self._step))
        self.energy = held.energy + self._step * held.ridge * float(held.weights @ held.weights)
        self.freedom = held.freedom + slopes.more_freedom

    @property
    def weights(self) -> Floats:
        """The weights, with dw = -lambda H^-1 w."""
        return self._held.weights - (self._step * self._held.ridge) * self._held.solved_weights

    def spread(self) -> Floats:
        """diag(H^-1)."""
        return self._held.spread() - (self._step * self._held.ridge) * self._held.squared_spread()

    def squared_spread(self) -> Floats:
        """diag(H^-2) at the ridge that is held. It matters little."""
        return self._held.squared_spread()

    def well_determined(self) -> float:
        return self._held.moments.n_samples - self.freedom

    @cached_property
    def leftover(self) -> Floats:
        """phi'P phi of all candidates, whose slope is phi'P phi - phi'P^2 phi."""
        leftover, _, remainder = self._held.candidates
        return leftover + self._step * (leftover - remainder)

    @cached_property
    def alignment(self) -> Floats:
        """phi'P t of all candidates."""
        alignment = self._held.candidates[1]
        return alignment + self._step * (alignment - self._held.overlap)

    @property
    def remainder(self) -> Floats:
        """phi'P^2 phi of all candidates at the ridge that is held."""
        return self._held.candidates[2]


def cumulants(first: float, second: float, third: float, fourth: float) -> tuple[float, float, float, float]:
    """Return the derivatives of log a from those of a, divided by a."""
    return (
        first,
        second - first**2,
        third - 3.0 * first * second + 2.0 * first**3,
        fourth - 4.0 * first * third - 3.0 * second**2 + 12.0 * first**2 * second - 6.0 * first**4,
    )
