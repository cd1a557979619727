"""Local smoothing: one ridge per weight by generalized cross validation, from the full model, one coordinate at a time.

Orr (1995a), as described in section 2.1 of Sundararajan, Shevade and Keerthi. Each ridge in turn goes to the value with the least V
while the others stay fixed, until a whole cycle brings no significant decrease.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, solve_lower, symmetric_inverse
from skarce._memory import require
from skarce._parallel import on_one_blas_thread, slices
from skarce._typing import Floats, Indices
from skarce.criteria.gcv import GCV, Coordinate, coordinate_inside, coordinate_outside
from skarce.criteria.one_ridge import OrthogonalFit
from skarce.designs.choice import ALL_AT_ONCE, Access
from skarce.methods.method import MomentMethod
from skarce.moments import Moments, whole_matrix
from skarce.moments.moments import WIDE
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import DEPENDENT, EXACT_FIT, RESOLUTION, RIDGE_RANGE, resolved_energy

CHECK_EVERY = 64  # coordinates between two checks of the time limit
MOST_CHANGES = 64  # of the inverse by rank one between two recomputations from a Cholesky factor
FINAL_SHARE = 1.0  # the model that is returned takes about as long as `CHECK_EVERY` coordinates and a recomputation
MOST_RAISES = 40  # of the ridges by a factor of ten, from the smallest to beyond the largest that is used
SAME = 1e-13  # one less the correlation of two columns that are copies
BLOCK_ROWS = 256  # of the Gram matrix, compared at a time
MANY = 1000  # eigenvalues are computed for about this many candidates at most
MOST_LANDMARKS = 500  # all candidates are in the model at first, and every one of them takes a turn in every cycle


@dataclass(frozen=True)
class LocalRidge(MomentMethod):
    """Local smoothing from the full model.

    Parameters
    ----------
    initial_ridge : float or None
        The ridge of every candidate at the start. None takes the common ridge with the least V.
    readmit : bool
        Whether pruned candidates may come back.
    criterion : GCV
        The criterion that the posterior reports.
    """

    initial_ridge: float | None = None
    readmit: bool = True
    criterion: GCV = field(default_factory=GCV)

    @property
    def warns_if_half(self) -> bool:
        return True

    @property
    def access(self) -> Access:
        return ALL_AT_ONCE

    def n_landmarks(self, n_rows: int) -> int:
        return MOST_LANDMARKS

    def solve(self, judge: GCV, moments: Moments, journal: Journal) -> Fit:
        return run_local_ridge(moments, journal, self.initial_ridge, self.readmit)


@on_one_blas_thread
def run_local_ridge(moments: Moments, journal: Journal, initial_ridge: float | None, readmit: bool) -> Fit:
    """Cycle over all candidates until a cycle lowers (n/2) log V by no more than the tolerance."""
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    what = f"local smoothing, which starts from all {len(usable)} candidates,"
    require(len(usable), len(usable), what, "Use FastGCVRegressor, or fewer candidates (KernelBasis(centers=500))")
    if not len(usable):
        return Fit.empty(Outcome.CONVERGED)
    usable = _without_copies(moments, usable)
    local, watch = moments.restricted_to(usable), journal.stopwatch()
    start = _common_ridge(local) if initial_ridge is None else float(initial_ridge)
    model = _FullModel(local, start, moments.centered_if_few(usable))
    outcome = watch.exhausted(1.0 + FINAL_SHARE) or _cycle_until_settled(model, local, journal, readmit)
    kept = np.arange(model.size)
    if journal.budget.room(model.size) == 0:
        kept = np.argsort(-model.effects(), kind="stable")[: journal.budget.max_active]
        outcome = Outcome.SIZE_LIMIT
    return Fit(usable[model.members[kept]], model.ridges[kept].copy(), outcome)


def _without_copies(moments: Moments, candidates: Indices) -> Indices:
    """Return candidates without copies or multiples of others, which act as one column with a smaller ridge."""
    gram, norms = moments.gram.block(candidates, candidates), np.sqrt(moments.gram.diagonal[candidates])
    is_copy = np.zeros(len(candidates), dtype=bool)
    for rows in slices(len(candidates), BLOCK_ROWS):
        alike = np.abs(gram[rows]) >= (1.0 - SAME) * np.multiply.outer(norms[rows], norms)
        is_copy[rows] = np.tril(alike, rows.start - 1).any(axis=1)
    return candidates[~is_copy]


def _cycle_until_settled(model: _FullModel, moments: Moments, journal: Journal, readmit: bool) -> Outcome:
    # The strongest candidates come first, so the result does not depend on the order of the columns.
    order = np.argsort(-(moments.projections**2) / moments.gram.diagonal, kind="stable")
    watch = journal.stopwatch()
    while (limit := journal.exhausted()) is None:
        before, kept = model.score(), model.snapshot()
        for count, candidate in enumerate(order):
            if model.residual <= EXACT_FIT * moments.target_energy:
                break
            if count % CHECK_EVERY == 0 and (limit := watch.exhausted(1.0 + FINAL_SHARE)) is not None:
                return limit
            if model.is_stale:
                model.refresh()
            position = model.places[candidate]
            if position >= 0:
                model.improve(position)
            elif readmit:
                model.try_to_admit(candidate)
        model.refresh()
        score = model.score()
        if score < before - journal.budget.tol:
            model.restore(kept)
            return Outcome.ILL_CONDITIONED
        journal.note("cycle", -1, score, model.size)
        if not score - before > journal.budget.least_gain:
            return Outcome.CONVERGED
    return limit


def _common_ridge(moments: Moments) -> float:
    """Return the common ridge of all candidates with the least V on a grid."""
    step = -(-moments.n_candidates // MANY)  # if there are very many candidates, some of them are enough for a start
    some = np.arange(0, moments.n_candidates, step)
    fit = OrthogonalFit.of_block(
        step * moments.gram.block(some, some),
        np.sqrt(step) * moments.projections[some],
        resolved_energy(moments),
        moments.n_samples,
    )
    grid = fit.squared_norms.max(initial=0.0) * np.logspace(-8, 2, 61)
    residual, freedom = (np.array([each(ridge) for ridge in grid]) for each in (fit.residual, fit.freedom))
    # If hardly a degree of freedom or a residual is left, V is a quotient of rounding errors.
    sound = (freedom > 1e-3 * moments.n_samples) & (residual > EXACT_FIT * moments.target_energy)
    v = np.where(sound, residual, np.inf) / np.where(sound, freedom, 1.0) ** 2
    return float(grid[np.argmin(v)]) if sound.any() else float(grid[-1])


class _ChangingInverse:
    """H^-1 = B - V'S V with the inverse B of the last factorization, and the changes by rank one since then in the rows of V.

    A change of the whole matrix takes n^2 operations. A row of it takes n for each change, and little more is ever asked for.
    Members occupy the first `size` places of every buffer.
    """

    def __init__(self, size: int) -> None:
        self.size, self.n_changes = size, 0
        self._base, self._vectors, self._steps = np.empty((size, size)), np.empty((MOST_CHANGES, size)), np.empty(MOST_CHANGES)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another change."""
        return self.n_changes == MOST_CHANGES

    def reset(self, matrix: Floats) -> None:
        self.size, self.n_changes = len(matrix), 0
        self._base[: self.size, : self.size] = matrix

    def row(self, position: int) -> Floats:
        vectors = self._vectors[: self.n_changes, : self.size]
        return self._base[position, : self.size] - (self._steps[: self.n_changes] * vectors[:, position]) @ vectors

    def diagonal(self) -> Floats:
        changes = self._steps[: self.n_changes] @ self._vectors[: self.n_changes, : self.size] ** 2
        return self._base.diagonal()[: self.size] - changes

    def times(self, vector: Floats) -> Floats:
        vectors = self._vectors[: self.n_changes, : self.size]
        return self._base[: self.size, : self.size] @ vector - (self._steps[: self.n_changes] * (vectors @ vector)) @ vectors

    def subtract(self, step: float, vector: Floats) -> None:
        """Subtract step * vector vector'."""
        self._vectors[self.n_changes, : self.size], self._steps[self.n_changes] = vector, step
        self.n_changes += 1

    def drop(self, position: int) -> None:
        """Let the last member take this place."""
        n, last = self.size, self.size - 1
        self._vectors[: self.n_changes, position] = self._vectors[: self.n_changes, last]
        self._base[position, :n] = self._base[last, :n]
        self._base[:n, position] = self._base[:n, last]
        self.size = last

    def append(self, inward: Floats, total: float) -> None:
        """Add a member: with v = (inward, -1), zeros on the border and then v v' / total."""
        n = self.size
        self._base[n, : n + 1] = self._base[: n + 1, n] = 0.0
        self._vectors[: self.n_changes, n] = 0.0
        self.size = n + 1
        self.subtract(-1.0 / total, np.append(inward, -1.0))


