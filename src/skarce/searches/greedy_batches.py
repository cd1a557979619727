"""The fast schedule: greedy batches of additions, joint steps for all ridges, and pools if there are many candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._parameters import check_count, check_finite_share
from skarce._text import quoted
from skarce._typing import Indices
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.searches.best_action import TAKEN_BACK, BestAction, broken_promise
from skarce.searches.checkpoint import Checkpoint
from skarce.searches.joint_steps import joint_steps
from skarce.searches.pace import Pace
from skarce.searches.pool_choice import strongest_violators
from skarce.searches.pools import Pools
from skarce.searches.search import Search, Start
from skarce.states.device_block import block_of
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import State, resolved_energy

LEAST_COUNTS = {"smallest_batch": 1, "max_joint_steps": 1, "max_tight_steps": 1, "few": -1, "stretch": 1, "max_changes": 1}
SMALL_MODEL = 48  # at most this many functions; with more, a second search takes too long
MOST_TRIES = 3  # times that several functions are added at once although none of them helps alone
TOGETHER = 8  # changes of ridges in a large model before additions are looked at again, if the criterion needs no squares
SHORTLIST = 2  # a short list has this many times the functions that a batch may add
IDLE_ROUNDS = 3  # rounds of joint steps in a row that raise nothing


@dataclass(frozen=True)
class GreedyBatches(Search):
    r"""Add functions in greedy batches, and move all ridges together by Newton steps. This is the fast schedule.

    It needs a criterion with one ridge per weight, such as `IndividualEvidence` or `GCV`.

    Parameters
    ----------
    smallest_batch : int, default=8
        A batch has at most this many additions, or `growth` times the size of the model if that is more.
    growth : float, default=0.5
        Largest size of a batch, as a share of the number of active functions.
    batch_end : float, default=0.1
        A batch ends if the next gain is below this share of its first gain.
    looseness : float, default=0.1
        The joint steps between two batches end if a step promises less than this share of the first gain of the batch.
    max_joint_steps : int, default=3
        Largest number of joint steps between two batches.
    max_tight_steps : int, default=8
        Largest number of joint steps in a row if no addition helps.
    few : int, default=400
        Models of at most this many functions take compiled single actions instead of batches, because those are faster. This needs
        a criterion with compiled steps and the whole Gram matrix in memory. -1 always takes batches.
    stretch : int, default=400
        Largest number of single actions between two refreshes.
    max_changes : int, default=100
        After this many single changes of ridges in a row, joint steps take over.
    pools : Pools, default=Pools()
        How to work on a few candidates at a time if the whole Gram matrix is not in memory.
    most_used : float, default=1.0
        The search ends if the model uses up more than this share of the rows, as degrees of freedom. Only for a criterion that
        counts them, such as `GCV`.

    See Also
    --------
    BestAction : One action per step.
    Pools : How a search works on a few of many candidates.
    skarce.RelevanceVectorRegressor : Uses this search with ``solver="fast"``.
    skarce.FastGCVRegressor : Uses this search with ``solver="fast"``.

    Notes
    -----
    If every single action is followed by a scan of all candidates, hard problems need thousands of scans. Here a scan is followed
    by a batch of additions. Each addition of a batch is the best one, and its gain is exact. A batch is followed by second-order
    steps for all ridges at once. With the gradient g and the Hessian of the score L in :math:`\log\lambda`, a step :math:`\delta`
    solves

    .. math:: (-\nabla^2 L + \mu D)\,\delta = g,

    where D is a positive diagonal scale, and the damping :math:`\mu` of Levenberg [1]_ makes sure that the score rises. Functions
    that are better left out at any ridge are removed between steps.

    The result has the same guarantee as that of `BestAction`: no single change gains more than the tolerance of the estimator.

    References
    ----------
    .. [1] Levenberg, K. (1944). A method for the solution of certain non-linear problems in least squares. Quarterly of Applied
       Mathematics 2, 164-168.
    .. [2] Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. Proceedings of
       the Ninth International Workshop on Artificial Intelligence and Statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import IndividualEvidence
    >>> from skarce.searches import GreedyBatches
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", IndividualEvidence(), GreedyBatches()).fit(X, y).active_
    array([1, 3])
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
    pools: Pools = field(default_factory=Pools)
    most_used: float = 1.0

    def __post_init__(self) -> None:
        for name, least in LEAST_COUNTS.items():
            check_count(name, getattr(self, name), least)
        for name in ("growth", "batch_end", "looseness", "most_used"):
            check_finite_share(name, getattr(self, name))
        if not isinstance(self.pools, Pools):
            raise TypeError(f"pools must be an object Pools(...), got {quoted(self.pools)}.")

    @property
    def moves_ridges(self) -> bool:
        return True

    @property
    def starts_anywhere(self) -> bool:
        return True

    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        return self.pools.run(self._raise_criterion, criterion, moments, journal, start)

    def _raise_criterion(
        self,
        criterion: Criterion,
        state: State,
        journal: Journal,
        tol: float,
        is_enough: Callable[[State], bool] = lambda state: False,
    ) -> Outcome:
        """Raise the criterion until neither single actions nor joint steps gain more than `tol`, or until `is_enough`.

        A round of actions raises the newly computed score by a share of what it promised, or it is the last. So are a few rounds
        of joint steps that raise nothing. The score has an upper bound, so this ends.
        """
        climb = _Climb(self, criterion, state, journal, tol)
        while True:
            limit = Outcome.CONVERGED if state.is_exact() or is_enough(state) else journal.exhausted()
            if limit is None and state.has_squares and state.freedom < (1.0 - self.most_used) * state.moments.n_samples:
                limit = Outcome.HALF_USED
            outcome = climb.round() if limit is None else limit
            if outcome is not None:
                return outcome

    def add_batch(self, criterion: Criterion, state: State, journal: Journal, tol: float) -> tuple[int, float]:
        """Add functions greedily. Return how many there were, and the gain of the first."""
        limit = min(max(self.smallest_batch, int(self.growth * len(state))), journal.budget.room(len(state)))
        if len(state) > self.few:
            shortlist = strongest_violators(criterion.ranking(state), SHORTLIST * limit)
            if not len(shortlist):
                return 0, 0.0
            left = state.left_of(shortlist)
            if left is not None:
                return self._add_from_shortlist(criterion, state, left, shortlist, journal, tol, limit)
        n_before, before, first_gain = len(state), Checkpoint(criterion, state, journal), 0.0
        score = criterion.score(state, state.moments.n_samples)
        for candidate, gain in self._best_additions(criterion, state, journal, tol, limit):
            first_gain, score = first_gain or gain, score + gain
            journal.note("add", candidate, score, len(state))
            if state.is_ill_conditioned:
                state.refresh()
                if before.take_back_what_failed():
                    return TAKEN_BACK, 0.0
                break
        return len(state) - n_before, first_gain

    def _add_from_shortlist(
        self, criterion: Criterion, state: State, left: State, shortlist: Indices, journal: Journal, tol: float, limit: int
    ) -> tuple[int, float]:
        """Add functions from those that would help most. All others are looked at again before the next batch.

        With L active functions and M candidates, an addition costs O(L M). On what the active functions leave of a short list, it
        costs no more than in a small model.
        """
        n_before = len(state)
        first_gain, score = 0.0, criterion.score(state, state.moments.n_samples)
        for candidate, gain in self._best_additions(criterion, left, journal, tol, limit):
            first_gain, score = first_gain or gain, score + gain
            journal.note("add", int(shortlist[candidate]), score, n_before + len(left))
        if len(left):
            state.extend(shortlist[left.active], left.ridges)
        return len(left), first_gain

    def _best_additions(
        self, criterion: Criterion, state: State, journal: Journal, tol: float, limit: int
    ) -> Iterator[tuple[int, float]]:
        """Make the best addition up to `limit` times, until one gains little beside the first. Yield candidates and gains."""
        least = tol
        for n_added in range(limit):
            if journal.exhausted() is not None:
                return
            ranking = criterion.ranking(state)
            candidate = int(ranking.argmax())
            if not ranking[candidate] > 1.0 or state.is_exact():
                return
            ridge, gain = criterion.addition(state, candidate)
            if gain <= least:
                return
            least = least if n_added else max(tol, self.batch_end * gain)
            state.add(candidate, ridge)
            yield candidate, gain

    @staticmethod
    def move_ridges(criterion: Criterion, state: State, journal: Journal, tolerance: float, max_steps: int) -> bool:
        """Take joint steps and compute everything again. Return whether they converged with all functions kept.

        Nothing happens if a limit is reached or no function is left.
        """
        if journal.exhausted() is not None or not len(state):
            return False
        n_before, n_samples, before = len(state), state.moments.n_samples, Checkpoint(criterion, state, journal)
        try:
            moments, active = state.moments, state.active
            block = block_of(moments.gram, active, moments.projections[active], resolved_energy(moments), state.ridges.copy())
        except NotPositiveDefiniteError:
            state.refresh()  # this removes dependent functions; joint steps would gain nothing
            return True
        settled = joint_steps(criterion, block, n_samples, tolerance, max_steps, is_late=lambda: journal.exhausted() is not None)
        if settled.block is block:
            return settled.converged
        state.keep(settled.positions, settled.block.ridges)
        if before.take_back_what_failed():
            return True
        score = criterion.score(state, n_samples)
        journal.note("joint" if len(state) == n_before else "prune", -1, score, len(state))
        return settled.converged and len(state) == n_before


