"""How many landmarks stand for many rows in methods that pass over all rows again and again, and whether their columns are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._memory import fits
from skarce.basis.candidates import ColumnsEvaluation, Evaluation
from skarce.basis.tiles import fill_blocks

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


def held(evaluation: Evaluation) -> Evaluation:
    """Return candidates whose columns are in memory if they take little of it, or the same ones if they take more.

    A search scans all of them several times, and the kernels need not be computed again.
    """
    n_numbers = evaluation.n_rows * evaluation.n_candidates
    if isinstance(evaluation, ColumnsEvaluation) and evaluation.is_by_column:
        return evaluation
    if n_numbers > HELD or not fits(evaluation.n_rows, evaluation.n_candidates):
        return evaluation
    values = np.empty((evaluation.n_candidates, evaluation.n_rows)).T
    fill_blocks(evaluation.fill, values)
    return ColumnsEvaluation(values)
