"""Functions of a model at all rows, and what is known of each from the rows alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._parallel import WORTH_THREADS, for_each, shares
from skarce._typing import Floats, Indices
from skarce.likelihoods import Observations


class Functions(NamedTuple):
    """Columns of the design and their sizes.

    Attributes
    ----------
    columns : array of shape (n_rows, n)
    energies : sum c phi^2 of each, shape (n,)
    largest_curvatures : phi'B phi of each at the largest curvature that the likelihood can have, shape (n,)
    """

    columns: Floats
    energies: Floats
    largest_curvatures: Floats

    @classmethod
    def of(cls, observations: Observations, columns: Floats) -> Functions:
        """Measure columns."""
        squares = columns**2
        return cls(columns, observations.weights @ squares, observations.largest_curvature @ squares)

    def kept(self, places: Indices) -> Functions:
        """Return the functions at these places."""
        return Functions(self.columns[:, places], self.energies[places], self.largest_curvatures[places])

    def joined(self, others: Functions) -> Functions:
        """Return these functions and then others."""
        return Functions(*(np.concatenate(pair, axis=-1) for pair in zip(self, others, strict=True)))


def weighted_gram(columns: Floats, row_weights: Floats) -> Floats:
    """Return Phi'B Phi for row weights that are not negative, on all cores if rows and columns are many."""
    n, m = columns.shape
    root = np.sqrt(row_weights)[:, None]
    operations = float(n) * m * (m + 10.0)
    if operations < WORTH_THREADS:
        scaled = columns * root
        return scaled.T @ scaled
    parts = shares(n)
    grams = np.zeros((len(parts), m, m))

    def work(part: int) -> None:
        scaled = columns[parts[part]] * root[parts[part]]
        grams[part] = scaled.T @ scaled

    for_each(work, range(len(parts)), operations=operations)
    return grams.sum(axis=0)
