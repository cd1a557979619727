"""The models that a search has visited, as long as they are nested."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats, Indices
from skarce.states.fit import Nested
from skarce.states.state import State


class Trail:
    """Nested sets of consecutive sizes, from a search that only adds or only removes. Any other step ends the trail for good.

    Parameters
    ----------
    state : State
        The state at the start.
    worth : float
        Its worth.
    """

    def __init__(self, state: State, worth: float) -> None:
        self._start = state.active.copy()
        self._moved: list[int] = []
        self._action: str | None = None
        self._is_nested = True
        self._ridges: list[Floats] = []
        self._noises: list[float | None] = []
        self._worths: list[float] = []
        self._keep(state, worth)

    def note(self, action: str, candidate: int, state: State, worth: float) -> None:
        """Record one function more or less. The other functions must be the same, although a refresh may remove some."""
        sign = 1 if action == "add" else -1
        same_way = self._action in (None, action)
        if not (self._is_nested and same_way and len(state) == len(self._start) + sign * (len(self._moved) + 1)):
            self.break_off()
            return
        self._action = action
        self._moved.append(candidate)
        self._keep(state, worth)

    def break_off(self) -> None:
        """End the trail: a search that goes back and forth has no nested sets."""
        self._is_nested = False

    def nested(self) -> Nested | None:
        """Return all sets on the way, the smallest first, or None if they are not nested."""
        if not self._is_nested:
            return None
        moved = np.array(self._moved, dtype=np.intp)
        if self._action == "delete":
            order: Indices = np.concatenate([np.setdiff1d(self._start, moved), moved[::-1]])
            return Nested(order, len(order) - len(moved), self._ridges[::-1], self._noises[::-1], np.array(self._worths[::-1]))
        return Nested(np.concatenate([self._start, moved]), len(self._start), self._ridges, self._noises, np.array(self._worths))

    def _keep(self, state: State, worth: float) -> None:
        """Keep one ridge if all are equal, or all ridges in ascending order of the candidates."""
        ridges = state.ridges
        is_one = not len(ridges) or bool((ridges == ridges[0]).all())
        self._ridges.append(np.array(ridges[0] if len(ridges) else 0.0) if is_one else ridges[np.argsort(state.active)])
        self._noises.append(state.noise)
        self._worths.append(worth)
