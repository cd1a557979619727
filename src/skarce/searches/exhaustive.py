"""All sets of at most a few functions, by leaps and bounds."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from skarce._memory import require
from skarce._parameters import check_count
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.designs.choice import ALL_ONE_BY_ONE, Access
from skarce.moments import Moments
from skarce.searches.floating import Floating
from skarce.searches.leftovers import Leftovers
from skarce.searches.search import Search, Start
from skarce.searches.set_ridges import best_ridges
from skarce.searches.walk import LimitReachedError
from skarce.states.budget import LEAST_GAIN
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import RESOLUTION, State

ROUNDING = 1e-9  # of an energy, before it is called a bound
MOST_TIMINGS, TIMING_SECONDS = 20, 0.1  # of one set: the first calls are slow, and others are interrupted
LONG = 10.0  # seconds: a search that may take longer warns before it starts
FEWEST_TIMED = 1000  # sets: fewer do not take long, and timing one of them would
YEAR = 365.25  # days
MOST_YEARS = 1000.0  # that are told


@dataclass(frozen=True)
class Exhaustive(Search):
    r"""Compare all sets of at most `max_size` functions. The result is the best of them.

    This is for few candidates: it shows what a quicker search has missed. Sets that cannot be better than the best one so far are
    skipped together, by a bound on what they can reach. The notes say how certain the result is.

    Parameters
    ----------
    max_size : int, default=4
        The largest number of functions.
    max_sets : int, default=1000000
        The largest number of sets that the search begins with. If there are more, it raises an error before it starts, which says
        how many there are, and how long it would take at most. If that is longer than ten seconds, a warning says so, or with
        ``verbose`` a line.

    See Also
    --------
    Floating : Compares a small part of the sets, and often finds the best.
    Forward : One set of each size.
    skarce.SparseRegressor : The estimator for this search.

    Notes
    -----
    There are :math:`\sum_{k\le s}\binom Mk` sets of at most s of M candidates. The search walks through the tree of these sets. One
    function enters or leaves in each step, which is a rank-one change of what is left of all other candidates. The bounds come
    from that. A set that its bound does not exclude is solved by itself, from its block of Phi'Phi. A branch of the tree
    has a set A and the candidates C that may enter below it. Whatever enters, t is explained no better than by all of
    :math:`A\cup C`. If even the energy that these leave gives no better value of the criterion, the branch is skipped. These are
    the leaps and bounds of Furnival and Wilson [1]_ with an order of candidates for each branch, strongest first. One Cholesky
    factor gives the bounds of all branches below a set.

    The worth of `ExplainedVariance` and of `PenalizedError` is a function of this energy, so their bounds are tight. For evidence
    and GCV with ridges, the bound is the best value of any ridges that leave this energy. A criterion without a `ceiling` is asked
    about every set.

    *How certain is it?* If a criterion has one ridge for all functions, or none, a set has one worth, and no set of these sizes has
    more than the result. If it has one ridge for each function (`IndividualEvidence`, `GCV`), the bounds hold at all ridges, so no
    skipped set is better. But the worth of the sets that remain can have several maxima in their ridges. The search climbs to them
    from several starts for each set: common ridges, ridges near zero, and ridges near zero for all functions but one, for each in
    turn. A climb ends where no change, removal or return of a single function helps, and the highest counts. That is no proof that
    there is nothing higher. Tests compare it with many random starts. To begin with, such a search takes the model of `Floating`,
    so it is never worse than that.

    `OrthogonalGCV` depends on the order of functions, so it cannot compare sets.

    A step of `max_iter` is a branch or a set that the criterion was asked about, or a step of `Floating`. `trace_` has a row
    ``better`` for each set that was the best so far, with the function that entered last.

    References
    ----------
    .. [1] Furnival, G. M. and Wilson, R. W. (1974). Regressions by leaps and bounds. Technometrics 16, 499-511.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import ExplainedVariance
    >>> from skarce.searches import Exhaustive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 15))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> search = Exhaustive(max_size=3)
    >>> search.n_sets(15)
    576
    >>> model = SparseRegressor("passthrough", ExplainedVariance(stop="bic"), search).fit(X, y)
    >>> model.active_, model.outcome_.name
    (array([1, 3]), 'BEST_OF_ALL')
    """

    max_size: int = 4
    max_sets: int = 1_000_000

    def __post_init__(self) -> None:
        check_count("max_size", self.max_size)
        check_count("max_sets", self.max_sets)

    @property
    def access(self) -> Access:
        """All columns are read."""
        return ALL_ONE_BY_ONE

    def n_sets(self, n_candidates: int) -> int:
        """Return the number of sets of at most `max_size` of this many candidates, with the empty set."""
        return _n_sets(n_candidates, self.max_size)

    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        usable = np.flatnonzero(moments.gram.diagonal > 0.0)
        hunt = _Hunt(criterion, moments, journal, min(self.max_size, len(usable), journal.budget.room(0)))
        try:
            if start is not None and len(start[0]) <= hunt.most:
                hunt.judge(*start)
            if hunt.most:
                if criterion.has_own_ridges:
                    hunt.begin_with_greedy()
                self._say_cost(hunt, usable)
                require(len(usable), len(usable), f"Exhaustive, with {len(usable)} candidates,", "Offer fewer candidates")
                hunt.explore(np.empty(0, dtype=np.intp), Leftovers.of(moments, usable, criterion.least_ridge(moments)))
        except LimitReachedError as limit:
            return hunt.found(limit.outcome)
        return hunt.found(Outcome.BEST_OF_ALL)

    def _say_cost(self, hunt: _Hunt, usable: Indices) -> None:
        """Say how many sets there are and how long they may take: an error if too many, a warning if long, a line if verbose."""
        n_sets, is_verbose = _n_sets(len(usable), hunt.most), hunt.journal.budget.verbose > 0
        if n_sets < min(FEWEST_TIMED, self.max_sets) and not is_verbose:
            return
        largest = usable[np.argsort(-(hunt.moments.projections[usable] ** 2) / hunt.moments.gram.diagonal[usable])[: hunt.most]]
        seconds = n_sets * _quickest(lambda: hunt.settled(largest))
        cost = f"{n_sets:,} sets of at most {hunt.most} of {len(usable)} candidates, {_about(seconds)} at most"
        if n_sets > self.max_sets:
            raise ValueError(
                f"Exhaustive(max_size={self.max_size}) would compare {cost}, and max_sets={self.max_sets:,} does not allow that. "
                "Lower max_size, offer fewer candidates (KernelBasis(centers=30)), or use Floating(), which compares few sets. "
                "Raise max_sets if you can wait; bounds may save most of the time."
            )
        if is_verbose:
            print(f"Exhaustive: {cost}.", file=sys.stderr)
        elif seconds > LONG:
            warnings.warn(f"Exhaustive: {cost}. Bounds may save most of it; max_time= ends it earlier.", UserWarning, stacklevel=2)


@dataclass(frozen=True)
class _Found:
    """A set at its best ridges.

    Parameters
    ----------
    active : array of shape (n_active,)
        The candidates in the set.
    state : State
        The set at its best ridges.
    worth : float
        What the search makes large.
    score : float
        What decides if the worth of two sets of the same size is equal.
    """

    active: Indices
    state: State
    worth: float
    score: float

    def is_better_than(self, other: _Found) -> bool:
        """Compare worth, then size (smaller is better), then score. Differences that may be rounding do not count."""
        if not _nearly_equal(self.worth, other.worth):
            return self.worth > other.worth
        if len(self.active) != len(other.active):
            return len(self.active) < len(other.active)
        return self.score > other.score + LEAST_GAIN


class _Hunt:
    """The walk through the tree of sets, and the best set so far.

    Parameters
    ----------
    criterion : Criterion
        What makes a set good.
    moments : Moments
        What the data say about the candidates.
    journal : Journal
        The record of the search, with its limits.
    most : int
        The largest number of functions.
    """

    def __init__(self, criterion: Criterion, moments: Moments, journal: Journal, most: int) -> None:
        self.criterion, self.moments, self.journal, self.most = criterion, moments, journal, most
        self.best = self._judged(criterion.new_state(moments))

    def explore(self, members: Indices, leftovers: Leftovers) -> None:
        """Compare all sets that have these members and any of the candidates that are left."""
        self._check_limits()
        self.journal.pass_over()
        leftovers, size = leftovers.strongest_first(), len(members) + 1
        alone = self._ceiling(leftovers.energies_with_one(), size)
        if size == self.most:
            self._judge_leaves(members, leftovers, alone)
            return
        for position, ceiling in enumerate(self._ceiling(leftovers.energies_with_tails(), size)):
            if not self._may_win(ceiling, size):
                return  # those that follow have fewer candidates below them
            larger = np.append(members, leftovers.candidates[position])
            if self._may_win(alone[position], size):
                self.judge(larger)
            if position + 1 < len(leftovers):
                self.explore(larger, leftovers.after(position))

    def _judge_leaves(self, members: Indices, leftovers: Leftovers, ceilings: Floats) -> None:
        for position in np.argsort(-ceilings, kind="stable"):
            if not self._may_win(ceilings[position], len(members) + 1):
                return
            self.judge(np.append(members, leftovers.candidates[position]))

    def begin_with_greedy(self) -> None:
        """Judge the model of a floating search, at its ridges too. Its steps count."""
        branch = self.journal.branch()
        branch.budget = replace(branch.budget, max_active=self.most, verbose=0)
        fit = Floating().run(self.criterion, self.moments, branch)
        self._keep_if_best(fit.active, fit.ridges)
        self.journal.count(branch)

    def judge(self, members: Indices, ridges: Floats | None = None) -> None:
        """Ask the criterion about a set. Keep it if it is the best so far. Its ridges may be known already."""
        self._check_limits()
        self._keep_if_best(members, ridges)

    def _keep_if_best(self, members: Indices, ridges: Floats | None = None) -> None:
        state = self.settled(members, ridges)
        found = None if state is None else self._judged(state)
        if found is None or not found.is_better_than(self.best):
            self.journal.pass_over()
            return
        self.best = found
        self.journal.note("better", int(members[-1]), found.score, len(found.active))

    def settled(self, members: Indices, known: Floats | None = None) -> State | None:
        """Return a set at its best ridges. None if its functions depend on each other, and have no ridges that would allow it."""
        criterion, moments = self.criterion, self.moments
        if criterion.has_own_ridges:
            return criterion.new_state(moments, *best_ridges(criterion, moments, members, known))
        kept, ridges = criterion.starting(moments, members)
        if len(kept) < len(members):
            return None
        state = criterion.new_state(moments, kept, ridges)
        criterion.settle(state)
        return state

    def _judged(self, state: State) -> _Found:
        return _Found(state.active.copy(), state, float(self.criterion.worth(state)), self.criterion.state_score(state))

    def _ceiling(self, left: Floats, size: int) -> Floats:
        whole = self.moments.target_energy
        return self.criterion.ceiling(self.moments, np.maximum(left - ROUNDING * whole, RESOLUTION * whole), size)

    def _may_win(self, ceiling: float, size: int) -> bool:
        """Tell whether sets of at least this size and at most this worth may be better than the best one so far."""
        if _nearly_equal(ceiling, self.best.worth):
            return size <= len(self.best.active)
        return ceiling > self.best.worth

    def _check_limits(self) -> None:
        limit = self.journal.exhausted()
        if limit is not None:
            raise LimitReachedError(limit)

    def found(self, outcome: Outcome) -> Fit:
        state, size = self.best.state, len(self.best.active)
        ridges, mixing = self.criterion.penalty(state, size) if self.criterion.has_final_penalty else (state.ridges.copy(), None)
        return Fit(self.best.active, ridges, outcome, mixing, state.noise)


def _nearly_equal(first: float, second: float) -> bool:
    return first == second or abs(first - second) <= LEAST_GAIN * max(1.0, min(abs(first), abs(second)))


def _n_sets(n_candidates: int, largest: int) -> int:
    return sum(comb(n_candidates, size) for size in range(largest + 1))


def _quickest(task: Callable[[], object]) -> float:
    """Return the seconds that a task takes if nothing delays it."""
    begin = now = time.perf_counter()
    least = np.inf
    for _ in range(MOST_TIMINGS):
        before = now
        task()
        now = time.perf_counter()
        least = min(least, now - before)
        if now - begin > TIMING_SECONDS:
            break
    return float(least)


def _about(seconds: float) -> str:
    """Return a duration in words, with one digit."""
    if seconds >= MOST_YEARS * YEAR * 86400.0:
        return f"more than {MOST_YEARS:,.0f} years"
    for unit, length in (("years", YEAR * 86400.0), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * length:
            return f"about {float(f'{seconds / length:.1g}'):,.0f} {unit}"
    return f"about {max(float(f'{seconds:.1g}'), 1.0):.0f} seconds"
