"""A set to come back to if an expected gain turns out to be only rounding."""

from __future__ import annotations

from skarce.criteria import Criterion
from skarce.states.journal import Journal
from skarce.states.state import State

KEPT_SHARE = 0.5  # of the gain that steps promise, a search must find at least this share after everything was computed again


class Checkpoint:
    """The set and its score before a few steps.

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
        self._set = state.active.copy(), state.ridges.copy()
        self._score, self._n_rows = criterion.score(state, state.moments.n_samples), journal.n_rows

    def rise(self) -> float:
        """Return by how much the score has risen since then."""
        return self._criterion.score(self._state, self._state.moments.n_samples) - self._score

    def take_back_what_failed(self) -> bool:
        """Go back if the newly computed score is not better than before. Return whether this was necessary.

        Only states with squares can be ill-conditioned and need this after every step.
        """
        if not (self._state.has_squares and self._state.is_ill_conditioned) or self.rise() > 0.0:
            return False
        self._take_back()
        return True

    def has_broken_its_promise(self, promised: float) -> bool:
        """Tell whether the score has risen by less than half of what was promised. If it has not risen at all, go back.

        A search that ends then cannot run in circles: every round raises the score, which has an upper bound.
        """
        rise = self.rise()
        if rise > KEPT_SHARE * promised:
            return False
        if not rise >= 0.0:
            self._take_back()
        return True

    def _take_back(self) -> None:
        self._state.restart(*self._set)
        self._journal.rewind(self._n_rows, self._score)