class _Climb:
    """The rounds of `GreedyBatches`: single actions or a batch of additions, followed by joint steps.

    Parameters
    ----------
    schedule : GreedyBatches
        The sizes of batches, and the numbers of steps.
    criterion : Criterion
        What the rounds raise.
    state : State
        The set, which changes.
    journal : Journal
        The record of the steps, with the limits.
    tol : float
        The smallest gain that counts.
    """

    def __init__(self, schedule: GreedyBatches, criterion: Criterion, state: State, journal: Journal, tol: float) -> None:
        self._schedule, self._criterion, self._state, self._journal, self._tol = schedule, criterion, state, journal, tol
        self._single = BestAction(refresh_every=schedule.stretch, max_changes=schedule.max_changes)
        self._pace = Pace(journal)
        self._is_tight = False
        self._n_idle = self._n_tries = 0
        self._since_tight = 0.0  # how much actions have gained since joint steps converged
        self._before_try: Checkpoint | None = None

    def round(self) -> Outcome | None:
        """Take actions, then joint steps. Return the outcome if this was the last round."""
        state, before = self._state, Checkpoint(self._criterion, self._state, self._journal)
        by_single_actions = state.is_ill_conditioned or (
            len(state) <= self._schedule.few and self._single.has_compiled_steps(self._criterion, state)
        )
        n_actions, first_gain, is_settled = self._single_actions() if by_single_actions else self._batch()
        if n_actions == TAKEN_BACK:
            return Outcome.ILL_CONDITIONED
        if n_actions == 0 and (self._is_tight or not len(state)):
            if self._tries_several():
                return None
            return Outcome.SIZE_LIMIT if self._journal.budget.room(len(state)) == 0 else Outcome.CONVERGED
        if is_settled:
            # Single actions check every change themselves. After batches only tight joint steps do.
            tolerance = (10.0 if by_single_actions else 0.1) * self._tol
            if not self._stays_tight(before, tolerance):
                self._is_tight = self._move_ridges(tolerance, self._schedule.max_tight_steps)
        elif first_gain:
            tolerance = max(self._schedule.looseness * first_gain, 0.1 * self._tol)
            self._move_ridges(tolerance, self._schedule.max_joint_steps)
        return self._checked(before, n_actions)

    def _stays_tight(self, before: Checkpoint, tolerance: float) -> bool:
        """Tell whether joint steps have converged, and the actions since then gained less than what joint steps would stop at.

        With P squared, a joint step takes as long as many actions. If H is ill-conditioned, joint steps come again all the same:
        the score that actions promise has fewer digits than the one that is computed after joint steps.
        """
        if not (self._is_tight and self._state.has_squares) or self._state.loses_digits():
            return False
        self._since_tight += before.rise()
        return 0.0 < self._since_tight <= tolerance

    def _tries_several(self) -> bool:
        """Add several functions at once, and go on from there. Return False, at the best set so far, if that has not helped before.

        If functions are nearly dependent, several of them may help together although none of them helps alone.
        """
        state, room = self._state, self._journal.budget.room(len(self._state))
        if self._before_try is not None and self._before_try.has_broken_its_promise(self._tol):
            return False
        if len(state) > SMALL_MODEL or not (state.has_squares and state.loses_digits()) or self._n_tries >= MOST_TRIES or not room:
            return False
        self._n_tries += 1
        self._before_try, diagonal = Checkpoint(self._criterion, state, self._journal), state.moments.gram.diagonal
        ranking = self._criterion.ranking(state)
        usable = np.flatnonzero(ranking > 0.0)
        several = usable[np.argsort(-ranking[usable])[: min(max(self._schedule.smallest_batch, len(state) // 2), room)]]
        share = float(np.exp(np.log(state.ridges / diagonal[state.active]).mean()))
        state.extend(several, share * diagonal[several])
        self._is_tight = self._move_ridges(10.0 * self._tol, self._schedule.max_tight_steps)
        return True

    def _single_actions(self) -> tuple[int, float, bool]:
        most = self._pace.begin(self._single.refresh_every)
        waits = len(self._state) > SMALL_MODEL and not self._state.has_squares
        actions = replace(self._single, together=TOGETHER) if waits else self._single
        n_actions = actions.stretch(self._criterion, self._state, self._journal, self._tol, most)
        self._pace.end()
        return n_actions, 0.0, n_actions < (1 if self._state.is_ill_conditioned else most)

    def _batch(self) -> tuple[int, float, bool]:
        n_actions, first_gain = self._schedule.add_batch(self._criterion, self._state, self._journal, self._tol)
        return n_actions, first_gain, n_actions == 0

    def _move_ridges(self, tolerance: float, max_steps: int) -> bool:
        self._since_tight = 0.0
        return self._schedule.move_ridges(self._criterion, self._state, self._journal, tolerance, max_steps)

    def _checked(self, before: Checkpoint, n_actions: int) -> Outcome | None:
        """Return the outcome if the actions have not gained what they promised, or if joint steps gain nothing again and again."""
        if n_actions > 0:
            self._n_idle = 0
            return broken_promise(n_actions, self._tol) if before.has_broken_its_promise(n_actions * self._tol) else None
        self._n_idle = 0 if before.rise() > 0.0 or self._is_tight else self._n_idle + 1
        return Outcome.CONVERGED if self._n_idle >= IDLE_ROUNDS else None
