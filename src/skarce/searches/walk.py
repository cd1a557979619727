"""A model that goes from set to set: the steps of searches that add and remove one function at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.searches.standing import Standing
from skarce.searches.trail import Trail
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

TIE = 1e-12  # gains that differ by less than this share count as equal; the candidate with the smaller index goes first
CHECK_EVERY, MAX_DRIFT = 25, 1e-8  # operations between two checks of the updated quantities, and their largest allowed drift


class LimitReachedError(Exception):
    """A limit forbids another operation. `outcome` says which limit."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome


@dataclass(frozen=True)
class Place:
    """A model that the search has visited, with everything needed to come back to it.

    Attributes
    ----------
    active : array of shape (n_active,)
        The candidates in the model.
    ridges : array of shape (n_active,)
        Their ridges.
    noise : float or None
        The noise variance if the criterion holds one.
    worth : float
        The worth of the model.
    score : float
        The score of the model.
    row : int
        The number of rows of the journal at that time.
    snapshot : object
        What the state needs to come back.
    """

    active: Indices
    ridges: Floats
    noise: float | None
    worth: float
    score: float
    row: int
    snapshot: Any

    def __len__(self) -> int:
        return len(self.active)


def first_of_the_best(values: Floats) -> int:
    """Return the index of the largest value, or of the first one if several are equal."""
    largest = float(values.max())
    return int(np.argmax(values >= largest - TIE * abs(largest)))


