"""The state of a search in which all functions share one ridge, for searches that add functions and move the ridge in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.coordinates import Coordinates, Frame, GramCoordinates, RowCoordinates
from skarce.states.state import DEPENDENT, ROUNDING, State
from skarce.states.turned import AtRidge, Grown, Turned

MOST_RECENT = 16  # functions (or one in so many of them, if that is more) that may enter before the eigenvectors are computed again


class SharedSet(State):
    """A state whose functions share one ridge. It keeps its digits if the functions are nearly dependent.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates. They need rows.
    active : array of shape (n_active,), default=None
        The candidates to start with. None starts with the empty set.
    ridges : array of shape (n_active,), default=None
        Their ridges. Their mean becomes the ridge of all functions. None starts at 1.
    """

    def __init__(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> None:
        self.moments = moments
        self.has_squares = True
        self.is_ill_conditioned, self.is_fine, self.dependent = False, True, DEPENDENT
        self._coordinates: Coordinates = GramCoordinates(moments)
        self._at: AtRidge
        nothing = np.empty(0, dtype=np.intp)
        self.restart(nothing if active is None else active, np.empty(0) if ridges is None else ridges)

    @staticmethod
    def is_possible(moments: Moments) -> bool:
        """Tell whether these moments have the rows that a set of nearly dependent functions needs."""
        return RowCoordinates.are_possible(moments)

    def __len__(self) -> int:
        return len(self.active)

    @property
    def active(self) -> Indices:
        return self._at.grown.active

    @property
    def ridge(self) -> float:
        """The ridge of all functions. An empty set keeps the ridge it had before."""
        return self._at.ridge

    @property
    def ridges(self) -> Floats:
        return np.full(len(self), self.ridge)

    @property
    def gram_rows(self) -> Floats:
        return self.moments.gram.columns(self.active)

    @property
    def gram_block(self) -> Floats:
        return self.moments.gram.block(self.active, self.active)

    @property
    def weights(self) -> Floats:
        return self._at.fit.weights

    @property
    def inverse(self) -> Floats:
        return self._at.inverse

    @property
    def cholesky(self) -> Floats:
        return self._at.fit.lower

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.cholesky.diagonal() ** 2 / self.ridge).sum())

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

    @property
    def energy(self) -> float:  # type: ignore[override]
        return self._at.small.energy

    @property
    def residual(self) -> float:  # type: ignore[override]
        return self._at.small.residual

    @property
    def freedom(self) -> float:  # type: ignore[override]
        return self._at.small.freedom

    def slope_at(self, ridge: float) -> float | None:
        return self._at.grown.small(ridge).slope()

    def add(self, candidate: int, ridge: float) -> None:
        """Add a candidate. Its ridge becomes the ridge of all functions."""
        self._go_to(np.append(self.active, candidate), ridge, self._at.grown.turned)

    def remove(self, position: int) -> None:
        self._go_to(np.delete(self.active, position), self.ridge)

    def change(self, position: int, ridge: float) -> None:
        raise TypeError("the functions of a SharedSet share one ridge: change it with keep.")

    def restart(self, active: Indices, ridges: Floats) -> None:
        """Make exactly these candidates active, with the mean of these ridges."""
        self._go_to(np.array(active, dtype=np.intp), float(np.mean(ridges)) if len(ridges) else 1.0)

    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the functions at `positions`, with the mean of these ridges."""
        ridge = float(np.mean(ridges)) if len(ridges) else self.ridge
        if len(positions) == len(self):
            self._at = AtRidge(self._at.grown, ridge)
        else:
            self._go_to(self.active[positions], ridge)

    def snapshot(self) -> Any:
        return self._at, self.noise

    def restore(self, snapshot: Any) -> None:
        self._at, self.noise = snapshot

    def directions(self) -> tuple[Floats, Floats, float]:
        grown = self._at.grown
        if len(grown.recent):  # the next steps can use the eigenvectors, too
            grown = replace(grown, turned=Turned(grown.frame, grown.active, self.ridge))
            self._at = AtRidge(grown, self.ridge)
        turned = grown.turned
        kept = turned.eigenvalues > ROUNDING**2 * turned.eigenvalues.sum()
        outside = turned.target[~kept]
        rest = grown.frame.rest + float(outside @ outside)
        return turned.eigenvalues[kept], turned.target[kept] * np.sqrt(turned.eigenvalues[kept]), rest

    def _go_to(self, active: Indices, ridge: float, turned: Turned | None = None) -> None:
        """Make these functions active. The first of them may be `turned` already."""
        frame = self._frame_of(active)
        if (
            turned is None
            or turned.origin is not frame.origin
            or len(active) - len(turned.active) > max(MOST_RECENT, len(active) // MOST_RECENT)
        ):
            turned = Turned(frame, active, ridge)
        self._at = AtRidge(Grown(frame, turned, active, self.moments.n_samples), ridge)

    def _frame_of(self, active: Indices) -> Frame:
        """Return coordinates that span these functions: from the Gram matrix, or from the rows if that would lose digits."""
        try:
            return self._coordinates.spanning(active)
        except NotPositiveDefiniteError:
            self._coordinates = RowCoordinates.of(self.moments)
            return self._coordinates.spanning(active)
