"""Rows of the Gram matrix that belong to a set of functions, side by side in memory, for products with vectors."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats, Indices
from skarce.moments import Gram
from skarce.moments.gram import WholeGram

WASTE, FEW = 1.25, 32  # rows are copied again if there are more than this many times the functions, and a few
MOST = 0.5  # with more than this share of all rows, a Gram matrix that is in memory is used as it is


class GramRows:
    """Rows of the functions that are in a set, and of some that have left it. A row is copied when it is first needed.

    Parameters
    ----------
    gram : Gram
        The Gram matrix of all candidates.
    """

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self._rows: Floats
        self._places: Indices
        self._n: int
        self._forget()

    def __len__(self) -> int:
        return self._n

    def products(self, functions: Indices, *vectors: Floats) -> list[Floats]:
        """Return G_A'v for every vector v, which has one entry for each of these functions."""
        places = self._places_of(functions)
        rows, spread = self._rows[: self._n], np.zeros((len(vectors), self._n))
        for one, vector in zip(spread, vectors, strict=True):
            one[places] = vector
        return [one @ rows for one in spread]  # one after the other: products with a few rows at once take longer

    def columns(self, functions: Indices, others: Indices) -> Floats:
        """Return G_A,others, shape (len(functions), len(others))."""
        places = self._places_of(functions)
        return self._rows[np.ix_(places, others)]

    def _places_of(self, functions: Indices) -> Indices:
        """Return where the rows of these functions are, after those that are missing have been copied."""
        missing = functions[self._places[functions] < 0]
        if len(missing):
            if self._n + len(missing) > WASTE * len(functions) + FEW:
                self._forget()
                missing = functions
            self._copy(missing)
        return self._places[functions]

    def _copy(self, functions: Indices) -> None:
        before, n, m = self._n, self._n + len(functions), len(self._places)
        if isinstance(self._gram, WholeGram) and n > MOST * m:
            self._rows, self._places, self._n = self._gram.matrix, np.arange(m), m
            return
        if n > len(self._rows):
            larger = np.empty((min(n + FEW + n // 4, m), m))
            larger[:before] = self._rows[:before]
            self._rows = larger
        self._rows[before:n] = self._gram.columns(functions)
        self._places[functions] = np.arange(before, n)
        self._n = n

    def _forget(self) -> None:
        m = len(self._gram.diagonal)
        self._rows, self._places, self._n = np.empty((0, m)), np.full(m, -1, dtype=np.intp), 0
