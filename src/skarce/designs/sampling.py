"""A random sample of rows that are somewhere else: samples of two parts of the rows add up to a sample of both."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from skarce._typing import Floats, Indices
from skarce.designs.labels import joined_totals, label_totals

SAMPLE_ROWS = 20_000  # a basis is fitted on a sample of at most this many rows


class RowSample(NamedTuple):
    """The rows with the smallest random keys, and how many rows there were.

    A key is a draw from an exponential distribution, divided by the sample weight. So heavy rows are drawn more often, and rows of
    weight zero are not (Efraimidis and Spirakis 2006).

    Attributes
    ----------
    X : inputs of the rows, as they came
    y : their targets or labels
    weights : their sample weights
    keys : their random keys
    places : where they were, if they were in numbered parts: the part, and the row in it
    n_rows : how many rows there were
    n_counted : how many of them had a positive weight
    total : the sum of all weights
    labels : the weight of each label, if targets are labels
    """

    X: Any
    y: Any
    weights: Floats
    keys: Floats
    places: Indices
    n_rows: int
    n_counted: int
    total: float
    labels: dict[Any, float]

    @classmethod
    def of(cls, X: Any, y: Any, weights: Floats | None, uniform: Floats, *, has_labels: bool = False, number: int = 0) -> RowSample:
        """Return a sample of the rows of a part with some number, from uniform random numbers between 0 and 1."""
        counts = np.ones(len(uniform)) if weights is None else weights
        with np.errstate(divide="ignore", over="ignore"):
            keys = np.where(counts > 0.0, -np.log1p(-uniform) / np.maximum(counts, np.finfo(float).tiny), np.inf)
        labels = label_totals(y, weights) if has_labels else {}
        places = places_in(number, np.arange(len(counts)))
        return cls(X, y, counts, keys, places, len(counts), int(np.count_nonzero(counts)), float(counts.sum()), labels)

    def least(self, most: int = SAMPLE_ROWS, *, largest_key: float = np.inf) -> RowSample:
        """Return the sample with at most so many rows, in their order, and with no larger key than this one."""
        if len(self.keys) <= most and largest_key == np.inf:
            return self
        chosen = np.sort(np.argsort(self.keys, kind="stable")[:most])
        chosen = chosen[self.keys[chosen] <= largest_key]
        X, y = _safe_indexing(self.X, chosen), _safe_indexing(self.y, chosen)
        return self._replace(X=X, y=y, weights=self.weights[chosen], keys=self.keys[chosen], places=self.places[chosen])

    @classmethod
    def total_of(cls, parts: list[RowSample], most: int = SAMPLE_ROWS) -> RowSample:
        """Return the sample of all parts, at least one."""
        rows = [part for part in parts if len(part.keys)] or parts[:1]
        return cls(
            joined([part.X for part in rows]),
            joined([part.y for part in rows]),
            np.concatenate([part.weights for part in rows]),
            np.concatenate([part.keys for part in rows]),
            np.concatenate([part.places for part in rows]),
            sum(part.n_rows for part in parts),
            sum(part.n_counted for part in parts),
            sum(part.total for part in parts),
            joined_totals([part.labels for part in parts]),
        ).least(most)

    @property
    def is_all(self) -> bool:
        """Whether the sample holds all rows."""
        return len(self.keys) == self.n_rows

    @property
    def row_weights(self) -> Floats | None:
        """What the rows of the sample weigh: their weights, or the mean weight if they were drawn by their weights."""
        weights = self.weights if self.is_all else np.full(len(self.weights), self.total / max(self.n_counted, 1))
        return None if (weights == 1.0).all() else weights


def largest_key(n_rows: int | None, most: int = SAMPLE_ROWS) -> float:
    """Return a key above those of a sample of rows of weight 1, if it is known how many there are. The others need not be kept.

    The number of keys below is binomial. So with a margin of ten standard deviations, there are enough of them.
    """
    share = np.inf if n_rows is None else (most + 10.0 * most**0.5) / max(n_rows, 1)
    return float(-np.log1p(-share)) if share < 1.0 else np.inf


def places_in(number: int, rows: Indices) -> Indices:
    """Return the places of these rows of a part with some number."""
    return np.column_stack([np.full(len(rows), number), rows])


def joined(parts: list[Any]) -> Any:
    """Return the rows of arrays, data frames or sparse matrices of one kind, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        return sys.modules["pandas"].concat(parts, ignore_index=True)
    return np.concatenate(parts)
