"""Greedy batches, joint steps and, where candidates are many, a pool of them: the fast schedule.

Hard problems need thousands of single actions when each is followed by a scan of all candidates. Here a scan is followed by a
batch of additions, exact and greedy, and a batch by second-order steps for all ridges at once. While the model is small, single
actions in compiled code are quicker still. The model that comes out satisfies the same certificate: no single change gains more
than the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.active_set import ActiveSet, resolved_energy
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.posterior import Outcome
from skarce.searches.best_action import BestAction
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
    max_joint_steps, max_tight_steps : and after this many between batches, or when nothing is left to add
    few, stretch : up to `few` functions the best single action is quicker than a batch, where the criterion has compiled steps;
        `stretch` of them are taken between two refreshes, and joint steps take over after `max_changes` changes of ridges in a row
    pool_size : candidates in the first pool, where Phi'Phi is not at hand as a whole; 6 sqrt(n_candidates) if that is more
    violators : candidates that join the model in the next pool, at most
    random_state : seeds the first pool
    """

    smallest_batch: int = 8
    growth: float = 0.5
    batch_end: float = 0.1
    looseness: float = 0.1
    max_joint_steps: int = 3
    max_tight_steps: int = 8
    few: int = 400
    stretch: int = 400
    max_changes: int = 100
    pool_size: int = 256
    violators: int = 300
    random_state: int = 0

    @on_one_blas_thread
    def run(
        self,
        criterion: Criterion,
        moments: Moments,
        journal: Journal,
        start: tuple[Indices, Floats] | None = None,
    ) -> Found:
        """Search from `start` (candidates and ridges), or from the empty model."""
        if not moments.gram.is_whole and moments.n_candidates > self._first_pool(moments):
            return self._climb_in_pools(criterion, moments, journal, start)
        state = ActiveSet(moments) if start is None else ActiveSet(moments, *start)
        outcome = self._climb(criterion, state, journal, journal.limits.tol)
        return Found(state.active.copy(), state.ridges.copy(), outcome)

    def _climb(self, criterion: Criterion, state: ActiveSet, journal: Journal, tol: float) -> Outcome:
        """Raise the criterion until neither an action nor the joint steps gain more than `tol`."""
        single = BestAction(refresh_every=self.stretch, max_changes=self.max_changes)
        is_tight = False
        while True:
            limit = journal.exhausted()
            if limit is not None:
                return limit
            by_single_actions = len(state) <= self.few and single.has_compiled_steps(criterion, state)
            if by_single_actions:
                n_actions, first_gain = single.stretch(criterion, state, journal, tol), 0.0
                is_settled = n_actions < single.refresh_every
            else:
                n_actions, first_gain = self._add_batch(criterion, state, journal, tol)
                is_settled = n_actions == 0
            if is_settled and n_actions == 0 and (is_tight or not len(state)):
                return Outcome.SIZE_LIMIT if journal.limits.room(len(state)) == 0 else Outcome.CONVERGED
            if is_settled:
                # Single actions check every change by themselves; after batches only tight joint steps do.
                is_tight = self._settle(criterion, state, journal, (10.0 if by_single_actions else 0.1) * tol, self.max_tight_steps)
            elif first_gain:
                tolerance = max(self.looseness * first_gain, 0.1 * tol)
                self._settle(criterion, state, journal, tolerance, self.max_joint_steps)

    def _add_batch(self, criterion: Criterion, state: ActiveSet, journal: Journal, tol: float) -> tuple[int, float]:
        """Greedy additions; returns how many, and the gain of the first."""
        score = criterion.score(state.energy, state.log_determinant, state.moments.n_samples)
        n_before = len(state)
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
        return len(state) - n_before, first_gain

    @staticmethod
    def _settle(criterion: Criterion, state: ActiveSet, journal: Journal, tolerance: float, max_steps: int) -> bool:
        """Joint steps for the active block, then everything afresh; returns whether they converged with all functions kept."""
        n_before, n_samples = len(state), state.moments.n_samples
        try:
            block = ActiveBlock(
                state.gram_block, state.moments.projections[state.active], resolved_energy(state.moments), state.ridges.copy()
            )
        except NotPositiveDefiniteError:
            state.refresh()  # thins out what is dependent; there is nothing to gain by joint steps
            return True
        settled = joint_steps(criterion, block, n_samples, tolerance, max_steps)
        if settled.block is block:
            return settled.converged
        state.settle(settled.positions, settled.block.ridges)
        score = criterion.score(state.energy, state.log_determinant, n_samples)
        journal.note("joint" if len(state) == n_before else "prune", -1, score, len(state))
        return settled.converged and len(state) == n_before

    def _climb_in_pools(
        self, criterion: Criterion, moments: Moments, journal: Journal, start: tuple[Indices, Floats] | None
    ) -> Found:
        """Solve on some candidates, scan all of them, go on with the model and the strongest violators."""
        active, ridges = start if start is not None else (np.empty(0, dtype=np.intp), np.empty(0))
        others = self._first_others(criterion, moments, active)
        while True:
            pool = np.concatenate([active, np.sort(others)]).astype(np.intp)
            local = ActiveSet(moments.restricted_to(pool), np.arange(len(active)), ridges)
            for tol in (max(1.0, journal.limits.tol), journal.limits.tol):
                outcome = self._climb(criterion, local, journal, tol)
                active, ridges = pool[local.active], local.ridges.copy()
                if outcome.is_early:
                    return Found(active, ridges, outcome)
                whole = moments.gram.whole() if self._is_crowded(local) else None
                if whole is not None:
                    everything = Moments(whole, moments.projections, moments.target_energy, moments.n_samples, moments.rows)
                    return self.run(criterion, everything, journal, start)
            others = self._violators(criterion, ActiveSet(moments, active, ridges), journal)
            if not len(others):
                return Found(active, ridges, outcome)

    def _violators(self, criterion: Criterion, state: ActiveSet, journal: Journal) -> Indices:
        """The candidates that would help most, strongest first; none when none gains more than the tolerance."""
        ranking = criterion.ranking(state)
        helpful = np.flatnonzero(ranking > 1.0)
        helpful = helpful[np.argsort(-ranking[helpful], kind="stable")][: max(self.violators, len(state) // 2)]
        is_done = not len(helpful) or not journal.limits.room(len(state))
        if is_done or criterion.addition(state, int(helpful[0]))[1] <= journal.limits.tol:
            return helpful[:0]
        return helpful

    def _first_others(self, criterion: Criterion, moments: Moments, active: Indices) -> Indices:
        """A random pool that also holds the candidates that do most by themselves."""
        ranking = criterion.ranking(ActiveSet(moments))
        ranking[active] = 0.0
        size = self._first_pool(moments)
        strongest = np.argsort(-ranking, kind="stable")[: size // 8]
        rest = np.setdiff1d(np.arange(moments.n_candidates), np.concatenate([active, strongest]))
        drawn = np.random.default_rng(self.random_state).permutation(rest)[: size - len(strongest)]
        return np.concatenate([strongest, drawn])

    def _first_pool(self, moments: Moments) -> int:
        return max(self.pool_size, int(6.0 * np.sqrt(moments.n_candidates)))

    def _is_crowded(self, local: ActiveSet) -> bool:
        """So many of the pool are in that pools would be many and large."""
        return 4 * len(local) > local.moments.n_candidates and len(local) > 40
