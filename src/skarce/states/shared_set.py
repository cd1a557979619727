"""The state of a search in which all functions share one ridge, for searches that add functions and move the ridge in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.coordinates import Coordinates, Frame, GramCoordinates, RowCoordinates
from skarce.states.one_ridge import OneRidgeState
from skarce.states.state import ROUNDING, Quantities
from skarce.states.turned import AtRidge, Grown, Turned

MOST_RECENT, SHARE = 16, 8  # functions (or an eighth, if that is more) that may enter before eigenvectors are computed again


class SharedSet(OneRidgeState):
    """A state that keeps its digits if functions are nearly dependent. It needs rows; `OneRidgeState` has its parameters."""

    _at: AtRidge
    is_fine = True

    def __init__(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> None:
        self._coordinates: Coordinates = GramCoordinates(moments)
        super().__init__(moments, active, ridges)

    @staticmethod
    def is_possible(moments: Moments) -> bool:
        """Tell whether these moments have the rows that a set of nearly dependent functions needs."""
        return RowCoordinates.are_possible(moments)

    @property
    def active(self) -> Indices:
        return self._at.grown.active

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

    def others(self) -> Quantities:
        return self._at.others

    def add(self, candidate: int, ridge: float) -> None:
        """Add a candidate. Its ridge becomes the ridge of all functions."""
        self._go_to(np.append(self.active, candidate), ridge, self._at.grown.turned)

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
            or len(active) - len(turned.active) > max(MOST_RECENT, len(active) // SHARE)
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
