"""The best ridge for all weights, in one dimension."""

import numpy as np
import pytest

from skarce.criteria import OrthogonalGCV, SharedGCV
from skarce.criteria.one_ridge import OrthogonalFit
from skarce.states.active_set import ActiveSet
from tests.criteria.dense_one_ridge import PENALTIES, best_ridge, value
from tests.oracles import random_problem
from tests.problems import moments_of


@PENALTIES
@pytest.mark.parametrize("seed", range(6))
def test_ridge_is_the_least_of_a_dense_scan(seed, penalize):
    phi, t = random_problem(seed, n=30, m=8)
    moments = moments_of(phi, t)
    active = np.random.default_rng(seed).permutation(8)[: 3 + seed % 4]
    expected, least = best_ridge(phi[:, active], t, penalize)
    if penalize == "weights":
        state = ActiveSet(moments, active, np.full(len(active), 1.0), squares=True)
        SharedGCV().settle(state)
        ridge = state.ridges[0]
        assert (state.ridges == ridge).all()
    else:
        state = ActiveSet(moments, active, np.zeros(len(active)))
        ridge = OrthogonalGCV().penalty(state, len(active))[0][0]
    at = value(phi[:, active], t, ridge, penalize)
    assert at <= least * (1 + 1e-9)
    longest = np.linalg.eigvalsh(phi[:, active].T @ phi[:, active])[-1]
    if 1e-9 < expected / longest < 10.0:
        assert ridge == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("seed", range(200))
def test_one_dimensional_search_never_misses(seed):
    """Random orthogonal fits, many with several minima: nothing on a fine scan is better."""
    rng = np.random.default_rng(seed)
    size, n = int(rng.integers(1, 20)), 25.0
    fit = OrthogonalFit(
        10.0 ** rng.uniform(-8, 2, size), rng.normal(size=size) * 10.0 ** rng.uniform(-6, 2, size), 10.0 ** rng.uniform(-6, 2), n
    )
    p, o = fit.squared_norms, fit.projections

    def log_gcv(ridge):
        q = fit.unexplained + (o**2 / p * (ridge / (p + ridge)) ** 2).sum(axis=-1)
        return np.log(q) - 2 * np.log(n - (p / (p + ridge)).sum(axis=-1))

    ridge = fit.best_ridge()
    scan = p.max() * np.geomspace(1e-12, 1e2, 3000)
    assert log_gcv(ridge) <= log_gcv(scan[:, None]).min() + 1e-9
    assert fit.score(ridge) == pytest.approx(-n / 2 * log_gcv(ridge), rel=1e-10)


def test_slope_and_curvature_against_differences(rng):
    fit = OrthogonalFit(10.0 ** rng.uniform(-2, 2, 6), rng.normal(size=6), 0.3, 20.0)
    for log in (-3.0, 0.0, 2.0):
        slope, curvature = fit._derivatives(log)
        up, down = (-2.0 / 20.0 * fit.score(np.exp(log + s)) for s in (1e-4, -1e-4))
        assert slope == pytest.approx((up - down) / 2e-4, rel=1e-6, abs=1e-9)
        slopes = [fit._derivatives(log + s)[0] for s in (1e-5, -1e-5)]
        assert curvature == pytest.approx((slopes[0] - slopes[1]) / 2e-5, rel=1e-6, abs=1e-9)


def test_a_ridge_that_hardly_moves_stays():
    phi, t = random_problem(0)
    state = ActiveSet(moments_of(phi, t), np.array([0, 2, 5]), np.ones(3), squares=True)
    SharedGCV().settle(state)
    ridge = state.ridges[0]
    state.keep(np.arange(3), np.full(3, ridge * 1.005))
    SharedGCV().settle(state)
    assert state.ridges[0] == pytest.approx(ridge * 1.005)
    SharedGCV(7.0).settle(state)
    assert state.ridges[0] == pytest.approx(ridge * 1.005)
