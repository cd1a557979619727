r"""Least squares with an L1 penalty on a Gram matrix: exact minimisers by an active-set method, warm from one penalty to the next.

Minimises :math:`J(a) = \frac12|t - \Phi a|^2 + \mu|a|_1`. With :math:`c = \Phi^T(t - \Phi a)`, a minimiser is where
:math:`c_i = \mu\operatorname{sign}a_i` for the members (:math:`a_i \ne 0`) and :math:`|c_i| \le \mu` for all others.

For given members and signs the minimiser is linear, :math:`G a = b - \mu s`. A step goes towards it: all the way where no sign
changes; else to the least J on the way, or to the end of it with the weights of changed sign at zero, whichever is lower. J never
rises, and no set of members and signs can return. Then the candidates that violate their condition most enter together. One that
depends on the members takes the place of one of them: J falls along the direction that leaves the fit as it is.

A step costs O(n_members * n_candidates) and a factorisation where the members changed; the rows of G that belong to members lie
side by side, so that nothing else of G is touched and columns can come one at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import NotPositiveDefiniteError, cholesky, cholesky_of_nearly_singular
from skarce._typing import Floats, Indices
from skarce.moments import Moments

ALIKE = 0.8  # candidates whose squared cosine is above do not enter together
FEWEST_TOGETHER = 4  # this many may enter in any case, and as many as an eighth of the members
DEPENDENT = 1e-11  # a candidate of which less than this share is left depends on the members
RISES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)  # of the diagonal, where members are dependent to working precision
STALLED = 3  # steps in a row that do not lower J: rounding is all that is left
GRAIN = 1e-16  # of b'a: J does not notice a smaller fall


class L1ActiveSet:
    """Members, weights and what is left for every candidate; `minimize` moves them to the minimiser at a penalty.

    Attributes
    ----------
    members : candidates whose weights are not zero, in the order in which they entered
    weights : a, one for each member
    correlations : c = Phi'(t - Phi a), one for each candidate
    """

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._b = moments.projections
        self._rows = np.empty((16, moments.n_candidates))
        self._lower = np.empty((0, 0))  # Cholesky factor of the Gram of the first so many members
        self.members = np.empty(0, dtype=np.intp)
        self.weights = np.empty(0)
        self.correlations = self._b.copy()

    @property
    def magnitudes(self) -> Floats:
        """|a|: at a minimiser the weights are those of ridges mu / |a|."""
        return np.abs(self.weights)

    @property
    def gram(self) -> Floats:
        """Of the members, shape (n_members, n_members)."""
        return self._rows[: len(self.members)].take(self.members, axis=1)

    def objective(self, penalty: float) -> float:
        """J - t't/2 = mu |a|_1 - a'(b + c)/2."""
        both = self._b[self.members] + self.correlations[self.members]
        return float(penalty * np.abs(self.weights).sum() - 0.5 * self.weights @ both)

    def violation(self, penalty: float) -> float:
        """By how much the worst of the optimality conditions fails."""
        excess = np.abs(self.correlations) - penalty
        excess[self.members] = np.abs(self.correlations[self.members] - penalty * np.sign(self.weights))
        return float(excess.max(initial=0.0))

    def minimize(self, penalty: float, tol: float, max_steps: int) -> int:
        """Go to the minimiser, to where no condition fails by more than `tol * penalty`; returns the steps, `max_steps` at most."""
        signs, steps, stalled = np.sign(self.weights), 0, 0
        while steps < max_steps and stalled < STALLED:
            if not self._is_settled(signs, penalty, tol):
                fell, signs = self._step(signs, penalty)
                steps, stalled = steps + 1, 0 if fell else stalled + 1
            elif len(entering := self._entering(penalty * (1.0 + tol))):
                signs, has_swapped, fell = self._enter(entering, signs, penalty)
                steps, stalled = steps + has_swapped, stalled if fell else stalled + 1
            else:
                self.correlations = self._b - self.weights @ self._rows[: len(self.members)]
                if self.violation(penalty) <= tol * penalty:
                    return steps
                stalled += 1
        self._keep(self.weights != 0.0)
        return steps

    def _is_settled(self, signs: Floats, penalty: float, tol: float) -> bool:
        gap = np.abs(self.correlations[self.members] - penalty * signs).max(initial=0.0)
        return bool(gap <= 0.1 * tol * penalty) and bool((self.weights != 0.0).all())

    def _step(self, signs: Floats, penalty: float) -> tuple[bool, Floats]:
        """Towards the minimiser for these members and signs. Returns whether J fell, and the signs after it."""
        uphill = penalty * signs - self.correlations[self.members]
        direction = -self._solve(uphill)
        end, moved = self.weights + direction, direction @ self._rows[: len(self.members)]  # moved is G d, for every candidate
        crossing, curvature = end * signs <= 0.0, float(moved[self.members] @ direction)
        if not crossing.any():
            self._move(end, moved)
            return self._is_noticed(0.5 * curvature), signs
        way = _best_length(self.weights, direction, signs, uphill, curvature, penalty)
        clamped = np.where(crossing, 0.0, end)
        shift = (clamped - self.weights) @ self._rows[: len(self.members)]
        fall = self.objective(penalty) - self._objective_at(clamped, shift, penalty)
        if fall > 0.5 * way.gain:
            self._move(clamped, shift)
        elif way.length > 0.0:
            self._move(_rounded(self.weights, way.length * direction), way.length * moved)
        else:  # members that have just entered and would leave on the wrong side
            return True, self._without_zeros(signs, keeping=~crossing)
        return self._is_noticed(max(fall, way.gain)), self._without_zeros(signs)

    def _swap(self, signs: Floats, penalty: float) -> tuple[bool, Floats]:
        """The last member depends on the others: along the direction that leaves the fit as it is, to the least J."""
        last = len(self.members) - 1
        inward = lapack.dpotrs(self._lower, self._rows[last, self.members[:last]], lower=1)[0] if last else np.empty(0)
        direction = signs[last] * np.append(-inward, 1.0)
        moved = direction @ self._rows[: last + 1]
        uphill = penalty * signs - self.correlations[self.members]
        curvature = max(float(moved[self.members] @ direction), 0.0)
        way = _best_length(self.weights, direction, signs, uphill, curvature, penalty, longest=np.inf)
        if way.length > 0.0:
            self._move(_rounded(self.weights, way.length * direction), way.length * moved)
        return self._is_noticed(way.gain), self._without_zeros(signs)

    def _without_zeros(self, signs: Floats, keeping: Floats | bool = False) -> Floats:
        """Drop the members without weight but those to keep; the signs of the others."""
        kept = (self.weights != 0.0) | keeping
        signs = np.where(self.weights != 0.0, np.sign(self.weights), signs)[kept]
        self._keep(kept)
        return signs

    def _objective_at(self, weights: Floats, shift: Floats, penalty: float) -> float:
        both = self._b[self.members] + self.correlations[self.members] - shift[self.members]
        return float(penalty * np.abs(weights).sum() - 0.5 * weights @ both)

    def _move(self, weights: Floats, shift: Floats) -> None:
        self.weights = weights
        self.correlations = self.correlations - shift

    def _is_noticed(self, fall: float) -> bool:
        """Whether J fell by more than rounding may pretend."""
        return bool(fall > GRAIN * abs(float(self.weights @ self._b[self.members])))

    def _entering(self, bound: float) -> Indices:
        """The candidates that violate their condition most, no two of them alike."""
        excess = np.abs(self.correlations)
        excess[self.members] = 0.0
        some = np.flatnonzero(excess > bound)
        room = max(FEWEST_TOGETHER, len(self.members) // 8)
        if len(some) <= 1:
            return some
        some = some[np.argsort(-excess[some], kind="stable")][: 4 * room]
        squared_norms = self._moments.gram.diagonal
        block = self._moments.gram.block(some, some)
        cosines = block**2 / np.multiply.outer(squared_norms[some], squared_norms[some])
        chosen: list[int] = []
        for i in range(len(some)):
            if len(chosen) < room and not (cosines[i, chosen] > ALIKE).any():
                chosen.append(i)
        return some[chosen]

    def _enter(self, entering: Indices, signs: Floats, penalty: float) -> tuple[Floats, bool, bool]:
        """Let candidates in: all, or the first where they depend on each other; one that depends on the members swaps with one.

        Returns the signs, whether that was a step, and whether it was of use.
        """
        self._complete()
        size = len(self.members)
        self._reserve(size + len(entering))
        self._rows[size : size + len(entering)] = self._moments.gram.columns(entering)
        for some in (entering, entering[:1]):
            members = np.concatenate([self.members, some])
            lower = _bordered(self._lower, self._rows[size : len(members)].take(members, axis=1))
            if lower is not None:
                break
        self.members = members
        self.weights = np.concatenate([self.weights, np.zeros(len(some))])
        signs = np.concatenate([signs, np.sign(self.correlations[some])])
        if lower is not None:
            self._lower = lower
            return signs, False, True
        fell, signs = self._swap(signs, penalty)
        return signs, True, fell

    def _reserve(self, size: int) -> None:
        if size > len(self._rows):
            larger = np.empty((2 * size, self._moments.n_candidates))
            larger[: len(self.members)] = self._rows[: len(self.members)]
            self._rows = larger

    def _keep(self, kept: Floats) -> None:
        if kept.all():
            return
        places = np.flatnonzero(kept)
        first = int(np.argmin(kept))
        self._rows[first : len(places)] = self._rows[places[first:]]
        self.members, self.weights, self._lower = self.members[places], self.weights[places], self._lower[:first, :first]

    def _solve(self, right: Floats) -> Floats:
        """G_AA^-1 right."""
        self._complete()
        return lapack.dpotrs(self._lower, right, lower=1)[0] if len(right) else right

    def _complete(self) -> None:
        """Factor what is not yet factored, with the least rise of the diagonal that lets that be."""
        size, known = len(self.members), len(self._lower)
        if known < size:
            bordered = _bordered(self._lower, self._rows[known:size].take(self.members, axis=1)) if known else None
            self._lower = cholesky_of_nearly_singular(self.gram, RISES) if bordered is None else bordered


def _bordered(lower: Floats, rows: Floats) -> Floats | None:
    """The factor with rows for new members, or None where they depend on the others."""
    size, total = len(lower), rows.shape[1]
    across = lapack.dtrtrs(lower, np.asfortranarray(rows[:, :size].T), lower=1)[0].T if size else rows[:, :0]
    try:
        corner = cholesky(rows[:, size:] - across @ across.T)
    except NotPositiveDefiniteError:
        return None
    if not (corner.diagonal() ** 2 > DEPENDENT * rows[:, size:].diagonal()).all():
        return None
    bordered = np.zeros((total, total), order="F")
    bordered[:size, :size], bordered[size:, :size], bordered[size:, size:] = lower, across, corner
    return bordered


def _rounded(weights: Floats, step: Floats) -> Floats:
    """weights + step, zero where only rounding is left."""
    after = weights + step
    after[np.abs(after) <= 1e-15 * np.abs(step)] = 0.0
    return after


class Way(NamedTuple):
    """How far to go along a direction, and how far J falls until there."""

    length: float
    gain: float


def _best_length(
    weights: Floats, direction: Floats, signs: Floats, uphill: Floats, curvature: float, penalty: float, longest: float = 1.0
) -> Way:
    """Where J is least on the way from `weights` along `direction`.

    Along the way J is a convex quadratic whose slope jumps up by 2 mu |d_i| where weight i changes its sign.
    """
    slope = float(uphill @ direction)
    towards = np.flatnonzero(direction * signs < 0.0)
    where = -weights[towards] / direction[towards]
    order = np.argsort(where, kind="stable")
    where, jumps = where[order], 2.0 * penalty * np.abs(direction[towards[order]])
    after = slope + curvature * where + np.cumsum(jumps)  # the slope just behind each crossing
    first = int(np.argmax(after >= 0.0)) if (after >= 0.0).any() else len(where)
    jumped = float(jumps[:first].sum())
    free = -(slope + jumped) / curvature if curvature > 0.0 else np.inf
    length = max(min(free, where[first] if first < len(where) else longest, longest), 0.0)
    if not np.isfinite(length):
        return Way(0.0, 0.0)
    kinks = float(jumps[:first] @ np.maximum(length - where[:first], 0.0))
    return Way(float(length), -(slope * length + 0.5 * curvature * length**2 + kinks))
