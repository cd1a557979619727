"""The active functions alone: everything a joint step needs, without the other candidates."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from skarce._linalg import LARGE, cholesky, inverse_of_lower, solve_lower, squared_lower
from skarce._typing import Floats, Indices
from skarce.states.members import Members
from skarce.states.state import left_of


class ActiveBlock(Members):
    """H = G_AA + Lambda at given ridges, its Cholesky factor, and what follows from it.

    Parameters
    ----------
    gram : array of shape (n_active, n_active)
        G_AA = Phi_A'Phi_A.
    projections : array of shape (n_active,)
        b_A = Phi_A't.
    target_energy : float
        t't.
    ridges : array of shape (n_active,)
        The diagonal of Lambda.

    Attributes
    ----------
    weights : array of shape (n_active,)
        w = H^-1 b_A.
    inverse : array of shape (n_active, n_active)
        H^-1.
    energy : float
        t'P t, the residual energy plus the penalty.
    log_determinant : float
        log|I + Phi Lambda^-1 Phi'| = log|H| - log|Lambda|.

    Raises
    ------
    NotPositiveDefiniteError
        If H is singular to working precision.
    """

    def __init__(self, gram: Floats, projections: Floats, target_energy: float, ridges: Floats) -> None:
        self.gram = gram
        self.projections = projections
        self.target_energy = target_energy
        self._ridges = ridges
        self._factor = cholesky(gram, ridges)
        self._explained = solve_lower(self._factor, projections)
        self.energy = left_of(target_energy, self._explained)
        diagonal = self._factor.diagonal()
        self._log_determinant = float(np.log(diagonal * diagonal / ridges).sum())
        self._inverse: Floats | None = None
        self._weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.ridges)

    @property
    def inverse(self) -> Floats:
        if self._inverse is None:
            self._inverse = squared_lower(self._root)
        return self._inverse

    def spread(self) -> Floats:
        if self._inverse is None and len(self) > LARGE:  # the whole inverse is not computed just for its diagonal
            return np.einsum("ij,ij->j", self._root, self._root)
        return self.inverse.diagonal()

    @cached_property
    def _root(self) -> Floats:
        """The inverse of the Cholesky factor."""
        return inverse_of_lower(self._factor)

    @property
    def weights(self) -> Floats:
        if self._weights is None:
            self._weights = solve_lower(self._factor, self._explained, transposed=True)
        return self._weights

    @property
    def ridges(self) -> Floats:
        return self._ridges

    @property
    def log_determinant(self) -> float:
        return self._log_determinant

    @property
    def squared_norms(self) -> Floats:
        return self.gram.diagonal()

    def at(self, ridges: Floats) -> ActiveBlock:
        """Return the same functions at other ridges."""
        return ActiveBlock(self.gram, self.projections, self.target_energy, ridges)

    def inverse_rows(self, positions: Indices) -> Floats:
        """Return rows of H^-1, on the host."""
        return self.inverse[positions]

    def without(self, positions: Indices, members: Members) -> ActiveBlock:
        """Return only the functions at `positions`. `members` are all functions, of which the others have been removed."""
        smaller = object.__new__(ActiveBlock)
        square = positions[:, None], positions
        smaller.gram = self.gram[square]
        smaller.projections = self.projections[positions]
        smaller.target_energy = self.target_energy
        smaller._ridges = self.ridges[positions]
        smaller.energy = members.energy
        smaller._log_determinant = members.log_determinant
        smaller._inverse = members.inverse[square]
        smaller._weights = members.weights[positions]
        return smaller