class Walk:
    """The present model, the best model so far, and the steps from one model to the next.

    Parameters
    ----------
    criterion : Criterion
        What makes a set good.
    moments : Moments
        What the data say about the candidates.
    journal : Journal
        The record of the steps, with the limits.
    start : tuple of candidates and ridges, default=None
        The first model. None starts from the empty model.
    always_in : array of int, default=None
        Candidates that no step removes.
    n_basis : int, default=None
        The number of functions that was asked for. With None the score decides.
    needed : float, default=0.0
        An improvement counts only if it is larger than this.
    """

    def __init__(
        self,
        criterion: Criterion,
        moments: Moments,
        journal: Journal,
        start: tuple[Indices, Floats] | None = None,
        *,
        always_in: Indices | None = None,
        n_basis: int | None = None,
        needed: float = 0.0,
    ) -> None:
        self.criterion, self.moments, self.journal = criterion, moments, journal
        self.always_in = np.empty(0, dtype=np.intp) if always_in is None else always_in
        self.n_basis, self.needed = n_basis, needed
        self._stopwatch = journal.stopwatch()  # a step takes about as long as making the state of the start
        self.state = criterion.new_state(moments, *(start or ()))
        self._n_operations = 0
        self.score = self.worth = -np.inf
        self.criterion.settle(self.state)
        self._judge()
        self.best = self.here()
        self._standing = Standing(len(self), self.worth, needed)
        self._trail = Trail(self.state, self.worth)

    def __len__(self) -> int:
        return len(self.state)

    # Operations ----------------------------------------------------------------------------------------------------------

    def add_best(self, *, remember: bool = True) -> bool:
        """Add the best usable candidate. Return False if there is none."""
        self.check_limits()
        # A constant candidate explains nothing, whatever a criterion says about it.
        ranking = np.where(self.moments.gram.diagonal > 0.0, self.criterion.ranking(self.state), 0.0)
        candidate = first_of_the_best(ranking) if len(ranking) else -1
        if candidate < 0 or not ranking[candidate] > 0.0:
            return False
        ridge, _ = self.criterion.addition(self.state, candidate)
        return bool(np.isfinite(ridge)) and self.add(candidate, ridge, remember=remember)

    def add(self, candidate: int, ridge: float, *, remember: bool = True) -> bool:
        """Add this candidate. If it depends on the others to working precision, change nothing and return False."""
        before = self.state.snapshot()
        size = len(self)
        self.state.add(candidate, ridge)
        self._refresh_and_settle()
        if len(self) <= size:
            self.state.restore(before)
            return False
        self._note("add", candidate, remember)
        return True

    def worst(self) -> int | None:
        """Return the position of the function whose removal costs least, or None if all functions must stay."""
        by_index = np.argsort(self.state.active, kind="stable")
        removable = by_index[~np.isin(self.state.active[by_index], self.always_in)]
        if not len(removable):
            return None
        gains = self.criterion.removal_gains(self.state, removable, self.moments.n_samples)
        return int(removable[first_of_the_best(gains)])

    def remove(self, position: int, *, remember: bool = True) -> None:
        """Remove the function at this position."""
        self.check_limits()
        candidate = int(self.state.active[position])
        self.state.remove(position)
        self._refresh_and_settle()
        self._note("delete", candidate, remember)

    def remove_worst(self, *, remember: bool = True) -> bool:
        """Remove the function whose removal costs least. Return False if there is none to remove."""
        position = self.worst()
        if position is None:
            return False
        self.remove(position, remember=remember)
        return True

    # Models --------------------------------------------------------------------------------------------------------------

    def here(self) -> Place:
        """Return the present model as a place to come back to."""
        state = self.state
        row = self.journal.n_rows
        return Place(state.active.copy(), state.ridges.copy(), state.noise, self.worth, self.score, row, state.snapshot())

    def go_back(self, place: Place) -> None:
        """Come back to a place. The journal notes how many rows back it is."""
        if self.journal.n_rows == place.row:
            return
        if self.journal.n_steps >= self.journal.budget.max_steps:  # even this is a step; `found` knows the best model
            raise LimitReachedError(Outcome.STEP_LIMIT)
        self.state.restore(place.snapshot)
        self._trail.break_off()
        self.worth, self.score = place.worth, place.score
        self.journal.note("undo", self.journal.n_rows - place.row, self.score, len(self))

    def compare(self) -> None:
        """Remember the present model if it is the best so far, or if it is smaller and worse by less than `needed`."""
        nearer = self._distance(len(self.best)) - self._distance(len(self))
        if self._standing.judge(len(self), self.worth, nearer):
            self.best = self.here()

    def found(self, outcome: Outcome) -> Fit:
        """Return the best model of all as a fit, with at most `max_active` functions even if a limit ended the way down to them."""
        cap = self.journal.budget.max_active
        if cap is not None and len(self.best) > cap:
            self._keep_what_fits(cap)
        size, ridges, mixing = len(self.best), self.best.ridges, None
        if self.criterion.has_final_penalty:
            if not np.array_equal(self.state.active[:size], self.best.active):
                self.state.restore(self.best.snapshot)
            ridges, mixing = self.criterion.penalty(self.state, size)
        return Fit(self.best.active, ridges, outcome, mixing, self.best.noise, nested=self._trail.nested())

    def _keep_what_fits(self, size: int) -> None:
        """Reduce the best model to the `size` functions that cost most to remove. The others leave at once."""
        self.state.restore(self.best.snapshot)
        costs = -self.criterion.removal_gains(self.state, np.arange(len(self)), self.moments.n_samples)
        costs[np.isin(self.state.active, self.always_in)] = np.inf
        kept = np.sort(np.argsort(-costs, kind="stable")[:size])
        self.state.keep(kept, self.state.ridges[kept])
        self.criterion.settle(self.state)
        self._trail.break_off()
        self._judge()
        self.best = self.here()

    # When to stop --------------------------------------------------------------------------------------------------------

    def is_past_the_best(self, patience: int, share: float) -> bool:
        """Tell whether the model has grown so much since the last improvement that the search should end."""
        return self.n_basis is None and self._standing.is_past(len(self), patience, share)

    def is_enough(self, *, growing: bool = True) -> bool:
        """Tell whether the model is good enough, or has as many functions as were asked for."""
        if self.best.worth == np.inf:
            return True
        return self.n_basis is not None and (len(self) >= self.n_basis if growing else len(self) <= self.n_basis)

    def has_room(self, growth: int = 1) -> bool:
        return self.journal.budget.room(len(self)) >= growth

    def full(self, otherwise: Outcome) -> Outcome:
        """Return the outcome of a search that may not grow. It is SIZE_LIMIT only if the largest model is the best."""
        return Outcome.SIZE_LIMIT if len(self.best) >= len(self) else otherwise

    def end(self, otherwise: Outcome) -> Outcome:
        """Return the outcome of a search that cannot continue."""
        if self.n_basis is not None:
            return Outcome.GOAL_REACHED if len(self.best) == self.n_basis else Outcome.TOO_FEW_CANDIDATES
        return otherwise

    def _distance(self, size: int) -> int:
        """Return how far a size is from what was asked for. The closest size is best, whatever the score."""
        if self.n_basis is not None:
            return abs(size - self.n_basis)
        cap = self.journal.budget.max_active
        return 0 if cap is None else max(size - cap, 0)

    def check_limits(self) -> None:
        """Raise a `LimitReachedError` if a limit forbids another operation that takes as long as the last one."""
        limit = self._stopwatch.exhausted()
        if limit is not None:
            raise LimitReachedError(limit)

    def _refresh_and_settle(self) -> None:
        self._n_operations += 1
        is_due = self._n_operations % CHECK_EVERY == 0
        if self.state.has_sign_violation() or (is_due and self.state.drift() > MAX_DRIFT):
            self.state.refresh()
        self.criterion.settle(self.state)

    def _note(self, action: str, candidate: int, remember: bool) -> None:
        self._judge()
        self.journal.note(action, candidate, self.score, len(self))
        self._trail.note(action, candidate, self.state, self.worth)
        if remember:
            self.compare()

    def _judge(self) -> None:
        self.score, self.worth = self.criterion.state_score(self.state), float(self.criterion.worth(self.state))
