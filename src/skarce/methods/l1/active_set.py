r"""Least squares with an L1 penalty on a Gram matrix: exact minimizers by an active-set method, warm-started along the path.

Minimizes :math:`J(a) = \frac12|t - \Phi a|^2 + \mu|a|_1`. With :math:`c = \Phi^T(t - \Phi a)`, a is a minimizer if and only if
:math:`c_i = \mu\operatorname{sign}a_i` for the members (:math:`a_i \ne 0`) and :math:`|c_i| \le \mu` for all others.

For given members and signs the minimizer is linear, :math:`G a = b - \mu s`. A step moves toward it. If no sign changes, the step
goes all the way. Otherwise it goes to the lower of two points: the least J on the way, or the end with the weights of changed sign
set to zero. J never rises, and no set of members and signs can return. Then the candidates that violate their condition most enter
together. A candidate that depends on the members replaces one of them: J falls along the direction that does not change the fit.

A step costs O(n_members * n_candidates), plus a factorization if the members changed. The rows of G that belong to members are
stored contiguously, so no other part of G is touched, and columns can be computed one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import SURE_RISES, NotPositiveDefiniteError, cholesky, cholesky_of_nearly_singular
from skarce._typing import Floats, Indices
from skarce.moments import Moments

ALIKE = 0.8  # candidates whose squared cosine is larger do not enter together
FEWEST_TOGETHER = 4  # this many may always enter together, or more: an eighth of the number of members
DEPENDENT = 1e-11  # a candidate depends on the members if they cover all but this share of it
FINE_RISES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)  # of the diagonal, if members are dependent to working precision
RISES = (*FINE_RISES, *(rise for rise in SURE_RISES if rise > FINE_RISES[-1]))
STALLED = 3  # after this many steps in a row that do not lower J, only rounding is left
GRAIN = 1e-16  # of b'a: a smaller fall of J is rounding


class L1ActiveSet:
    """Members, weights and correlations. `minimize` moves them to the minimizer at a penalty.

    Attributes
    ----------
    members : ndarray of shape (n_members,)
        The candidates with nonzero weights, in the order in which they entered.
    weights : ndarray of shape (n_members,)
        a, one for each member.
    correlations : ndarray of shape (n_candidates,)
        c = Phi'(t - Phi a).
    """

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._b = moments.projections
        self._rows = np.empty((16, moments.n_candidates))
        self._lower = np.empty((0, 0))  # Cholesky factor of the Gram matrix of the first members, possibly not of all
        self.members = np.empty(0, dtype=np.intp)
        self.weights = np.empty(0)
        self.correlations = self._b.copy()

    @property
    def magnitudes(self) -> Floats:
        """|a|. At a minimizer the weights are the ridge estimate with ridges mu / |a|."""
        return np.abs(self.weights)

    @property
    def gram(self) -> Floats:
        """Gram matrix of the members, shape (n_members, n_members)."""
        return self._rows[: len(self.members)].take(self.members, axis=1)

    def objective(self, penalty: float) -> float:
        """Return J - t't/2 = mu |a|_1 - a'(b + c)/2."""
        both = self._b[self.members] + self.correlations[self.members]
        return float(penalty * np.abs(self.weights).sum() - 0.5 * self.weights @ both)

    def violation(self, penalty: float) -> float:
        """Return the largest violation of an optimality condition."""
        excess = np.abs(self.correlations) - penalty
        excess[self.members] = np.abs(self.correlations[self.members] - penalty * np.sign(self.weights))
        return float(excess.max(initial=0.0))

    def minimize(self, penalty: float, tol: float, max_steps: int, is_late: Callable[[], bool] = lambda: False) -> int:
        """Go to the minimizer, until no condition is violated by more than `tol * penalty`, or until it is late.

        Returns the number of steps, at most `max_steps`.
        """
        signs, steps, stalled = np.sign(self.weights), 0, 0
        while steps < max_steps and stalled < STALLED and not is_late():
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
        """Move toward the minimizer for these members and signs. Returns whether J fell, and the new signs."""
        uphill = penalty * signs - self.correlations[self.members]
        direction = -self._solve(uphill)
        end, moved = self.weights + direction, direction @ self._rows[: len(self.members)]  # moved is G d for every candidate
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
        else:  # members that have just entered and would get the wrong sign
            return bool(((self.weights == 0.0) & ~crossing).any()), self._without_zeros(signs, keeping=~crossing)
        return self._is_noticed(max(fall, way.gain)), self._without_zeros(signs)

    def _swap(self, signs: Floats, penalty: float) -> tuple[bool, Floats]:
        """Handle a last member that depends on the others: go to the least J along the direction that does not change the fit."""
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
        """Drop the members with zero weights, except those in `keeping`. Returns the signs of the members that are left."""
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
        """Return whether J fell by more than rounding."""
        return bool(fall > GRAIN * abs(float(self.weights @ self._b[self.members])))

    def _entering(self, bound: float) -> Indices:
        """Return the candidates that violate their condition most, no two of them alike."""
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
        """Let candidates enter: all of them, or only the first if they depend on each other.

        A candidate that depends on the members is swapped with one of them. Returns the signs, whether this was a step, and whether
        it helped.
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
        """Return G_AA^-1 right."""
        self._complete()
        return lapack.dpotrs(self._lower, right, lower=1)[0] if len(right) else right

    def _complete(self) -> None:
        """Complete the Cholesky factor, with the smallest rise of the diagonal that makes it possible."""
        size, known = len(self.members), len(self._lower)
        if known < size:
            bordered = _bordered(self._lower, self._rows[known:size].take(self.members, axis=1)) if known else None
            self._lower = cholesky_of_nearly_singular(self.gram, RISES) if bordered is None else bordered


def _bordered(lower: Floats, rows: Floats) -> Floats | None:
    """Return the factor with rows for new members, or None if these depend on the others."""
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
    """Return weights + step. An entry of which only rounding is left becomes zero."""
    after = weights + step
    after[np.abs(after) <= 1e-15 * np.abs(step)] = 0.0
    return after


class Way(NamedTuple):
    """How far to go along a direction, and by how much J falls."""

    length: float
    gain: float


def _best_length(
    weights: Floats, direction: Floats, signs: Floats, uphill: Floats, curvature: float, penalty: float, longest: float = 1.0
) -> Way:
    """Return the point of least J on the way from `weights` along `direction`.

    On the way, J is convex and piecewise quadratic. Its slope jumps up by 2 mu |d_i| when weight i changes its sign.
    """
    slope = float(uphill @ direction)
    towards = np.flatnonzero(direction * signs < 0.0)
    where = -weights[towards] / direction[towards]
    order = np.argsort(where, kind="stable")
    where, jumps = where[order], 2.0 * penalty * np.abs(direction[towards[order]])
    after = slope + curvature * where + np.cumsum(jumps)  # the slope just after each crossing
    first = int(np.argmax(after >= 0.0)) if (after >= 0.0).any() else len(where)
    jumped = float(jumps[:first].sum())
    free = -(slope + jumped) / curvature if curvature > 0.0 else np.inf
    length = max(min(free, where[first] if first < len(where) else longest, longest), 0.0)
    if not np.isfinite(length):
        return Way(0.0, 0.0)
    kinks = float(jumps[:first] @ np.maximum(length - where[:first], 0.0))
    return Way(float(length), -(slope * length + 0.5 * curvature * length**2 + kinks))
