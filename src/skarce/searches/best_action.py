"""One action per step: the addition, change or removal that gains most."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from skarce._parameters import check_count, check_flag, check_not_negative
from skarce._typing import Indices
from skarce.criteria import Criterion
from skarce.criteria.criterion import CompiledRule
from skarce.moments import Moments
from skarce.searches.checkpoint import Checkpoint
from skarce.searches.compiled import LEAST_REMAINDER, MOST_TOGETHER, take_steps
from skarce.searches.pace import Pace
from skarce.searches.search import Search, Start
from skarce.searches.walk import LimitReachedError, Walk
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import State

ILL_CONDITIONED_STRETCH = 64  # most steps between two refreshes if H is ill-conditioned
TAKEN_BACK = -1  # returned instead of a number of steps if they were taken back
LARGE_MODEL = 48  # with fewer functions, a step is cheap for all candidates
FEW_HELP = 1 / 8  # of the size of the model; if more candidates help, many are about to enter
NEARLY = 0.3  # candidates that rank lower, where 1 would help, do not enter within some hundred steps
FAR = 3  # candidates that are far are left out if all are this many times the active and the near ones
NOTICED = 1e-6  # smaller gains of the score are of no interest to anyone


def broken_promise(n_steps: int, tol: float) -> Outcome:
    """Return the outcome of a search that ends because its last steps gained nothing. The gain they promised may be negligible."""
    is_negligible = n_steps != TAKEN_BACK and n_steps * tol < NOTICED
    return Outcome.CONVERGED if is_negligible else Outcome.ILL_CONDITIONED


def nearby(criterion: Criterion, state: State) -> Indices | None:
    """Return the candidates that may enter during the next steps, or None if these are many or not known yet.

    If few candidates help, the model is nearly complete, and most steps change ridges. It takes long to tell candidates about a
    change, and those that are far from helping need not know before the next refresh.
    """
    if len(state) < LARGE_MODEL:
        return None
    ranking = criterion.ranking(state)
    near = np.flatnonzero(ranking > NEARLY)
    is_known = np.count_nonzero(ranking > 1.0) <= FEW_HELP * len(state)
    return near if is_known and FAR * (len(state) + len(near)) <= len(ranking) else None


@dataclass(frozen=True)
class BestAction(Search):
    r"""Take the best single action again and again: an addition, a removal, or a change of one ridge.

    The search ends if no action gains more than the tolerance of the estimator.

    Parameters
    ----------
    refresh_every : int, default=100
        Compute all quantities again from scratch after this many steps.
    max_drift : float, default=1e-8
        Compute them again earlier if updated quantities differ from exact identities by more than this, relative to their size.
    max_changes : int, default=2**31
        Refresh the state after this many changes of ridges in a row. Used only by compiled steps.
    together : int, default=1
        Look at additions only after this many changes of ridges in a row, at most 32. The best action is then not always taken,
        but a change costs less, and the search ends with the same guarantee. Used only by compiled steps.
    compiled : bool, default=True
        Use compiled code for the steps if the criterion supports it and the whole Gram matrix is in memory. The steps are the same
        without it, but slower.

    See Also
    --------
    GreedyBatches : Faster on hard problems. It ends with the same guarantee.
    Forward : Additions only, for any criterion.
    Floating : Additions and removals, with a memory of the best model of each size.
    skarce.RelevanceVectorRegressor : Uses this search with ``solver="sequential"``.
    skarce.FastGCVRegressor : Uses this search with ``solver="sequential"``.

    Notes
    -----
    With a criterion :math:`L(\Lambda)` that has one ridge per weight, each step solves

    .. math:: \max_j \max_{\lambda_j} L(\lambda_1, \dots, \lambda_j, \dots, \lambda_M),

    where :math:`\lambda_j=\infty` means that function j is left out. The inner maximum has a closed form (see `IndividualEvidence`
    and `GCV`). This is the algorithm of Tipping and Faul [1]_ for the evidence, and of Sundararajan, Shevade and Keerthi [2]_ for
    generalized cross validation.

    If the criterion has one ridge for all functions, single ridges cannot change. The criterion then estimates the common ridge
    again after each action, and an action that gained nothing in the end is undone.

    References
    ----------
    .. [1] Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. Proceedings of
       the Ninth International Workshop on Artificial Intelligence and Statistics.
    .. [2] Sundararajan, S., Shevade, S. and Keerthi, S. S. Fast generalized cross validation algorithm for sparse model learning.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import IndividualEvidence
    >>> from skarce.searches import BestAction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", IndividualEvidence(), BestAction()).fit(X, y).active_
    array([1, 3])
    """

    refresh_every: int = 100
    max_drift: float = 1e-8
    max_changes: int = 2**31
    together: int = 1
    compiled: bool = True

    def __post_init__(self) -> None:
        check_count("refresh_every", self.refresh_every)
        check_not_negative("max_drift", self.max_drift)
        check_count("max_changes", self.max_changes)
        check_count("together", self.together, most=MOST_TOGETHER)
        check_flag("compiled", self.compiled)

    @property
    def starts_anywhere(self) -> bool:
        return True

    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        if criterion.shares_ridge:
            return self._with_shared_ridge(Walk(criterion, moments, journal, start))
        state = criterion.new_state(moments, *(start or ()))
        outcome = self._take_stretches(criterion, state, journal)
        return Fit(state.active.copy(), state.ridges.copy(), outcome)

    def _take_stretches(self, criterion: Criterion, state: State, journal: Journal) -> Outcome:
        """Take steps between refreshes. The search has converged if no step is taken right after a refresh.

        Every stretch raises the newly computed score by a share of what its steps promised, or it is the last.
        """
        tol, pace = journal.budget.least_gain, Pace(journal)
        while True:
            limit = journal.exhausted()
            if limit is not None:
                return limit
            before = Checkpoint(criterion, state, journal)
            n_steps = self.stretch(criterion, state, journal, tol, pace.begin(self.refresh_every))
            pace.end()
            if n_steps == TAKEN_BACK or (n_steps and before.has_broken_its_promise(n_steps * tol)):
                return broken_promise(n_steps, tol)
            if not n_steps:
                return Outcome.SIZE_LIMIT if journal.budget.room(len(state)) == 0 else Outcome.CONVERGED

    def _with_shared_ridge(self, walk: Walk) -> Fit:
        """Search with one ridge for all functions. After it is estimated again, an action may turn out to have gained nothing."""
        try:
            while self._takes_action(walk):
                pass
        except LimitReachedError as limit:
            return walk.found(limit.outcome)
        return walk.found(Outcome.SIZE_LIMIT if walk.journal.budget.room(len(walk)) == 0 else Outcome.CONVERGED)

    def _takes_action(self, walk: Walk) -> bool:
        """Take the best action. Return False, with everything as before, if it does not gain more than the tolerance."""
        walk.check_limits()
        budget, before = walk.journal.budget, walk.here()
        action, index, ridge, gain = self.best(walk.criterion, walk.state, budget.room(len(walk)))
        if gain > budget.least_gain and not walk.state.is_exact():
            if action == "add":
                walk.add(index, ridge)
            else:
                walk.remove(index)
        if walk.worth > before.worth + budget.least_gain:
            return True
        walk.go_back(before)
        return False

    def has_compiled_steps(self, criterion: Criterion, state: State) -> bool:
        return self.compiled and state.moments.gram.is_whole and criterion.compiled_rule() is not None

    def stretch(self, criterion: Criterion, state: State, journal: Journal, tol: float, at_most: int) -> int:
        """Take up to `at_most` best actions from a fresh state, until none gains more than `tol`. Return their number.

        Return `TAKEN_BACK` if the refresh shows that the actions gained nothing: the gain was only rounding.
        """
        before = Checkpoint(criterion, state, journal)
        if state.is_ill_conditioned:
            at_most = min(at_most, ILL_CONDITIONED_STRETCH if self.has_compiled_steps(criterion, state) else 1)
        n_steps = self._steps(criterion, state, journal, tol, at_most)
        if n_steps and before.take_back_what_failed():
            n_steps = self._steps(criterion, state, journal, tol, 1) if n_steps > 1 and not journal.exhausted() else TAKEN_BACK
            if n_steps == 1 and before.take_back_what_failed():
                return TAKEN_BACK
        return n_steps

    def _steps(self, criterion: Criterion, state: State, journal: Journal, tol: float, at_most: int) -> int:
        budget = journal.budget
        n_steps = min(at_most, budget.max_steps - journal.n_steps)
        rule = criterion.compiled_rule() if self.has_compiled_steps(criterion, state) else None
        if rule is not None:
            n_taken = self._compiled_steps(rule, criterion, state, journal, tol, n_steps)
            if n_taken or not state.dependent < LEAST_REMAINDER:
                return n_taken
            n_steps = 1  # perhaps a candidate helps of which the compiled steps see nothing left
        score = criterion.score(state, state.moments.n_samples)
        for step in range(n_steps):
            action, index, ridge, gain = self.best(criterion, state, budget.room(len(state)))
            if gain <= tol or state.is_exact():
                n_steps = step
                break
            candidate = index if action == "add" else int(state.active[index])
            self.apply(state, action, index, ridge)
            score += gain
            journal.note(action, candidate, score, len(state))
            if state.has_sign_violation() or (step % 25 == 24 and state.drift() > self.max_drift):
                n_steps = step + 1
                break
        if n_steps:
            state.refresh()
        return n_steps

    def _compiled_steps(
        self, rule: CompiledRule, criterion: Criterion, state: State, journal: Journal, tol: float, at_most: int
    ) -> int:
        """Take compiled steps, also after refreshes that became due on the way if the state has squares. Return their number."""
        n_taken, most_changes = 0, min(self.max_changes, sys.maxsize)
        while n_taken < at_most:
            size, score = len(state), criterion.score(state, state.moments.n_samples)
            room = journal.budget.room(size)
            near = nearby(criterion, state) if state.has_squares else None
            steps = take_steps(rule, state, tol, at_most - n_taken, room, most_changes, self.together, near)
            journal.note_all(steps.actions, steps.candidates, score + steps.gains.cumsum(), size + steps.growth.cumsum())
            n_taken += len(steps.actions)
            goes_on = steps.is_cut_short and state.has_squares and not state.loses_digits()
            if not goes_on or journal.exhausted() is not None:
                break
        return n_taken

    @staticmethod
    def best(criterion: Criterion, state: State, room: int) -> tuple[str, int, float, float]:
        best = ("none", -1, 0.0, 0.0)
        if room:
            ranking = criterion.ranking(state)
            candidate = int(ranking.argmax())
            if ranking[candidate] > 1.0:
                best = ("add", candidate, *criterion.addition(state, candidate))
        if len(state):
            ridges, gains = criterion.changes(state, state.moments.n_samples)
            position = int(gains.argmax())
            if gains[position] > best[3]:
                action = "change" if np.isfinite(ridges[position]) else "delete"
                best = (action, position, float(ridges[position]), float(gains[position]))
        return best

    @staticmethod
    def apply(state: State, action: str, index: int, ridge: float) -> None:
        if action == "add":
            state.add(index, ridge)
        elif action == "change":
            state.change(index, ridge)
        else:
            state.remove(index)
