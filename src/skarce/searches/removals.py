"""Functions that are better left out, struck out of an inverse one by one, the most useful removal first."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from skarce._typing import Floats, Indices


class Thinnable(Protocol):
    """Functions of which some may be better left out."""

    def doubtful(self) -> tuple[Indices, Floats]:
        """Return the positions of the functions that are better left out, and what each removal gains."""
        ...

    def remove(self, position: int) -> None:
        """Take out one function."""
        ...


def thin_out(functions: Thinnable) -> Indices:
    """Remove functions, the largest gain first, until none is better left out; return the removed positions in that order."""
    removed: list[int] = []
    while True:
        positions, gains = functions.doubtful()
        if not len(positions):
            return np.array(removed, dtype=np.intp)
        removed.append(int(positions[gains.argmax()]))
        functions.remove(removed[-1])


def strike_out(position: int, inverse: Floats, *solutions: Floats) -> None:
    """Turn H^-1, and solutions H^-1 b, into those without one function, in place: a change of rank one, O(L^2).

    The row and the column of the function, and its places in the solutions, become zero to rounding.
    """
    column = inverse[position].copy()
    spread = float(column[position])
    inverse -= np.multiply.outer(column / spread, column)
    for solution in solutions:
        solution -= (float(solution[position]) / spread) * column
