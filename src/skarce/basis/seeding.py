r"""Rows that lie far apart: k-means++ seeding, drawn in batches.

Each row is drawn with a probability in proportion to :math:`D^2`, its squared distance from the nearest row that was drawn before
(Arthur and Vassilvitskii 2007). One after the other, this takes a pass over all rows for each draw. Here a batch of proposals is
drawn from the :math:`D^2` at its start, one matrix product gives their distances from all rows, and each proposal is accepted with
the probability :math:`D^2_\text{now}/D^2_\text{start}`. Distances only shrink, so this is rejection sampling, and the accepted rows
have the same distribution as if they were drawn one after the other.
"""

from __future__ import annotations

import numpy as np

from skarce._parallel import product
from skarce._typing import Floats, Indices

GROWTH = 4  # a batch has one proposal for this many rows that were drawn before, so that few are rejected
LARGEST_BATCH = 64
ROUNDING = 1e-12  # of the squared size of the rows: a smaller squared distance is rounding


def spread_rows(X: Floats, n_drawn: int, rng: np.random.RandomState) -> Indices:
    """Draw at most `n_drawn` different rows by k-means++ seeding. There are fewer if all others are equal to one of them."""
    X = X - X.mean(axis=0, dtype=np.float64)
    norms, ones = np.einsum("ij,ij->i", X, X), np.ones(len(X))
    # The product of a row on the left and one on the right is the square of their distance.
    left, right = np.column_stack([-2.0 * X, norms, ones]), np.vstack([X.T, ones, norms])
    rounding = ROUNDING * norms.max()
    drawn = [int(rng.randint(len(X)))]
    nearest = (left[drawn] @ right)[0]
    while len(drawn) < n_drawn:
        nearest[nearest <= rounding] = 0.0
        if not nearest.any():
            break
        size = min(max(len(drawn) // GROWTH, 1), LARGEST_BATCH, n_drawn - len(drawn))
        ends = nearest.cumsum()
        proposals = np.searchsorted(ends, rng.uniform(size=size) * ends[-1], side="right").clip(max=len(X) - 1)
        thresholds = rng.uniform(size=size) * nearest[proposals]
        for row, threshold, squares in zip(proposals, thresholds, product(left[proposals], right), strict=True):
            if nearest[row] > threshold:
                drawn.append(int(row))
                np.minimum(nearest, squares, out=nearest)
                nearest[row] = 0.0
    return np.array(drawn)
