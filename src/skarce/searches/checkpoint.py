"""A set to come back to if an expected gain turns out to be only rounding."""

from __future__ import annotations

from skarce.criteria import Criterion
from skarce.states.journal import Journal
from skarce.states.state import State


class Checkpoint:
    """The set and its score before a few steps. Only states with squares need it, because they can be ill-conditioned.

    Parameters
    ----------
    criterion : Criterion
        What scores the set.
    state : State
        The state before the steps.
    journal : Journal
        The record of the search, which is shortened if steps are taken back.
    """

    def __init__(self, criterion: Criterion, state: State, journal: Journal) -> None:
        self._criterion, self._state, self._journal = criterion, state, journal
        self._is_needed = state.has_squares
        if self._is_needed:
            self._set = state.active.copy(), state.ridges.copy()
            self._score, self._n_rows = criterion.score(state, state.moments.n_samples), journal.n_rows

    def take_back_what_failed(self) -> bool:
        """Go back if the newly computed score is not better than before. Return whether this was necessary."""
        state = self._state
        if not (self._is_needed and state.is_ill_conditioned):
            return False
        if self._criterion.score(state, state.moments.n_samples) > self._score:
            return False
        state.restart(*self._set)
        self._journal.rewind(self._n_rows, self._score)
        return True
