"""Remove functions that are better left out from an inverse: one by one, the largest gain first, or several at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from skarce._linalg import cholesky, solve_lower
from skarce._typing import Floats, Indices


class Thinnable(Protocol):
    """Functions, some of which may be better left out."""

    def doubtful(self) -> tuple[Indices, Floats]:
        """Return the positions of the functions that are better left out, and how much each removal gains."""
        ...

    def remove(self, position: int) -> None:
        """Remove one function."""
        ...


def thin_out(functions: Thinnable) -> Indices:
    """Remove functions, the largest gain first, until none is better left out. Return their positions in that order."""
    removed: list[int] = []
    while True:
        positions, gains = functions.doubtful()
        if not len(positions):
            return np.array(removed, dtype=np.intp)
        removed.append(int(positions[gains.argmax()]))
        functions.remove(removed[-1])


def strike_out(position: int, inverse: Floats, *solutions: Floats) -> None:
    """Remove one function from H^-1 and from solutions H^-1 b in place. This is a rank-one update, O(L^2).

    The row and the column of the function, and its entries in the solutions, become zero up to rounding.
    """
    column = inverse[position].copy()
    spread = float(column[position])
    inverse -= np.multiply.outer(column / spread, column)
    for solution in solutions:
        solution -= (float(solution[position]) / spread) * column


def strike_out_together(positions: Indices, inverse: Floats, *solutions: Floats) -> Floats:
    """Remove k functions at once from H^-1 and from solutions H^-1 b in place: a product of matrices, O(k L^2).

    Return the Cholesky factor of the block of H^-1 that belongs to them, before they went.

    Raises
    ------
    NotPositiveDefiniteError
        If this block is singular to working precision. Then nothing has changed.
    """
    rows = inverse[positions]
    lower = cholesky(rows[:, positions])
    across = solve_lower(lower, rows)
    inverse -= across.T @ across
    for solution in solutions:
        solution -= solve_lower(lower, solution[positions]) @ across
    return lower
