"""Second-order steps for all ridges of the active block at once, in their logarithms.

Coordinate moves need thousands of steps if functions overlap; Newton's method with Levenberg's safeguard needs a few.
Functions whose best ridge is infinite are taken out one by one, the most useful deletion first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.searches.damped_newton import Derivatives, damped_step, settle
from skarce.searches.removals import strike_out, thin_out
from skarce.states.active_block import ActiveBlock
from skarce.states.members import Members
from skarce.states.state import RIDGE_RANGE


class Settled(NamedTuple):
    """Where the joint steps ended: which positions of the block are left, the block of these, and whether they converged."""

    positions: Indices
    block: ActiveBlock
    converged: bool


def joint_steps(criterion: Criterion, block: ActiveBlock, n_samples: float, tolerance: float, max_steps: int) -> Settled:
    """Raise the criterion over all ridges until a step promises less than `tolerance`, or `max_steps` are done.

    What the last step made superfluous goes before the next one, or in the tight run that ends every search.
    """
    start = Ridges(criterion, n_samples, np.arange(len(block), dtype=np.intp), block)
    settled, converged = settle(start, tolerance, max_steps)
    return Settled(settled.positions, settled.block, converged)


@dataclass(frozen=True)
class Ridges:
    """A block, and which positions of the first one are left, as `settle` sees it."""

    criterion: Criterion
    n_samples: float
    positions: Indices
    block: ActiveBlock

    def __len__(self) -> int:
        return len(self.block)

    def without_superfluous(self) -> Ridges:
        """Take out, one by one and the largest gain first, the functions that are better left out.

        Each removal is a rank-one change of the inverse, O(L^2); the block is cut to size once at the end.
        """
        if not self.criterion.superfluous(self.block, self.n_samples).any():
            return self
        members = Remaining(self.block)
        thin_out(_Doubted(self.criterion, self.n_samples, members))
        return replace(self, positions=self.positions[members.kept], block=members.block())

    def stepped(self, tolerance: float, damping: float) -> tuple[Ridges, float, float]:
        criterion, block, n_samples = self.criterion, self.block, self.n_samples
        gradient, curvature, scale = criterion.derivatives(block, n_samples)
        lowest = RIDGE_RANGE[0] * block.gram.diagonal()
        gradient[(block.ridges <= lowest) & (gradient < 0.0)] = 0.0
        score = criterion.score(block, n_samples)

        def attempt(delta: Floats) -> tuple[Ridges, float] | None:
            try:
                trial = block.at(np.maximum(block.ridges * np.exp(delta), lowest))
            except NotPositiveDefiniteError:
                return None
            return replace(self, block=trial), criterion.score(trial, n_samples) - score

        return damped_step(self, Derivatives(gradient, curvature, scale), attempt, tolerance, damping)


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
        weight, spread, ridge = (float(v[position]) for v in (self._weights, self._inverse.diagonal(), self.ridges))
        strike_out(position, self._inverse, self._weights)
        self.energy += weight**2 / spread
        self._log_determinant += float(np.log(ridge * spread))
        self._inverse[position, position] = 1.0 / ridge  # as if never asked: leverage one, no effect
        self._weights[position] = 0.0
        self.alive[position] = False
        self.n_removed += 1

    def block(self) -> ActiveBlock:
        return self._block.without(self.kept, self.energy, self.log_determinant, self.inverse, self.weights)


@dataclass(frozen=True)
class _Doubted:
    """Remaining functions of which a criterion says which are better left out."""

    criterion: Criterion
    n_samples: float
    members: Remaining

    def doubtful(self) -> tuple[Indices, Floats]:
        positions = np.flatnonzero(self.criterion.superfluous(self.members, self.n_samples) & self.members.alive)
        return positions, self.criterion.removal_gains(self.members, positions, self.n_samples) if len(positions) else np.empty(0)

    def remove(self, position: int) -> None:
        self.members.remove(position)
