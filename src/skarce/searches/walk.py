"""A model on its way from set to set: what searches do with it that add and take away one function at a time."""

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

TIE = 1e-12  # gains that differ by less than this share are equal, and the candidate with the smaller index goes first
CHECK_EVERY, MAX_DRIFT = 25, 1e-8  # operations between two looks at how far maintained quantities are off, and how far they may be


class LimitReachedError(Exception):
    """A limit forbids another operation; carries the outcome that says which."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome


@dataclass(frozen=True)
class Place:
    """A model that was on the way, with all that it takes to come back."""

    active: Indices
    ridges: Floats
    noise: float | None
    worth: float
    score: float
    row: int  # of the journal
    snapshot: Any

    def __len__(self) -> int:
        return len(self.active)


def first_of_the_best(values: Floats) -> int:
    """Where the largest value is; of equal ones the first."""
    largest = float(values.max())
    return int(np.argmax(values >= largest - TIE * abs(largest)))


class Walk:
    """The present model, the best one so far, and how to get from one to the next.

    Parameters
    ----------
    start : candidates and their ridges, or None
    always_in : candidates that no step takes away
    n_basis : the number of functions that is asked for; None lets the score decide
    needed : an improvement by less does not count
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
        """Let the best usable candidate in; False where there is none."""
        self._check_limits()
        ranking = self.criterion.ranking(self.state)
        candidate = first_of_the_best(ranking) if len(ranking) else -1
        if candidate < 0 or not ranking[candidate] > 0.0:
            return False
        ridge, _ = self.criterion.addition(self.state, candidate)
        return bool(np.isfinite(ridge)) and self.add(candidate, ridge, remember=remember)

    def add(self, candidate: int, ridge: float, *, remember: bool = True) -> bool:
        """Let this one in; False, and nothing has changed, where it is dependent on the others to working precision."""
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
        """The position of the function that is missed least; None where all have to stay."""
        by_index = np.argsort(self.state.active, kind="stable")
        removable = by_index[~np.isin(self.state.active[by_index], self.always_in)]
        if not len(removable):
            return None
        gains = self.criterion.removal_gains(self.state, removable, self.moments.n_samples)
        return int(removable[first_of_the_best(gains)])

    def remove(self, position: int, *, remember: bool = True) -> None:
        """Take the function at this position away."""
        self._check_limits()
        candidate = int(self.state.active[position])
        self.state.remove(position)
        self._refresh_and_settle()
        self._note("delete", candidate, remember)

    def remove_worst(self, *, remember: bool = True) -> bool:
        """Take away the function that is missed least; False where there is none to take."""
        position = self.worst()
        if position is None:
            return False
        self.remove(position, remember=remember)
        return True

    # Models --------------------------------------------------------------------------------------------------------------

    def here(self) -> Place:
        """A place to come back to."""
        state = self.state
        row = self.journal.n_rows
        return Place(state.active.copy(), state.ridges.copy(), state.noise, self.worth, self.score, row, state.snapshot())

    def go_back(self, place: Place) -> None:
        """Be where we were; the journal says how many rows back that is."""
        if self.journal.n_rows == place.row:
            return
        self.state.restore(place.snapshot)
        self._trail.break_off()
        self.worth, self.score = place.worth, place.score
        self.journal.note("undo", self.journal.n_rows - place.row, self.score, len(self))

    def compare(self) -> None:
        """Remember the present model if it is the best so far, or a smaller one that is not worse by as much as counts."""
        nearer = self._distance(len(self.best)) - self._distance(len(self))
        if self._standing.judge(len(self), self.worth, nearer):
            self.best = self.here()

    def found(self, outcome: Outcome) -> Fit:
        """The best model of all."""
        size, ridges, mixing = len(self.best), self.best.ridges, None
        if self.criterion.has_final_penalty:
            if not np.array_equal(self.state.active[:size], self.best.active):
                self.state.restore(self.best.snapshot)
            ridges, mixing = self.criterion.penalty(self.state, size)
        return Fit(self.best.active, ridges, outcome, mixing, self.best.noise, nested=self._trail.nested())

    # When to stop --------------------------------------------------------------------------------------------------------

    def is_past_the_best(self, patience: int, share: float) -> bool:
        """Whether the model has grown so far since the last improvement that it is no use to go on."""
        return self.n_basis is None and self._standing.is_past(len(self), patience, share)

    def is_enough(self, *, growing: bool = True) -> bool:
        """Whether the model is worth any price, or there are as many functions as were asked for."""
        if self.best.worth == np.inf:
            return True
        return self.n_basis is not None and (len(self) >= self.n_basis if growing else len(self) <= self.n_basis)

    def has_room(self, growth: int = 1) -> bool:
        return self.journal.budget.room(len(self)) >= growth

    def full(self, otherwise: Outcome) -> Outcome:
        """The outcome of a search that may not grow: a cap that was not the reason is not blamed."""
        return Outcome.SIZE_LIMIT if len(self.best) >= len(self) else otherwise

    def end(self, otherwise: Outcome) -> Outcome:
        """The outcome of a search that cannot go on."""
        if self.n_basis is not None:
            return Outcome.GOAL_REACHED if len(self.best) == self.n_basis else Outcome.TOO_FEW_CANDIDATES
        return otherwise

    def _distance(self, size: int) -> int:
        """By how many functions a model is not what was asked for: the nearest is the best, whatever the score."""
        if self.n_basis is not None:
            return abs(size - self.n_basis)
        cap = self.journal.budget.max_active
        return 0 if cap is None else max(size - cap, 0)

    def _check_limits(self) -> None:
        limit = self.journal.exhausted()
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
