"""Where kernels are: at all distinct rows, at landmarks among them, or at given points."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from skarce._scales import checked_scales
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce._validation import checked_array
from skarce.basis.seeding import spread_rows

AUTO_LANDMARKS = 1000  # how many landmarks centers="auto" takes of many rows, unless a method asks for fewer
FEW_ROWS_PER_LANDMARK = 2  # it takes all distinct rows if there are at most this many for each landmark
SEEDING_ROWS_PER_LANDMARK = 10  # these landmarks are seeded from at most this many rows for each
SEEDING_ROWS = 20_000  # landmarks of a given number are seeded from at most this many rows


class Centers(NamedTuple):
    """Centers, and how they were chosen.

    Attributes
    ----------
    centers : array of shape (n_centers, n_features)
    rows : the training rows that are the centers, or None if the centers are given
    choice : "all" distinct rows, "landmarks" among them, or "given"
    """

    centers: Floats
    rows: Indices | None
    choice: str


def is_auto(centers: Any) -> bool:
    """Whether the basis chooses between all rows and landmarks by itself."""
    return isinstance(centers, str) and centers == "auto"


def choose_centers(
    centers: Any, X: Floats, weights: Floats | None, rng: np.random.RandomState, n_landmarks: int = AUTO_LANDMARKS
) -> Centers:
    """Turn the parameter `centers` of a basis into centers. `n_landmarks` is the number that ``"auto"`` takes of many rows."""
    is_odd_number = isinstance(centers, Real) and not isinstance(centers, Integral)
    if is_odd_number or isinstance(centers, bool) or (isinstance(centers, str) and not is_auto(centers)):
        raise ValueError(f'centers must be "auto", None, a whole number or an array of centers, got {quoted(centers)}.')
    if centers is None or is_auto(centers):
        rows = distinct_rows(X, weights)
        if centers is None or len(rows) <= FEW_ROWS_PER_LANDMARK * n_landmarks:
            return Centers(X[rows], rows, "all")
        seeding = _sample(rows, SEEDING_ROWS_PER_LANDMARK * n_landmarks, rng)
        # Each distinct row counts once, so weight 2 and the row twice give the same landmarks.
        rows = seeding[spread_rows(_of_unit_size(X[seeding]), min(n_landmarks, len(seeding)), rng)]
        return Centers(X[rows], rows, "landmarks")
    if isinstance(centers, Integral):
        if centers < 1:
            raise ValueError(f"centers as a number must be at least 1, got {centers}.")
        rows = distinct_rows(X, weights)
        if int(centers) >= len(rows):
            return Centers(X[rows], rows, "all")
        return _landmarks(X, weights, _sample(rows, SEEDING_ROWS, rng), int(centers), rng)
    return Centers(_given(centers, X.shape[1]), None, "given")


def _given(centers: Any, n_features: int) -> Any:
    given = checked_array(centers, "centers")
    if given.shape[1] != n_features:
        raise ValueError(f"centers must have {n_features} columns like X, got shape {given.shape}.")
    return checked_scales(given, name="centers")


def _sample(rows: Indices, most: int, rng: np.random.RandomState) -> Indices:
    """Return all rows, or a random sample of them in their order."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _landmarks(X: Floats, weights: Floats | None, rows: Indices, n_landmarks: int, rng: np.random.RandomState) -> Centers:
    """Choose landmarks among these distinct rows by k-means++ seeding. No row is chosen twice, however close the rows are."""
    from sklearn.cluster import kmeans_plusplus  # slow to import

    n_landmarks, shares = min(n_landmarks, len(rows)), None if weights is None else weights[rows]
    _, chosen = kmeans_plusplus(_of_unit_size(X[rows]), n_landmarks, sample_weight=shares, random_state=rng)
    _, first = np.unique(chosen, return_index=True)
    rows = rows[chosen[np.sort(first)]]
    return Centers(X[rows], rows, "landmarks")


def _of_unit_size(X: Floats) -> Floats:
    """Scale rows by a power of two, which rounds nothing, so that no squared distance overflows."""
    _, exponent = np.frexp(np.abs(X).max(initial=0.0))
    return np.ldexp(X, -exponent)


def distinct_rows(X: Floats, weights: Floats | None = None) -> Indices:
    """Return the indices of the first occurrence of every distinct row of positive weight, in ascending order.

    If the integer hashes of the bit patterns are distinct, all rows differ. This is the common case. The rows themselves are
    compared only if two hashes are equal.
    """
    rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
    counted = X if weights is None else X[rows]
    values = np.ascontiguousarray(counted + X.dtype.type(0.0))  # -0.0 becomes 0.0
    bits = values.view(np.uint64 if values.dtype == np.float64 else np.uint32).astype(np.uint64, copy=False)
    factors = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    hashes = np.sort(bits @ factors)
    if (hashes[1:] != hashes[:-1]).all():
        return rows
    _, first = np.unique(values, axis=0, return_index=True)
    return rows[np.sort(first)]
