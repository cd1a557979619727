"""Functions of a model at all rows, and what is known of each from the rows alone."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from skarce._device import is_on_device, namespace, sqrt, to_device
from skarce._parallel import WORTH_THREADS, for_each, shares, slices
from skarce._typing import Floats, Indices
from skarce.likelihoods import Observations

BLOCK_ROWS = 4096  # rows are multiplied this many at a time, so that no second copy of all columns is needed
BLOCKS = 8  # of a triangular factor; those beyond its diagonal are skipped


class Functions(NamedTuple):
    """Columns of the design and their sizes.

    Attributes
    ----------
    columns : array of shape (n_rows, n), each column contiguous
    energies : sum c phi^2 of each, shape (n,)
    largest_curvatures : phi'B phi of each at the largest curvature that the likelihood can have, shape (n,)
    """

    columns: Floats
    energies: Floats
    largest_curvatures: Floats

    @classmethod
    def of(cls, observations: Observations, columns: Floats) -> Functions:
        """Measure columns."""
        columns = np.asfortranarray(columns)
        squares = columns**2
        return cls(columns, observations.energy_weights @ squares, observations.largest_curvature @ squares)

    def kept(self, places: Indices) -> Functions:
        """Return the functions at these places."""
        return Functions(self.columns.T[places].T, self.energies[places], self.largest_curvatures[places])

    def joined(self, others: Functions) -> Functions:
        """Return these functions and then others."""
        return Functions(*(np.concatenate([own.T, other.T]).T for own, other in zip(self, others, strict=True)))


def weighted_gram(columns: Floats, row_weights: Floats) -> Floats:
    """Return Phi'B Phi for row weights that are not negative, on all cores if rows and columns are many."""
    n, m = columns.shape
    root = sqrt(row_weights)[:, None]
    operations = float(n) * m * (m + 10.0)
    if operations < WORTH_THREADS or is_on_device(columns):
        scaled = columns * root
        return scaled.T @ scaled
    parts = shares(n)
    grams = np.zeros((len(parts), m, m))

    def work(part: int) -> None:
        own, roots = columns[parts[part]], root[parts[part]]
        for rows in slices(len(own), BLOCK_ROWS):
            scaled = own[rows] * roots[rows]
            grams[part] += scaled.T @ scaled

    for_each(work, range(len(parts)), operations=operations)
    return grams.sum(axis=0)


def row_variances(columns: Floats, root: Floats) -> Floats:
    """Return phi_i'R'R phi_i for every row of `columns`, with a lower triangular R, on all cores if rows and columns are many."""
    if is_on_device(columns):
        spread = columns @ to_device(root.T, columns)
        return namespace(columns).sum(spread * spread, axis=1)
    n = len(root)
    operations = 2.0 * columns.size * n
    if operations < WORTH_THREADS:
        spread = columns @ root.T
        return np.einsum("ij,ij->i", spread, spread)
    edges = np.linspace(0, n, min(BLOCKS, n) + 1).astype(int)
    out = np.zeros(len(columns))

    def work(rows: slice) -> None:
        for start, stop in pairwise(edges):
            spread = columns[rows, :stop] @ root[start:stop, :stop].T
            out[rows] += np.einsum("ij,ij->i", spread, spread)

    for_each(work, slices(len(columns), min(BLOCK_ROWS, shares(len(columns))[0].stop)), operations=operations)
    return out
