"""The state of a search: the active candidates, and what is left for every other candidate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.members import Members

# In double precision, sums of squares cannot tell a residual below this share of the target's energy from rounding.
# We add this share once to t't. It acts like a component of the target that no candidate can reach: the energy stays
# positive, and an exact fit has a bounded evidence.
RESOLUTION = 1e-12
# A residual below this share of the target's energy counts as zero: a criterion that divides residuals cannot compare models.
EXACT_FIT = 1e-10
# Below this share, quantities with P squared are computed from the rows if those are available.
NEARLY_EXACT = 1e-8
# If less than this share of a candidate is left, it lies in the span of the active functions to working precision.
DEPENDENT = 1e-10
# The same for quantities computed from the rows, which have more digits. This is what a Cholesky factor of H can resolve.
DEPENDENT_BY_ROWS = 1e-14
# Ridges stay within these multiples of phi'phi. A smaller ridge acts like zero, a larger one like infinity.
RIDGE_RANGE = (1e-12, 1e14)
# Eigenvalues below this share of the largest one, times the number of rows of the matrix, are only rounding.
ROUNDING = 1e-15
# Above this condition number of H, quantities with P squared are computed from the rows if those are available.
ILL_CONDITIONED = 1e7
# Above this condition number of H, a solution with its inverse has too few digits for updates of quantities with P squared.
DIGITS_LOST = 1e5

# The logarithm of a ridge may move by this much for a series about the ridge to be of use.
NEARBY = 0.3


def resolved_energy(moments: Moments) -> float:
    """Return t't plus the share of it that moments cannot resolve."""
    return moments.target_energy * (1.0 + RESOLUTION)


def left_of(resolved: float, explained: Floats) -> float:
    """Return t'P t = t't - |explained|^2, but at least the share of t't that no candidate can reach, despite rounding."""
    return max(resolved - float(explained @ explained), RESOLUTION * resolved)


@dataclass(frozen=True)
class RidgeSlopes:
    """How much would change with a ridge that all functions share, at the ridge of the set.

    Attributes
    ----------
    first : derivative of n log(t'P t) + log|I + Phi Phi'/lambda| in the logarithm of the ridge
    second : the second derivative of the same
    third : the third derivative of the same
    fourth : a bound on the size of its fourth derivative
    freed : derivative of tr P
    freed_more : second derivative of tr P
    """

    first: float
    second: float
    third: float
    fourth: float
    freed: float
    freed_more: float

    @cached_property
    def step(self) -> float:
        """The step to the minimum, in the logarithm of the ridge. It is Newton's if the third derivative would allow none."""
        root = self.second**2 - 2.0 * self.first * self.third
        return -2.0 * self.first / (self.second + root**0.5) if root > 0.0 else -self.first / self.second

    @property
    def has_minimum_nearby(self) -> bool:
        """Whether three derivatives show a minimum near the ridge. If there is none at the best ridge, that is at a limit."""
        return self.second > 0.0 and abs(self.step) <= NEARBY

    @cached_property
    def missing(self) -> float:
        """How much log evidence the minimum would add."""
        step = self.step
        return -0.5 * step * (self.first + step * (0.5 * self.second + step * self.third / 6.0))

    @cached_property
    def error(self) -> float:
        """How wrong `missing` can be."""
        return self.fourth * self.step**4 / 48.0

    @cached_property
    def more_freedom(self) -> float:
        """How much tr P the minimum would add."""
        return self.step * (self.freed + 0.5 * self.step * self.freed_more)


class Quantities(NamedTuple):
    """Quantities of some candidates.

    Attributes
    ----------
    where : the indices of these candidates, ascending
    leftover : phi'P phi
    alignment : phi'P t
    remainder : phi'P^2 phi
    overlap : phi'P^2 t
    """

    where: Indices
    leftover: Floats
    alignment: Floats
    remainder: Floats
    overlap: Floats

    def at(self, places: Any) -> Quantities:
        """Return those at some places, or at one place."""
        return Quantities(*(each[places] for each in self))


