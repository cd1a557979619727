"""The state of a search: which candidates are in, and what is left for every other one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from skarce._linalg import cholesky
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.members import Members

# Sums of squares in double precision cannot tell a residual below this share of the target's energy from rounding.
# Adding it once to t't acts like a component of the target that no candidate can reach: the energy stays positive and
# an exact fit ends in a bounded evidence.
RESOLUTION = 1e-12
# Below this share of the target's energy a residual counts as none: a criterion that divides residuals has nothing left to weigh.
EXACT_FIT = 1e-10
# A candidate of which less than this share is left lies in the span of the active set to working precision.
DEPENDENT = 1e-10
# Where the rows were asked there are more digits, and only what a Cholesky factor of H could not hold is dependent.
DEPENDENT_BY_ROWS = 1e-13
# Ridges stay within these multiples of phi'phi: below, they act as none; above, as infinity.
RIDGE_RANGE = (1e-12, 1e14)
# Of the largest eigenvalue, for each row of a matrix: eigenvalues below are not determined.
ROUNDING = 1e-15
# From this condition of H on, squares of P are computed from the rows where those are at hand.
ILL_CONDITIONED = 1e7


def resolved_energy(moments: Moments) -> float:
    """t't, with the share added that moments cannot resolve."""
    return moments.target_energy * (1.0 + RESOLUTION)


def left_of(resolved: float, explained: Floats) -> float:
    """t'P t = t't - |explained|^2, not below the share of t't that no candidate can reach, whatever rounding says."""
    return max(resolved - float(explained @ explained), RESOLUTION * resolved)


class State(Members):
    """Active candidates and their ridges, and the quantities of all candidates given them (see `skarce.states.active_set`).

    Attributes
    ----------
    moments : Moments
    leftover, alignment : arrays of shape (n_candidates,)
        phi'P phi and phi'P t of every candidate.
    has_squares : bool
        Whether `remainder`, `overlap`, `residual` and `freedom`, which need P squared, are kept.
    is_ill_conditioned : bool
    dependent : float
        A candidate of which less than this share is left counts as dependent on the others.
    """

    moments: Moments
    has_squares: bool
    is_ill_conditioned: bool
    dependent: float
    leftover: Floats
    alignment: Floats
    remainder: Floats
    overlap: Floats
    residual: float
    freedom: float

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def active(self) -> Indices:
        """The candidates that are in, in the order in which they came."""

    @property
    @abstractmethod
    def gram_rows(self) -> Floats:
        """Phi_A'Phi, shape (n_active, n_candidates)."""

    @property
    @abstractmethod
    def gram_block(self) -> Floats:
        """Phi_A'Phi_A."""

    @abstractmethod
    def add(self, candidate: int, ridge: float) -> None:
        """Let a candidate in."""

    @abstractmethod
    def change(self, position: int, ridge: float) -> None:
        """Give an active candidate another ridge."""

    @abstractmethod
    def remove(self, position: int) -> None:
        """Take an active candidate out: the limit of an infinite ridge."""

    @abstractmethod
    def restart(self, active: Indices, ridges: Floats) -> None:
        """Let these candidates be in, with these ridges, and no others."""

    @abstractmethod
    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the members at `positions`, with these ridges."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return a place to come back to."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Come back to it."""

    def refresh(self) -> None:
        """Compute everything again. Default: nothing, for states that do not drift."""
        return

    def drift(self) -> float:
        """Return how far maintained quantities are off from exact identities. Default: nothing drifts."""
        return 0.0

    def has_sign_violation(self) -> bool:
        """Tell whether a sum of squares is negative, so that digits have been lost. Default: that cannot happen."""
        return False

    @property
    def squared_norms(self) -> Floats:
        return self.moments.gram.diagonal[self.active]

    @property
    def cholesky(self) -> Floats:
        """Lower Cholesky factor of H, in the order in which functions came."""
        matrix = self.gram_block
        matrix.flat[:: len(self) + 1] += self.ridges
        return cholesky(matrix)

    def directions(self) -> tuple[Floats, Floats, float]:
        """Return the active block in its eigenvectors: squared norms p, projections z of the target, and what they leave of t't.

        Directions whose squared norm is rounding are left out.
        """
        squared_norms, vectors = np.linalg.eigh(self.gram_block)
        kept = squared_norms > ROUNDING * len(squared_norms) * squared_norms[-1]
        squared_norms, projections = squared_norms[kept], self.moments.projections[self.active] @ vectors[:, kept]
        resolved = resolved_energy(self.moments)
        return squared_norms, projections, max(resolved - float((projections**2 / squared_norms).sum()), RESOLUTION * resolved)

    def is_exact(self) -> bool:
        """Tell whether squares of residuals say that nothing is left to explain."""
        return self.has_squares and self.residual <= EXACT_FIT * self.moments.target_energy
