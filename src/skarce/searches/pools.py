"""Many candidates, few of them needed: solve on a pool, stream over all once, go on with the strongest violators.

If Phi'Phi is not at hand as a whole, a column of it costs a pass over all candidates. A search that only sees some hundred
of them pays one pass for all columns of its result instead of one for every addition, and the kernel matrix is never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from skarce._typing import Indices
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.searches.pool_choice import first_pool, first_size, strongest_violators
from skarce.searches.search import Start
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import State

# Raises the criterion of a state until no addition gains more than the tolerance given last.
Climb = Callable[[Criterion, State, Journal, float], Outcome]
ROUGH = 1.0  # gains below this are left alone until it is clear that the pool is not crowded


@dataclass(frozen=True)
class Pools:
    """How candidates are pooled.

    Parameters
    ----------
    pool_size : candidates in the first pool; 4 sqrt(n_candidates) if that is more
    violators : candidates that join the model in the next pool, at most; half the size of the model if that is more
    random_state : seeds the first pool
    """

    pool_size: int = 256
    violators: int = 200
    random_state: int = 0

    def run(self, climb: Climb, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        """Climb on all candidates if that is cheap, else in pools until a scan of all finds none that helps."""
        if moments.gram.is_whole or moments.n_candidates <= self._first_size(moments):
            state = criterion.new_state(moments, *(start or ()))
            outcome = climb(criterion, state, journal, journal.budget.tol)
            return Fit(state.active.copy(), state.ridges.copy(), outcome)
        active, ridges = start if start is not None else (np.empty(0, dtype=np.intp), np.empty(0))
        others = self._first_others(criterion, moments, active)
        while True:
            pool = np.concatenate([active, np.sort(others)]).astype(np.intp)
            pooled = moments.restricted_to(pool)
            # From moments alone first: if digits are few, the rows are asked at every step, and steps are then expensive.
            local = criterion.new_state(pooled.without_rows(), np.arange(len(active)), ridges)
            for tol in (max(ROUGH, journal.budget.tol), journal.budget.tol):
                outcome = climb(criterion, local, journal, tol)
                active, ridges = pool[local.active], local.ridges.copy()
                if outcome.is_early:
                    return Fit(active, ridges, outcome)
                whole = moments.gram.whole() if self._is_crowded(len(local), moments) else None
                if whole is not None:
                    journal.rewind(0)
                    return self.run(climb, criterion, replace(moments, gram=whole), journal, start)
            if local.is_ill_conditioned and pooled.rows is not None:
                local = criterion.new_state(pooled, local.active.copy(), local.ridges.copy())
                outcome = climb(criterion, local, journal, journal.budget.tol)
                active, ridges = pool[local.active], local.ridges.copy()
                if outcome.is_early:
                    return Fit(active, ridges, outcome)
            others = self._violators(criterion, criterion.new_state(moments, active, ridges), journal)
            if not len(others):
                return Fit(active, ridges, outcome)

    def _first_size(self, moments: Moments) -> int:
        return first_size(self.pool_size, moments.n_candidates)

    def _is_crowded(self, size: int, moments: Moments) -> bool:
        """So many are in that pools would be many and large: more than a quarter of the first one."""
        return size > 40 and 4 * size > self._first_size(moments)

    def _first_others(self, criterion: Criterion, moments: Moments, active: Indices) -> Indices:
        """A random pool that also holds the candidates that do most by themselves."""
        ranking = criterion.ranking(criterion.new_state(moments))
        return first_pool(ranking, active, self._first_size(moments), np.random.default_rng(self.random_state))

    def _violators(self, criterion: Criterion, state: State, journal: Journal) -> Indices:
        """The candidates that would help most, strongest first; none when none gains more than the tolerance."""
        helpful = strongest_violators(criterion.ranking(state), max(self.violators, len(state) // 2))
        is_done = not len(helpful) or not journal.budget.room(len(state))
        if is_done or criterion.addition(state, int(helpful[0]))[1] <= journal.budget.tol:
            return helpful[:0]
        return helpful
