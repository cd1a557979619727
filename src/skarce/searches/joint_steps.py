"""Second-order steps for all ridges of the active block at once, in their logarithms.

Coordinate moves need thousands of steps where functions overlap; Newton's method with Levenberg's safeguard needs a few.
Functions whose best ridge is infinite are taken out one by one, the most useful deletion first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.searches.damped_newton import FIRST_DAMPING, Derivatives, damped_step
from skarce.states.active_block import ActiveBlock
from skarce.states.members import Members
from skarce.states.state import RIDGE_RANGE


class Settled(NamedTuple):
    """Where the joint steps ended: which positions of the block are left, the block of these, and whether they converged."""

    positions: Indices
    block: ActiveBlock
    converged: bool


def joint_steps(criterion: Criterion, block: ActiveBlock, n_samples: float, tolerance: float, max_steps: int) -> Settled:
    """Raise the criterion over all ridges until a step promises less than `tolerance`, or `max_steps` are done."""
    positions = np.arange(len(block), dtype=np.intp)
    damping, promised = FIRST_DAMPING, np.inf
    for _ in range(max_steps):
        positions, block = without_superfluous(criterion, positions, block, n_samples)
        if not len(block):
            break
        block, promised, damping = _levenberg_step(criterion, block, n_samples, tolerance, damping)
        if promised < tolerance:
            break
    # What the last step made superfluous goes before the next one, or in the tight run that ends every search.
    return Settled(positions, block, promised < tolerance)


def without_superfluous(
    criterion: Criterion, positions: Indices, block: ActiveBlock, n_samples: float
) -> tuple[Indices, ActiveBlock]:
    """Take out, one by one and the largest gain first, the functions that are better left out.

    Each removal is a rank-one change of the inverse, O(L^2); the block is cut to size once at the end.
    """
    if not criterion.superfluous(block, n_samples).any():
        return positions, block
    members = Remaining(block)
    while True:
        doubtful = np.flatnonzero(criterion.superfluous(members, n_samples) & members.alive)
        if not len(doubtful):
            break
        gains = criterion.removal_gains(members, doubtful, n_samples)
        members.remove(int(doubtful[gains.argmax()]))
    return positions[members.kept], members.block()


class Remaining(Members):
    """A block from which functions are struck out one by one."""

    def __init__(self, block: ActiveBlock) -> None:
        self._block = block
        self._inverse, self._weights = block.inverse, block.weights
        self.energy, self._log_determinant = block.energy, block.log_determinant
        self.alive = np.ones(len(block), dtype=bool)
        self.n_removed = 0

    @property
    def ridges(self) -> Floats:
        return self._block.ridges

    @property
    def weights(self) -> Floats:
        return self._weights

    @property
    def squared_norms(self) -> Floats:
        return self._block.squared_norms

    @property
    def log_determinant(self) -> float:
        return self._log_determinant

    @property
    def inverse(self) -> Floats:
        return self._inverse

    @property
    def kept(self) -> Indices:
        return np.flatnonzero(self.alive)

    def remove(self, position: int) -> None:
        if not self.n_removed:
            self._inverse, self._weights = self._inverse.copy(), self._weights.copy()
        column, weight = self._inverse[position].copy(), float(self._weights[position])
        spread, ridge = float(column[position]), float(self.ridges[position])
        self._inverse -= np.multiply.outer(column / spread, column)
        self._weights -= (weight / spread) * column
        self.energy += weight**2 / spread
        self._log_determinant += float(np.log(ridge * spread))
        self._inverse[position, position] = 1.0 / ridge  # as if never asked: leverage one, no effect
        self._weights[position] = 0.0
        self.alive[position] = False
        self.n_removed += 1

    def block(self) -> ActiveBlock:
        return self._block.without(self.kept, self.energy, self.log_determinant, self.inverse, self.weights)


def _levenberg_step(
    criterion: Criterion, block: ActiveBlock, n_samples: float, tolerance: float, damping: float
) -> tuple[ActiveBlock, float, float]:
    """One accepted step: the new block, what the quadratic model promised, and the damping to go on with."""
    gradient, curvature, scale = criterion.derivatives(block, n_samples)
    lowest = RIDGE_RANGE[0] * block.gram.diagonal()
    gradient[(block.ridges <= lowest) & (gradient < 0.0)] = 0.0
    score = criterion.score(block, n_samples)

    def attempt(delta: Floats) -> tuple[ActiveBlock, float] | None:
        trial = _stepped(block, delta, lowest)
        return None if trial is None else (trial, criterion.score(trial, n_samples) - score)

    return damped_step(block, Derivatives(gradient, curvature, scale), attempt, tolerance, damping)


def _stepped(block: ActiveBlock, delta: Floats, lowest: Floats) -> ActiveBlock | None:
    ridges = np.maximum(block.ridges * np.exp(delta), lowest)
    try:
        return block.at(ridges)
    except NotPositiveDefiniteError:
        return None
