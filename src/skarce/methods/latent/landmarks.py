"""How many landmarks stand for many rows in methods that pass over all rows again and again."""

from __future__ import annotations

from typing import NamedTuple

ENOUGH = 100  # landmarks that are worth their time, if they fit into memory
HELD = 20_000_000  # numbers in the matrix of all landmarks at all rows, which a fit may hold: 160 MB
FEWEST = 20


class Landmarks(NamedTuple):
    """A limit on landmarks that keeps a fit to tens of seconds on two cores, and its memory below a gigabyte.

    Attributes
    ----------
    most : int
        At most this many landmarks, because a step takes longer if more functions are in the model.
    most_elements : int
        At most this many numbers in the matrix of all landmarks at all rows, because every scan computes it. `ENOUGH` landmarks
        may take more.
    """

    most: int
    most_elements: int

    def of(self, n_rows: int) -> int:
        """Return how many landmarks stand for `n_rows` rows."""
        n_rows = max(n_rows, 1)
        return max(FEWEST, min(self.most, max(ENOUGH, self.most_elements // n_rows), HELD // n_rows))
