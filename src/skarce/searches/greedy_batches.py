"""Greedy batches, joint steps and, where candidates are many, a pool of them: the fast schedule.

Hard problems need thousands of single actions when each is followed by a scan of all candidates. Here a scan is followed by a batch of
additions, exact and greedy, and a batch by second-order steps for all ridges at once. The model that comes out satisfies the same
certificate: no single change gains more than the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._linalg import NotPositiveDefinite
from skarce._parallel import blas_threads
from skarce._typing import Floats, Indices
from skarce.active_set import ActiveSet, resolved_energy
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.posterior import Outcome
from skarce.searches.journal import Found, Journal
from skarce.solvers.active_block import ActiveBlock
from skarce.solvers.joint_steps import joint_steps


@dataclass(frozen=True)
class GreedyBatches:
    """Scan, greedy batch, joint second-order steps; a pool of candidates where there are many.

    Parameters
    ----------
    smallest_batch : a batch may have this many additions, or `growth` times the size of the model if that is more
    growth : see `smallest_batch`
    batch_end : a batch ends when a gain falls below this share of its first
    looseness : joint steps between batches end when one promises less than this share of the batch's first gain
    max_joint_steps : and after this many
    pool_size : candidates in the first pool, where Phi'Phi is not at hand as a whole
    violators : candidates that join the model in the next pool, at most
    random_state : seeds the first pool
    """

    smallest_batch: int = 8
    growth: float = 0.5
    batch_end: float = 0.1
    looseness: float = 0.05
    max_joint_steps: int = 3
    pool_size: int = 256
    violators: int = 150
    random_state: int = 0

    def run(
        self,
        criterion: Criterion,
        moments: Moments,
        journal: Journal,
        start: tuple[Indices, Floats] | None = None,
    ) -> Found:
        """Search from `start` (candidates and ridges), or from the empty model."""
        with blas_threads(1):
            if moments.gram.is_whole or moments.n_candidates <= self.pool_size:
                state = ActiveSet(moments) if start is None else ActiveSet(moments, *start)
                outcome = self._climb(criterion, state, journal, journal.limits.tol)
                return Found(state.active.copy(), state.ridges.copy(), outcome)
            return self._climb_in_pools(criterion, moments, journal, start)

    def _climb(self, criterion: Criterion, state: ActiveSet, journal: Journal, tol: float) -> Outcome:
        """Batches and joint steps until no addition gains more than `tol` after a tight run."""
        score = criterion.score(state.energy, state.log_determinant, state.moments.n_samples)
        is_tight = False
        while True:
            limit = journal.exhausted()
            if limit is not None:
                return limit
            first_gain, score = self._add_batch(criterion, state, journal, score, tol)
            if first_gain == 0.0:
                if is_tight or not len(state):
                    break
                is_tight = True
                score = self._settle(criterion, state, journal, 0.1 * tol, 50)
            else:
                is_tight = False
                score = self._settle(criterion, state, journal, max(self.looseness * first_gain, 0.1 * tol), self.max_joint_steps)
        return Outcome.SIZE_LIMIT if journal.limits.room(len(state)) == 0 else Outcome.CONVERGED

    def _add_batch(
        self, criterion: Criterion, state: ActiveSet, journal: Journal, score: float, tol: float
    ) -> tuple[float, float]:
        """Greedy additions; returns the first gain (0 when nothing was added) and the score after the last."""
        limit = min(max(self.smallest_batch, int(self.growth * len(state))), journal.limits.room(len(state)))
        first_gain = 0.0
        for _ in range(limit):
            ranking = criterion.ranking(state)
            candidate = int(ranking.argmax())
            if not ranking[candidate] > 1.0:
                break
            ridge, gain = criterion.addition(state, candidate)
            if gain <= max(tol, self.batch_end * first_gain):
                break
            first_gain = first_gain or gain
            state.add(candidate, ridge)
            score += gain
            journal.note("add", candidate, score, len(state))
        return first_gain, score

    def _settle(self, criterion: Criterion, state: ActiveSet, journal: Journal, tolerance: float, max_steps: int) -> float:
        """Joint steps for the active block, then everything afresh; returns the new score."""
        n = state.moments.n_samples
        try:
            block = ActiveBlock(
                state.gram_block, state.moments.projections[state.active], resolved_energy(state.moments), state.ridges.copy()
            )
        except NotPositiveDefinite:
            state.refresh()  # thins out what is dependent
            return criterion.score(state.energy, state.log_determinant, n)
        settled = joint_steps(criterion, block, n, tolerance, max_steps)
        n_before = len(state)
        state.settle(settled.positions, settled.block.ridges)
        score = criterion.score(state.energy, state.log_determinant, n)
        journal.note("joint" if len(state) == n_before else "prune", -1, score, len(state))
        return score

    def _climb_in_pools(
        self, criterion: Criterion, moments: Moments, journal: Journal, start: tuple[Indices, Floats] | None
    ) -> Found:
        """Solve on some candidates, scan all of them, go on with the model and the strongest violators."""
        rng = np.random.default_rng(self.random_state)
        active, ridges = start if start is not None else (np.empty(0, dtype=np.intp), np.empty(0))
        others = rng.permutation(np.setdiff1d(np.arange(moments.n_candidates), active))[: self.pool_size]
        tol = journal.limits.tol
        inner_tol = tol
        while True:
            pool = np.concatenate([active, np.sort(others)]).astype(np.intp)
            local = ActiveSet(moments.restricted_to(pool), np.arange(len(active)), ridges)
            outcome = self._climb(criterion, local, journal, inner_tol)
            active, ridges = pool[local.active], local.ridges.copy()
            if outcome.is_early:
                return Found(active, ridges, outcome)
            if self._is_crowded(local):
                whole = moments.gram.whole()
                if whole is not None:
                    everything = Moments(whole, moments.projections, moments.target_energy, moments.n_samples, moments.rows)
                    return self.run(criterion, everything, journal, (active, ridges))
            state = ActiveSet(moments, active, ridges)
            ranking = criterion.ranking(state)
            candidates = np.flatnonzero(ranking > 1.0)
            others = candidates[np.argsort(-ranking[candidates], kind="stable")][: max(self.violators, len(active) // 2)]
            gain = criterion.addition(state, int(others[0]))[1] if len(others) and journal.limits.room(len(state)) else 0.0
            if gain <= tol:
                if inner_tol <= tol:
                    return Found(active, ridges, outcome)
                others = others[:0]
            inner_tol = max(tol, 0.1 * gain)

    def _is_crowded(self, local: ActiveSet) -> bool:
        """So many of the pool are in that pools would be many and large."""
        return 4 * len(local) > local.moments.n_candidates and len(local) > 40
