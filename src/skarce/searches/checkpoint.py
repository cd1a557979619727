"""A place to come back to where rounding has promised a gain that was none."""

from __future__ import annotations

from skarce.criteria import Criterion
from skarce.states.journal import Journal
from skarce.states.state import State


class Checkpoint:
    """The set and its score before a few steps; only states that know when they are ill-conditioned need one."""

    def __init__(self, criterion: Criterion, state: State, journal: Journal) -> None:
        self._criterion, self._state, self._journal = criterion, state, journal
        self._is_needed = state.has_squares
        if self._is_needed:
            self._set = state.active.copy(), state.ridges.copy()
            self._score, self._n_rows = criterion.score(state, state.moments.n_samples), journal.n_rows

    def take_back_what_failed(self) -> bool:
        """Whether the (freshly computed) score is no better than before; then everything is as it was."""
        state = self._state
        if not (self._is_needed and state.is_ill_conditioned):
            return False
        if self._criterion.score(state, state.moments.n_samples) > self._score:
            return False
        state.restart(*self._set)
        self._journal.rewind(self._n_rows, self._score)
        return True
