"""Second-order steps for all ridges of the active block at once, in their logarithms.

If functions overlap, changes of single ridges need thousands of steps. Newton's method with Levenberg's damping needs a few.
Functions whose best ridge is infinite are removed, the largest gain first: many of them together as long as that gains what they
promise one by one, and the last ones one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, solve_lower
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.searches.checkpoint import KEPT_SHARE
from skarce.searches.damped_newton import Derivatives, damped_step, settle
from skarce.searches.removals import thin_out
from skarce.states.active_block import ActiveBlock
from skarce.states.members import Members
from skarce.states.state import RIDGE_RANGE

MANY = 32  # superfluous functions of which several are removed at once


class Settled(NamedTuple):
    """The result of the joint steps.

    Attributes
    ----------
    positions : array of shape (n_left,)
        The positions of the original block that are left.
    block : ActiveBlock
        The block of these functions at their new ridges.
    converged : bool
        Whether the steps converged with all functions kept.
    """

    positions: Indices
    block: ActiveBlock
    converged: bool


def joint_steps(
    criterion: Criterion,
    block: ActiveBlock,
    n_samples: float,
    tolerance: float,
    max_steps: int,
    is_late: Callable[[], bool] = lambda: False,
) -> Settled:
    """Raise the criterion over all ridges until a step promises at most `tolerance`, after `max_steps` steps, or if it is late.

    Functions that the last step made superfluous stay. They leave before the next step, or in the tight run that ends every search.
    """
    start = Ridges(criterion, n_samples, np.arange(len(block), dtype=np.intp), block)
    settled, converged = settle(start, tolerance, max_steps, is_late)
    return Settled(settled.positions, settled.block, converged)


@dataclass(frozen=True)
class Ridges:
    """The active block during joint steps, as `settle` needs it.

    Parameters
    ----------
    criterion : Criterion
        What the steps raise.
    n_samples : float
        The number of samples.
    positions : array of shape (n_left,)
        The positions of the original block that are left.
    block : ActiveBlock
        The block of these functions.
    """

    criterion: Criterion
    n_samples: float
    positions: Indices
    block: ActiveBlock

    def __len__(self) -> int:
        return len(self.block)

    def without_superfluous(self) -> Ridges:
        """Remove the functions that are better left out, the largest gain first.

        The block itself is reduced once at the end.
        """
        if not self.criterion.superfluous(self.block, self.n_samples).any():
            return self
        doubted = _Doubted(self.criterion, self.n_samples, Remaining(self.block))
        doubted.remove_most()
        thin_out(doubted)
        members = doubted.members
        return replace(self, positions=self.positions[members.kept], block=members.block())

    def stepped(self, tolerance: float, damping: float) -> tuple[Ridges, float, float]:
        criterion, block, n_samples = self.criterion, self.block, self.n_samples
        gradient, curvature, scale = criterion.derivatives(block, n_samples)
        lowest = RIDGE_RANGE[0] * block.squared_norms
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
    """An active block from which functions are removed.

    With H^-1 of the block, that of the functions that are left is H^-1 - B'B, and a removal adds rows to B. So it costs O(k L)
    after k others, and not O(L^2). The inverse itself is made when somebody asks for it.

    Parameters
    ----------
    block : ActiveBlock
        The block before the removals. It does not change.
    """

    def __init__(self, block: ActiveBlock) -> None:
        self._block = block
        self._spread, self._weights = block.spread().copy(), block.weights.copy()
        self.energy, self._log_determinant = block.energy, block.log_determinant
        self.alive = np.ones(len(block), dtype=bool)
        self._taken = np.empty((0, len(block)))  # B
        self._inverse: Floats | None = None
        self._n_seen = 0  # rows of B that the inverse has seen
        self._rows: dict[int, Floats] = {}  # of the inverse of the block

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
        if self._inverse is None:
            self._inverse = self._block.inverse.copy()
        unseen = self._taken[self._n_seen :]
        if len(unseen):
            self._inverse -= unseen.T @ unseen
            gone = np.flatnonzero(~self.alive)
            self._inverse[gone, gone] = 1.0 / self.ridges[gone]
            self._n_seen = len(self._taken)
        return self._inverse

    def spread(self) -> Floats:
        return self._spread

    @property
    def kept(self) -> Indices:
        return np.flatnonzero(self.alive)

    def copy(self) -> Remaining:
        """Return what is left as an object of its own."""
        same = copy(self)
        same._spread, same._weights, same.alive = self._spread.copy(), self._weights.copy(), self.alive.copy()
        same._inverse, same._n_seen = None, 0
        return same

    def fetch(self, positions: Indices) -> None:
        """Get rows of the inverse of the block together. On a device, every row by itself would take as long."""
        missing = [position for position in map(int, positions) if position not in self._rows]
        if missing:
            self._rows.update(zip(missing, self._block.inverse_rows(np.array(missing)), strict=True))

    def remove_together(self, positions: Indices) -> None:
        """Remove several functions. The energy rises by w_R'(H^-1_RR)^-1 w_R, and log|H| by log|H^-1_RR|.

        Raises
        ------
        NotPositiveDefiniteError
            If H^-1_RR is singular to working precision. Then nothing has changed.
        """
        rows = self._left_of_rows(positions)
        lower = cholesky(rows[:, positions])
        across, explained = solve_lower(lower, rows), solve_lower(lower, self._weights[positions])
        self._leave(positions, across, explained, 2.0 * np.log(lower.diagonal()))

    def remove(self, position: int) -> None:
        """Remove one function. Rounding never makes its variance smaller than that of the function alone."""
        positions = np.array([position])
        row = self._left_of_rows(positions)
        alone = 1.0 / (self.squared_norms[position] + self.ridges[position])
        root = np.sqrt(max(float(row[0, position]), float(alone)))
        self._leave(positions, row / root, self._weights[positions] / root, np.log(root**2))

    def _left_of_rows(self, positions: Indices) -> Floats:
        """Return rows of H^-1 after the removals so far."""
        self.fetch(positions)
        rows = np.stack([self._rows[position] for position in map(int, positions)])
        return rows - self._taken[:, positions].T @ self._taken

    def _leave(self, positions: Indices, across: Floats, explained: Floats, log_spread: Floats) -> None:
        across[:, ~self.alive] = 0.0  # up to rounding it is
        self.energy += float(explained @ explained)
        self._log_determinant += float(np.sum(log_spread) + np.log(self.ridges[positions]).sum())
        self._spread -= np.einsum("ij,ij->j", across, across)
        self._weights -= explained @ across
        self._taken = np.concatenate([self._taken, across])
        # A function that is gone has no effect: lambda h = 1 and w = 0.
        self._spread[positions], self._weights[positions], self.alive[positions] = 1.0 / self.ridges[positions], 0.0, False

    def block(self) -> ActiveBlock:
        return self._block.without(self.kept, self)


@dataclass
class _Doubted:
    """The remaining functions, together with the criterion that says which of them are better left out."""

    criterion: Criterion
    n_samples: float
    members: Remaining

    def doubtful(self) -> tuple[Indices, Floats]:
        positions = np.flatnonzero(self.criterion.superfluous(self.members, self.n_samples) & self.members.alive)
        self.members.fetch(positions)
        return positions, self.criterion.removal_gains(self.members, positions, self.n_samples) if len(positions) else np.empty(0)

    def remove(self, position: int) -> None:
        self.members.remove(position)

    def remove_most(self) -> None:
        """While many functions are superfluous, remove as many at once as gain at least half of what they promise one by one.

        Functions that overlap promise the same gain twice, and one of them may be needed if the others go.
        """
        positions, gains = self.doubtful()
        while len(positions) >= MANY:
            order = np.argsort(-gains)
            sizes = [len(order) >> halvings for halvings in range(len(order).bit_length()) if len(order) >> halvings >= MANY // 2]
            if not any(self._removes(positions[order[:size]], float(gains[order[:size]].sum())) for size in sizes):
                return
            positions, gains = self.doubtful()

    def _removes(self, positions: Indices, promised: float) -> bool:
        """Remove these functions if that gains enough. Return whether it did."""
        fewer = self.members.copy()
        try:
            fewer.remove_together(positions)
        except NotPositiveDefiniteError:
            return False
        criterion, n_samples = self.criterion, self.n_samples
        rise = criterion.score(fewer, n_samples) - criterion.score(self.members, n_samples)
        if not rise >= KEPT_SHARE * promised:
            return False
        self.members = fewer
        return True
