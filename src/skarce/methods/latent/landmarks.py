"""How many landmarks stand for many rows in methods that pass over all rows again and again."""

from __future__ import annotations

from typing import NamedTuple

FEWEST_LANDMARKS = 100


class Landmarks(NamedTuple):
    """A limit on landmarks that keeps a fit to tens of seconds on two cores, and its memory below a gigabyte.

    Attributes
    ----------
    most : int
        At most this many landmarks, because a step takes longer if more functions are in the model.
    most_elements : int
        At most this many numbers in the matrix of all landmarks at all rows, because every scan computes it.
    """

    most: int
    most_elements: int

    def of(self, n_rows: int) -> int:
        """Return how many landmarks stand for `n_rows` rows."""
        return max(FEWEST_LANDMARKS, min(self.most, self.most_elements // max(n_rows, 1)))
