"""Local smoothing: one ridge per weight by generalized cross validation, from the full model, one coordinate at a time.

Orr (1995a), as described in section 2.1 of Sundararajan, Shevade and Keerthi. Each ridge in turn goes to the value with the least V
while the others stay fixed, until a whole cycle brings no significant decrease.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, symmetric_inverse
from skarce._memory import require
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria.gcv import GCV, Coordinate, coordinate_inside, coordinate_outside
from skarce.criteria.one_ridge import OrthogonalFit
from skarce.designs.choice import ALL_AT_ONCE, Access
from skarce.methods.method import MomentMethod
from skarce.moments import Moments, whole_matrix
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import DEPENDENT, EXACT_FIT, RESOLUTION, RIDGE_RANGE, resolved_energy

CHECK_EVERY = 64  # coordinates between two checks of the time limit, and between two recomputations from a Cholesky factor
FINAL_SHARE = 1.0  # the model that is returned takes about as long as `CHECK_EVERY` coordinates and a recomputation
MOST_RAISES = 40  # of the ridges by a factor of ten, from the smallest to beyond the largest that is used
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
    local, watch = moments.restricted_to(usable), journal.stopwatch()
    model = _FullModel(local, _common_ridge(local) if initial_ridge is None else float(initial_ridge))
    outcome = watch.exhausted(1.0 + FINAL_SHARE) or _cycle_until_settled(model, local, journal, readmit)
    kept = np.arange(model.size)
    if journal.budget.room(model.size) == 0:
        kept = np.argsort(-model.effects(), kind="stable")[: journal.budget.max_active]
        outcome = Outcome.SIZE_LIMIT
    return Fit(usable[model.members[kept]], model.ridges[kept].copy(), outcome)


def _cycle_until_settled(model: _FullModel, moments: Moments, journal: Journal, readmit: bool) -> Outcome:
    # The strongest candidates come first, so the result does not depend on the order of the columns.
    order = np.argsort(-(moments.projections**2) / moments.gram.diagonal, kind="stable")
    watch = journal.stopwatch()
    while (limit := journal.exhausted()) is None:
        before, kept = model.score(), model.snapshot()
        for count, candidate in enumerate(order):
            if model.residual <= EXACT_FIT * moments.target_energy:
                break
            if count % CHECK_EVERY == 0:
                if count:
                    model.refresh()
                if (limit := watch.exhausted(1.0 + FINAL_SHARE)) is not None:
                    return limit
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


class _FullModel:
    """The active candidates with the full matrix H^-1, which changes by rank one.

    Members occupy the first `size` places of every buffer.
    """

    def __init__(self, moments: Moments, ridge: float) -> None:
        self._moments = moments
        self._gram = whole_matrix(moments.gram)
        self.n_candidates = moments.n_candidates
        self.size = self.n_candidates
        self.members = np.arange(self.size)
        self.places = np.arange(self.size)  # the place of each candidate, -1 if it is not in the model
        self._inverse = np.empty((self.size, self.size))
        self._ridges, self._weights = np.full(self.size, ridge), np.empty(self.size)
        self.refresh()

    @property
    def ridges(self) -> Floats:
        return self._ridges[: self.size]

    @property
    def inverse(self) -> Floats:
        return self._inverse[: self.size, : self.size]

    @property
    def weights(self) -> Floats:
        return self._weights[: self.size]

    def active(self) -> Indices:
        return self.members[: self.size]

    def effects(self) -> Floats:
        """Return w^2 / h of each member: how much t'P t rises without it."""
        return self.weights**2 / self.inverse.diagonal()

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
            matrix = self._gram[np.ix_(active, active)]
            matrix.flat[:: self.size + 1] += self.ridges
            try:
                self.inverse[:] = symmetric_inverse(cholesky(matrix))
                break
            except NotPositiveDefiniteError:
                self.ridges[:] = np.maximum(10.0 * self.ridges, RIDGE_RANGE[0] * moments.gram.diagonal[active])
        projections = moments.projections[active]
        self.weights[:] = self.inverse @ projections
        penalty = float(self.ridges @ self.weights**2)
        total = resolved_energy(moments)
        self.residual = max(total - float(projections @ self.weights) - penalty, 1e-12 * total)
        self.freedom = moments.n_samples - float((1.0 - self.ridges * self.inverse.diagonal()).sum())

    def improve(self, position: int) -> None:
        """Give a member its best ridge, or drop it if the best ridge is infinite."""
        diagonal = float(self._moments.gram.diagonal[self.members[position]])
        least = 1.0 / (diagonal + float(self.ridges[position]))  # h_kk >= 1 / H_kk
        if not self.inverse[position, position] >= 0.5 * least:  # updates by rank one have lost its digits
            self.refresh()
        column = self.inverse[position].copy()
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
        inward = self.inverse @ row
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
        self.inverse[:] -= np.multiply.outer(step * column, column)
        self.weights[:] -= step * weight * column

    def _drop(self, position: int) -> None:
        last = self.size - 1
        self.places[self.members[position]] = -1
        if position != last:
            self.places[self.members[last]] = position
        for values in (self.members, self._ridges, self._weights):
            values[position] = values[last]
        self._inverse[position, : self.size] = self._inverse[last, : self.size]
        self._inverse[: self.size, position] = self._inverse[: self.size, last]
        self.size = last

    def _append(self, candidate: int, inward: Floats, total: float, alignment: float, ridge: float) -> None:
        n, weight = self.size, alignment / total
        self.inverse[:] += np.multiply.outer(inward / total, inward)
        self._inverse[n, :n] = self._inverse[:n, n] = -inward / total
        self._inverse[n, n] = 1.0 / total
        self.weights[:] -= weight * inward
        self._weights[n], self._ridges[n] = weight, ridge
        self.members[n], self.places[candidate] = candidate, n
        self.size = n + 1