class _FullModel:
    """The active candidates with the full matrix H^-1, which changes by rank one.

    Members occupy the first `size` places of every buffer.
    """

    def __init__(self, moments: Moments, ridge: float, rows: Floats | None = None) -> None:
        self._moments, self._rows = moments, rows
        self._gram = whole_matrix(moments.gram)
        self.n_candidates = moments.n_candidates
        self.size = self.n_candidates
        self.members = np.arange(self.size)
        self.places = np.arange(self.size)  # the place of each candidate, -1 if it is not in the model
        self._inverse = _ChangingInverse(self.size)
        self._ridges, self._weights = np.full(self.size, ridge), np.empty(self.size)
        self.refresh()

    @property
    def ridges(self) -> Floats:
        return self._ridges[: self.size]

    @property
    def weights(self) -> Floats:
        return self._weights[: self.size]

    @property
    def is_stale(self) -> bool:
        """Whether so much has changed that everything must be computed anew before the next change."""
        return self._inverse.is_full

    def active(self) -> Indices:
        return self.members[: self.size]

    def effects(self) -> Floats:
        """Return w^2 / h of each member: how much t'P t rises without it."""
        return self.weights**2 / self._inverse.diagonal()

    def score(self) -> float:
        """Return -(n/2) log(q / v^2), the score of `GCV`."""
        n = self._moments.n_samples
        return n * float(np.log(max(self.freedom, RESOLUTION * n)) - 0.5 * np.log(self.residual))

    def snapshot(self) -> tuple[Indices, Floats]:
        return self.active().copy(), self.ridges.copy()

    def restore(self, snapshot: tuple[Indices, Floats]) -> None:
        members, ridges = snapshot
        self.size = len(members)
        self.members[: self.size], self._ridges[: self.size] = members, ridges
        self.places[:] = -1
        self.places[members] = np.arange(self.size)
        self.refresh()

    def refresh(self) -> None:
        """Compute everything from a Cholesky factor. Ridges that are too small for dependent columns grow until one exists."""
        active, moments = self.active(), self._moments
        for _ in range(MOST_RAISES):
            try:
                inverse = self._inverted(active)
                break
            except NotPositiveDefiniteError:
                self.ridges[:] = np.maximum(10.0 * self.ridges, RIDGE_RANGE[0] * moments.gram.diagonal[active])
        self._inverse.reset(inverse)
        projections = moments.projections[active]
        self.weights[:] = inverse @ projections
        penalty = float(self.ridges @ self.weights**2)
        total = resolved_energy(moments)
        self.residual = max(total - float(projections @ self.weights) - penalty, 1e-12 * total)
        self.freedom = moments.n_samples - float((1.0 - self.ridges * inverse.diagonal()).sum())

    def _inverted(self, active: Indices) -> Floats:
        """Return H^-1, by a system of the rows if they are much fewer than the members (Woodbury)."""
        if self._rows is not None and self.size > WIDE * len(self._rows):
            shrunk = self._rows[:, active] / self.ridges
            system = shrunk @ self._rows[:, active].T
            system.flat[:: len(system) + 1] += 1.0
            explained = solve_lower(cholesky(system), shrunk)
            inverse = -(explained.T @ explained)
            inverse.flat[:: self.size + 1] += 1.0 / self.ridges
            return inverse
        matrix = self._gram[np.ix_(active, active)]
        matrix.flat[:: self.size + 1] += self.ridges
        return symmetric_inverse(cholesky(matrix))

    def improve(self, position: int) -> None:
        """Give a member its best ridge, or drop it if the best ridge is infinite."""
        diagonal = float(self._moments.gram.diagonal[self.members[position]])
        least = 1.0 / (diagonal + float(self.ridges[position]))  # h_kk >= 1 / H_kk
        column = self._inverse.row(position)
        if not column[position] >= 0.5 * least:  # changes by rank one have lost its digits
            self.refresh()
            column = self._inverse.row(position)
        spread = column[position] = max(float(column[position]), least)
        weight, ridge = float(self.weights[position]), float(self.ridges[position])
        shrunk = self.ridges * column
        one = coordinate_inside(
            self.residual, self.freedom, weight, ridge, spread, penalty=float(column @ shrunk), shrunk=float(self.weights @ shrunk)
        )
        lowest = RIDGE_RANGE[0] * diagonal
        x = float(one.best(lowest))
        after = max(1.0 / x - one.psi, lowest) if x > 0.0 else np.inf
        if after > RIDGE_RANGE[1] / spread:
            self._shift(column, weight, 1.0 / spread)
            self._settle_at(one, 0.0)
            self._drop(position)
        elif one.gain(x, 1.0) > one.gain(spread, 1.0):
            difference = after - ridge
            # 1 + (after - ridge) h = (psi + after) h with psi = 1/h - ridge, which cannot be zero
            self._shift(column, weight, difference / ((one.psi + after) * spread))
            self._settle_at(one, 1.0 / (one.psi + after))
            self._ridges[position] = after

    def try_to_admit(self, candidate: int) -> None:
        """Let a pruned candidate come back if that lowers V (FGCV errata 5)."""
        row, diagonal = self._gram[candidate, self.active()], float(self._gram[candidate, candidate])
        inward = self._inverse.times(row)
        shrunk = self.ridges * inward
        leftover = diagonal - float(row @ inward)
        remainder = leftover - float(inward @ shrunk)
        if remainder <= DEPENDENT * diagonal:
            return
        alignment = float(self._moments.projections[candidate] - self.weights @ row)
        overlap = alignment - float(self.weights @ shrunk)
        one = coordinate_outside(self.residual, self.freedom, alignment, overlap, remainder, leftover)
        lowest = RIDGE_RANGE[0] * diagonal
        x = float(one.best(lowest))
        if not x > 0.0:
            return
        ridge = max(1.0 / x - leftover, lowest)
        if ridge < RIDGE_RANGE[1] * diagonal:
            self._settle_at(one, 1.0 / (leftover + ridge))
            self._append(candidate, inward, leftover + ridge, alignment, ridge)

    def _settle_at(self, one: Coordinate, x: float) -> None:
        self.residual = max(one.a + (one.c * x - 2.0 * one.b) * x, 1e-12 * resolved_energy(self._moments))
        self.freedom = one.delta - one.eps * x

    def _shift(self, column: Floats, weight: float, step: float) -> None:
        self._inverse.subtract(step, column)
        self.weights[:] -= step * weight * column

    def _drop(self, position: int) -> None:
        last = self.size - 1
        self.places[self.members[position]] = -1
        if position != last:
            self.places[self.members[last]] = position
        for values in (self.members, self._ridges, self._weights):
            values[position] = values[last]
        self._inverse.drop(position)
        self.size = last

    def _append(self, candidate: int, inward: Floats, total: float, alignment: float, ridge: float) -> None:
        n, weight = self.size, alignment / total
        self._inverse.append(inward, total)
        self.weights[:] -= weight * inward
        self._weights[n], self._ridges[n] = weight, ridge
        self.members[n], self.places[candidate] = candidate, n
        self.size = n + 1
