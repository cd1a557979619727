"""What a set of functions leaves of the target and of further candidates: the arithmetic of leaps and bounds.

A branch of the search has a set of functions, and the candidates that may still enter. One function more is a rank-one change of
all that is left (a step of Gaussian elimination). The way back needs no arithmetic: the branch above still has its own numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import solve_lower
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.state import resolved_energy

# If less than this share of a candidate is left, the rest is rounding: the candidate depends on the set.
SCARCELY_LEFT = 1e-9


@dataclass(frozen=True)
class Leftovers:
    """The candidates that may enter a set, and what the set leaves of them and of the target.

    Parameters
    ----------
    candidates : array of shape (n_left,)
        The candidates, in the order in which branches are made.
    squared_norms : array of shape (n_left,)
        Their squared norms, with the ridge, before any function entered.
    gram : array of shape (n_left, n_left)
        Phi'P Phi of these candidates, with the ridge.
    projections : array of shape (n_left,)
        Phi'P t.
    energy : float
        t'P t.
    """

    candidates: Indices
    squared_norms: Floats
    gram: Floats
    projections: Floats
    energy: float

    @classmethod
    def of(cls, moments: Moments, candidates: Indices, ridge: float) -> Leftovers:
        """Return what the empty set leaves, if every function has the same `ridge`."""
        gram = np.array(moments.gram.block(candidates, candidates), dtype=float)
        gram.flat[:: len(gram) + 1] += ridge
        return cls(candidates, gram.diagonal().copy(), gram, moments.projections[candidates], resolved_energy(moments))

    def __len__(self) -> int:
        return len(self.candidates)

    def strongest_first(self) -> Leftovers:
        """Return the same, with those candidates first that explain most of what is left."""
        order = np.argsort(-self._explained(), kind="stable")
        return Leftovers(
            self.candidates[order],
            self.squared_norms[order],
            self.gram[np.ix_(order, order)],
            self.projections[order],
            self.energy,
        )

    def after(self, position: int) -> Leftovers:
        """Return what is left if one candidate enters, and those before it never do."""
        later = slice(position + 1, None)
        gram, projections, energy = self.gram[later, later], self.projections[later], self.energy
        pivot = self.gram[position, position]
        if pivot > SCARCELY_LEFT * self.squared_norms[position]:
            column, projection = self.gram[later, position], self.projections[position]
            gram = gram - np.multiply.outer(column / pivot, column)
            projections = projections - column * (projection / pivot)
            energy -= projection**2 / pivot
        return Leftovers(self.candidates[later], self.squared_norms[later], gram, projections, energy)

    def energies_with_one(self) -> Floats:
        """Return t'P t if one candidate enters, for each of them."""
        return self.energy - self._explained()

    def energies_with_tails(self) -> Floats:
        """Return t'P t if a candidate and all those after it enter, for each of them. 0 if that cannot be told for rounding.

        One Cholesky factor is enough, because each tail has all shorter ones.
        """
        lower, failed = lapack.dpotrf(self.gram[::-1, ::-1], lower=1)
        n_factorized = failed - 1 if failed > 0 else len(self)
        clear = lower.diagonal()[:n_factorized] ** 2 > SCARCELY_LEFT * self.squared_norms[::-1][:n_factorized]
        n_clear = n_factorized if clear.all() else int(clear.argmin())
        energies = np.zeros(len(self))
        if n_clear:
            explained = solve_lower(lower[:n_clear, :n_clear], self.projections[::-1][:n_clear])
            energies[:n_clear] = self.energy - np.cumsum(explained**2)
        return energies[::-1]

    def _explained(self) -> Floats:
        left = self.gram.diagonal()
        usable = left > SCARCELY_LEFT * self.squared_norms
        return np.divide(self.projections**2, left, out=np.zeros(len(self)), where=usable)
