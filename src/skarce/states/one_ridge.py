"""What all states have in common whose functions share one ridge."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.state import DEPENDENT, State


class OneRidgeState(State):
    """A state whose functions share one ridge. Quantities of the candidates are computed when they are needed.

    A subclass keeps the set at its ridge as `_at`, a frozen dataclass with `ridge` and `candidates`: the `leftover`, `alignment`,
    `remainder` and `overlap` of all candidates. So `snapshot` and `restore` only exchange references, and cost nothing.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates.
    active : array of shape (n_active,), default=None
        The candidates to start with. None starts with the empty set.
    ridges : array of shape (n_active,), default=None
        Their ridges. Their mean becomes the ridge of all functions. None starts at 1.
    """

    _at: Any

    def __init__(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> None:
        self.moments = moments
        self.has_squares = True
        self.is_ill_conditioned, self.dependent = False, DEPENDENT
        nothing = np.empty(0, dtype=np.intp)
        self.restart(nothing if active is None else active, np.empty(0) if ridges is None else ridges)

    @abstractmethod
    def _go_to(self, active: Indices, ridge: float) -> None:
        """Make exactly these candidates active, with this ridge."""

    def __len__(self) -> int:
        return len(self.active)

    @property
    def ridge(self) -> float:
        """The ridge of all functions. An empty set keeps the ridge it had before."""
        return float(self._at.ridge)

    @property
    def ridges(self) -> Floats:
        return np.full(len(self), self.ridge)

    @property
    def gram_rows(self) -> Floats:
        return self.moments.gram.columns(self.active)

    @property
    def gram_block(self) -> Floats:
        return self.moments.gram.block(self.active, self.active)

    # These are plain attributes of an `ActiveSet`.

    @property
    def leftover(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[0]

    @property
    def alignment(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[1]

    @property
    def remainder(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[2]

    @property
    def overlap(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[3]

    def remove(self, position: int) -> None:
        self._go_to(np.delete(self.active, position), self.ridge)

    def change(self, position: int, ridge: float) -> None:
        raise TypeError(f"the functions of a {type(self).__name__} share one ridge: change it with keep.")

    def restart(self, active: Indices, ridges: Floats) -> None:
        """Make exactly these candidates active, with the mean of these ridges."""
        self._go_to(np.array(active, dtype=np.intp), float(np.mean(ridges)) if len(ridges) else 1.0)

    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the functions at `positions`, with the mean of these ridges."""
        ridge = float(np.mean(ridges)) if len(ridges) else self.ridge
        if len(positions) == len(self):
            self._move_to(ridge)
        else:
            self._go_to(self.active[positions], ridge)

    def _move_to(self, ridge: float) -> None:
        """Give all functions another ridge."""
        self._at = replace(self._at, ridge=ridge)

    def snapshot(self) -> Any:
        return self._at, self.noise

    def restore(self, snapshot: Any) -> None:
        self._at, self.noise = snapshot
