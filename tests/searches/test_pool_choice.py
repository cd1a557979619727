"""Which candidates make a pool."""

import numpy as np
import pytest

from skarce.searches.pool_choice import first_pool, first_size, strongest_violators


@pytest.mark.parametrize("ranking", [np.linspace(0.0, 3.0, 200), np.zeros(200), -np.linspace(0.1, 3.0, 200)])
def test_a_first_pool_holds_the_strongest_and_nothing_twice(ranking):
    """Also where most rank below the zero of those that are taken."""
    taken = np.array([3, 150, 199])
    pool = first_pool(ranking, taken, 80, np.random.default_rng(0))
    assert len(np.unique(pool)) == len(pool) == 80
    assert not np.isin(pool, taken).any()
    free = np.setdiff1d(np.arange(200), taken)
    np.testing.assert_array_equal(pool[:10], free[np.argsort(-ranking[free], kind="stable")[:10]])
    np.testing.assert_array_equal(pool, first_pool(ranking, taken, 80, np.random.default_rng(0)))


def test_a_pool_may_hold_all_that_are_left():
    taken = np.array([1, 4])
    np.testing.assert_array_equal(np.sort(first_pool(np.ones(6), taken, 4, np.random.default_rng(0))), [0, 2, 3, 5])
    assert first_size(256, 100) == 256
    assert first_size(256, 1_000_000) == 4000


def test_violators_come_the_strongest_first():
    ranking = np.array([0.4, 2.0, 0.6, -1.0, 5.0, 0.5])
    np.testing.assert_array_equal(strongest_violators(ranking, 10), [4, 1, 2])
    np.testing.assert_array_equal(strongest_violators(ranking, 1), [4])
