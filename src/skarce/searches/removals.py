"""Remove functions that are better left out one by one, the largest gain first."""

from __future__ import annotations

from typing import Protocol

import numpy as np

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
