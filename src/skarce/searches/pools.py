"""Pools: solve on a few of many candidates, scan all candidates once, and go on with those that would help most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from skarce._parameters import check_count
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.moments import Gram, Moments
from skarce.searches.checkpoint import KEPT_SHARE
from skarce.searches.pool_choice import first_pool, first_size, strongest_violators
from skarce.searches.search import Start
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import State


class Climb(Protocol):
    """Raises the criterion of a state until no addition gains more than `tol`, or until `is_enough` says so."""

    def __call__(
        self, criterion: Criterion, state: State, journal: Journal, tol: float, is_enough: Callable[[State], bool] = ...
    ) -> Outcome: ...


ROUGH = 1.0  # smaller gains wait until it is clear that the pool is not crowded


@dataclass(frozen=True)
class Pools:
    r"""How `GreedyBatches` works on a few of many candidates at a time.

    Parameters
    ----------
    pool_size : int, default=256
        The number of candidates in the first pool. It is :math:`4\sqrt M` with M candidates if that is more.
    violators : int, default=200
        The next pool has the active functions and at most this many of the candidates that would help most. The limit is half the
        number of active functions if that is more.
    random_state : int, default=0
        Seed of the first pool, part of which is drawn at random.

    See Also
    --------
    GreedyBatches : The search that uses pools.

    Notes
    -----
    If the whole matrix :math:`\Phi^T\Phi` is not in memory, one column of it costs a pass over all candidates. With pools, the
    search sees only a few hundred candidates at a time. It needs one pass for all columns of its result, not one pass for every
    addition, and the kernel matrix is never stored.

    The search solves the problem on the pool. Then it scans all candidates. If some of them would still help, the strongest make
    the next pool together with the active functions. The search ends if a scan finds no candidate that gains more than the
    tolerance. So the result has the same guarantee as without pools. Decomposition methods for support vector machines work in the
    same way [1]_; there, the candidates that would help are called violators.

    If more than a quarter of the first pool is active, pools would have to be large and many. Then the search computes the whole
    Gram matrix if it fits into the memory budget, and starts again.

    References
    ----------
    .. [1] Osuna, E., Freund, R. and Girosi, F. (1997). An improved training algorithm for support vector machines. Neural Networks
       for Signal Processing VII, 276-285.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import IndividualEvidence
    >>> from skarce.searches import GreedyBatches, Pools
    >>> X = np.linspace(-5, 5, 500)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 500)
    >>> search = GreedyBatches(pools=Pools(pool_size=100))
    >>> model = SparseRegressor("rbf", IndividualEvidence(), search, moments="columns").fit(X, y)
    >>> len(model.active_) < 20
    True
    """

    pool_size: int = 256
    violators: int = 200
    random_state: int = 0

    def __post_init__(self) -> None:
        check_count("pool_size", self.pool_size)
        check_count("violators", self.violators)
        if self.random_state is not None:
            check_count("random_state", self.random_state, 0)

    def run(self, climb: Climb, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        """Climb on all candidates if that is cheap. Otherwise climb in pools until a scan finds no candidate that helps."""
        if moments.gram.is_whole or moments.n_candidates <= self._first_size(moments):
            state = criterion.new_state(moments, *(start or ()))
            outcome = climb(criterion, state, journal, journal.budget.least_gain)
            return Fit(state.active.copy(), state.ridges.copy(), outcome)
        active, ridges = start if start is not None else (np.empty(0, dtype=np.intp), np.empty(0))
        if self._is_crowded(len(active), moments) and (all_of_it := moments.gram.whole()) is not None:
            return self.run(climb, criterion, replace(moments, gram=all_of_it), journal, start)
        others, score, tol = self._first_others(criterion, moments, active), -np.inf, journal.budget.least_gain
        while True:
            pool = np.concatenate([active, np.sort(others)]).astype(np.intp)
            local, outcome, whole = self._climb_pool(climb, criterion, moments, journal, pool, ridges)
            active, ridges = pool[local.active], local.ridges.copy()
            if outcome.is_early or outcome is Outcome.HALF_USED:
                return Fit(active, ridges, outcome)
            if whole is not None:
                journal.rewind(0)
                return self.run(climb, criterion, replace(moments, gram=whole), journal, start)
            if local.is_exact():
                return Fit(active, ridges, outcome)
            scan = criterion.new_state(moments, active, ridges)
            others = self._violators(criterion, scan, journal)
            if not len(others):
                return Fit(active, ridges, outcome)
            before, score = score, criterion.score(scan, moments.n_samples)
            # A violator gains more than the tolerance. If a pool that has it gains less, the two disagree by rounding.
            if not score > before + KEPT_SHARE * tol:
                return Fit(active, ridges, Outcome.ILL_CONDITIONED)
            if (limit := journal.exhausted()) is not None:
                return Fit(active, ridges, limit)

    def _climb_pool(
        self, climb: Climb, criterion: Criterion, moments: Moments, journal: Journal, pool: Indices, ridges: Floats
    ) -> tuple[State, Outcome, Gram | None]:
        """Climb on the candidates of a pool, of which the first ones are active with these ridges.

        Return the state, the outcome, and the whole Gram matrix if the search should start again on it.
        """
        pooled, tol = moments.restricted_to(pool), journal.budget.least_gain
        # First use moments alone: if H is ill-conditioned, every step would read the rows, which is expensive.
        local = criterion.new_state(pooled.without_rows(), np.arange(len(ridges)), ridges)
        for least_gain in (max(ROUGH, tol), tol):
            outcome = climb(criterion, local, journal, least_gain, lambda state: self._is_crowded(len(state), moments))
            if outcome.is_early or outcome is Outcome.HALF_USED:
                return local, outcome, None
            if self._is_crowded(len(local), moments):
                whole = moments.gram.whole()
                if whole is not None:
                    return local, outcome, whole
                outcome = climb(criterion, local, journal, least_gain)
        if pooled.rows is not None and (local.is_ill_conditioned or (local.has_squares and local.loses_digits())):
            by_rows = criterion.new_state(pooled, local.active.copy(), local.ridges.copy())
            if by_rows.is_ill_conditioned:
                local, outcome = by_rows, climb(criterion, by_rows, journal, tol)
        return local, outcome, None

    def _first_size(self, moments: Moments) -> int:
        return first_size(self.pool_size, moments.n_candidates)

    def _is_crowded(self, size: int, moments: Moments) -> bool:
        """Tell whether more than a quarter of the first pool is active, so that pools would be large and many."""
        return size > 40 and 4 * size > self._first_size(moments)

    def _first_others(self, criterion: Criterion, moments: Moments, active: Indices) -> Indices:
        """Return the first pool: candidates that gain most alone, and others drawn at random."""
        ranking = criterion.ranking(criterion.new_state(moments))
        return first_pool(ranking, active, self._first_size(moments), np.random.default_rng(self.random_state))

    def _violators(self, criterion: Criterion, state: State, journal: Journal) -> Indices:
        """Return the candidates that would help most, the strongest first. None of them if none gains more than the tolerance."""
        helpful = strongest_violators(criterion.ranking(state), max(self.violators, len(state) // 2))
        is_done = not len(helpful) or not journal.budget.room(len(state))
        if is_done or criterion.addition(state, int(helpful[0]))[1] <= journal.budget.least_gain:
            return helpful[:0]
        return helpful