class State(Members):
    """Active candidates and their ridges, and the quantities of all candidates given them (see `skarce.states.active_set`).

    Attributes
    ----------
    moments : Moments
        What the data say about the candidates.
    leftover : array of shape (n_candidates,)
        phi'P phi: how much of each candidate is not covered yet.
    alignment : array of shape (n_candidates,)
        phi'P t: how well each candidate explains the rest.
    has_squares : bool
        Whether `remainder`, `overlap`, `residual` and `freedom` are kept, which need P squared.
    remainder : array of shape (n_candidates,)
        phi'P^2 phi of each candidate.
    overlap : array of shape (n_candidates,)
        phi'P^2 t of each candidate.
    residual : float
        t'P^2 t, the residual energy.
    freedom : float
        tr P, the degrees of freedom that are left.
    is_ill_conditioned : bool
        Whether H is so ill-conditioned that quantities with P squared lose their digits.
    is_fine : bool
        Whether nothing is a difference of moments, so that ridges near rounding can be told apart.
    dependent : float or array of shape (n_candidates,)
        If less than this share of a candidate is left, it counts as dependent on the active functions.
    """

    moments: Moments
    has_squares: bool
    is_ill_conditioned: bool
    is_fine: bool = False
    dependent: Any
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
        """The active candidates, in the order in which they entered."""

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
        """Add a candidate."""

    @abstractmethod
    def change(self, position: int, ridge: float) -> None:
        """Give an active candidate another ridge."""

    @abstractmethod
    def remove(self, position: int) -> None:
        """Remove an active candidate: the limit of an infinite ridge."""

    @abstractmethod
    def restart(self, active: Indices, ridges: Floats) -> None:
        """Make exactly these candidates active, with these ridges."""

    @abstractmethod
    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the functions at `positions`, with these ridges."""

    def extend(self, candidates: Indices, ridges: Floats) -> None:
        """Add several candidates at once, with these ridges, and compute everything again."""
        self.restart(np.append(self.active, candidates), np.append(self.ridges, ridges))

    def left_of(self, candidates: Indices) -> State | None:
        """Return the empty set of what the active functions leave of some candidates, and of the target.

        With these functions in the model, additions of these candidates have the same algebra as without, if P phi takes the place
        of phi and P t that of t. So many can enter without a look at all others. Default: None, this state cannot tell.
        """
        return None

    @abstractmethod
    def snapshot(self) -> Any:
        """Return what `restore` needs to come back to this set."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Come back to the set of a snapshot."""

    def refresh(self) -> None:
        """Compute everything again. Default: do nothing, because the state does not drift."""
        return

    def loses_digits(self) -> bool:
        """Tell whether H is so ill-conditioned that a product with its inverse has too few digits for P squared."""
        diagonal = self.cholesky.diagonal()
        return bool(len(diagonal) and diagonal.max() ** 2 > DIGITS_LOST * diagonal.min() ** 2)

    def drift(self) -> float:
        """Return how far updated quantities are from exact identities. Default: 0, nothing drifts."""
        return 0.0

    def has_sign_violation(self) -> bool:
        """Tell whether a sum of squares is negative, so that digits have been lost. Default: False, this cannot happen."""
        return False

    @property
    def squared_norms(self) -> Floats:
        return self.moments.gram.diagonal[self.active]

    @property
    def cholesky(self) -> Floats:
        """The lower Cholesky factor of H, in the order in which functions entered."""
        matrix = self.gram_block
        matrix.flat[:: len(self) + 1] += self.ridges
        return cholesky_of_nearly_singular(matrix)

    def directions(self) -> tuple[Floats, Floats, float]:
        """Return the active block in terms of its eigenvectors.

        These are the squared norms p, the projections z of the target, and the part of t't that they leave unexplained. Directions
        whose squared norm is only rounding are left out.
        """
        squared_norms, vectors = np.linalg.eigh(self.gram_block)
        kept = squared_norms > ROUNDING * len(squared_norms) * squared_norms[-1]
        squared_norms, projections = squared_norms[kept], self.moments.projections[self.active] @ vectors[:, kept]
        resolved = resolved_energy(self.moments)
        return squared_norms, projections, max(resolved - float((projections**2 / squared_norms).sum()), RESOLUTION * resolved)

    def slope_at(self, ridge: float) -> float | None:
        """Return the derivative of log(q / v^2) in the logarithm of a ridge that all functions share.

        Default: None, because it is not much cheaper than `directions`, which say everything about all ridges.
        """
        return None

    def others(self) -> Quantities:
        """Return the quantities of all candidates that are not active, and perhaps of some that are. Default: of all of them."""
        where = np.arange(self.moments.n_candidates)
        return Quantities(where, self.leftover, self.alignment, self.remainder, self.overlap)

    def hold(self) -> None:
        """Hold a ridge that all functions share for some steps, if that makes them cheaper. Default: it does not."""
        return

    def held_slopes(self) -> RidgeSlopes | None:
        """Return how the evidence changes with a ridge that is held. Default: None, no ridge is held."""
        return None

    def is_exact(self) -> bool:
        """Tell whether the residual energy is so small that nothing is left to explain."""
        return self.has_squares and self.residual <= EXACT_FIT * self.moments.target_energy
