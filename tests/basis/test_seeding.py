"""Rows that lie far apart, drawn in batches: the distribution is that of one draw after the other."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from skarce.basis import seeding
from skarce.basis.seeding import spread_rows

N_DRAWS = 20_000


def probability(X, order):
    """Of a sequence of rows by k-means++ seeding, each drawn in proportion to its squared distance from those before."""
    distances = np.sum((X[:, None] - X) ** 2, axis=2)
    found = 1.0 / len(X)
    for place in range(1, len(order)):
        nearest = distances[list(order[:place])].min(axis=0)
        found *= nearest[order[place]] / nearest.sum()
    return found


@pytest.mark.parametrize("growth", [4, 0.25])  # proposals one by one, and three at once
def test_rows_have_the_distribution_of_one_draw_after_the_other(growth, monkeypatch):
    monkeypatch.setattr(seeding, "GROWTH", growth)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [3.5, 1.0]])
    rng = np.random.RandomState(0)
    seen = Counter(tuple(spread_rows(X, 4, rng)) for _ in range(N_DRAWS))
    for order in permutations(range(len(X)), 4):
        expected = probability(X, order)
        deviation = np.sqrt(expected * (1.0 - expected) / N_DRAWS)
        assert abs(seen[order] / N_DRAWS - expected) < 5.0 * deviation


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_features", [1, 2, 50])
def test_no_row_is_drawn_twice(rng, n_features, dtype):
    X = rng.normal(size=(600, n_features)).astype(dtype)
    drawn = spread_rows(X, 400, np.random.RandomState(0))
    assert len(np.unique(drawn)) == len(drawn) == 400


def test_all_rows_can_be_drawn(rng):
    assert sorted(spread_rows(rng.normal(size=(90, 2)), 90, np.random.RandomState(0))) == list(range(90))


def test_equal_rows_are_drawn_once():
    X = np.repeat([[0.0], [1.0], [5.0]], 20, axis=0)
    drawn = spread_rows(X, 10, np.random.RandomState(0))
    assert sorted(X[drawn, 0]) == [0.0, 1.0, 5.0]


def test_rows_far_from_zero_keep_their_distances(rng):
    X = rng.normal(size=(300, 2))
    near, far = (spread_rows(X + shift, 100, np.random.RandomState(0)) for shift in (0.0, 1024.0))
    np.testing.assert_array_equal(near, far)
