"""Iteratively reweighted least squares for the Laplace prior."""

import numpy as np
import pytest

from skarce.methods.l1.irls import LaplaceIRLS, hat_trace
from tests.methods.l1.test_active_set import PROBLEMS, Watched, largest
from tests.oracles import l1_objective, random_problem


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


def irls(phi, t):
    return LaplaceIRLS(np.arange(phi.shape[1]), phi.T @ phi, phi.T @ t, float(t @ t), float(len(t)))


def scattered(state, m):
    weights = np.zeros(m)
    weights[state.members] = state.weights
    return weights


def test_a_step_is_the_printed_update():
    phi, t = random_problem(0)
    state = irls(phi, t)
    scale = np.sqrt(t @ t / len(t))
    state.step(3.0 * scale)
    ridge = np.linalg.solve(phi.T @ phi + 3.0 * np.eye(12), phi.T @ t)
    np.testing.assert_allclose(state.weights, ridge, rtol=1e-8)
    state.step(3.0)
    expected = np.linalg.solve(phi.T @ phi + 3.0 * np.diag(1 / np.abs(ridge)), phi.T @ t)
    np.testing.assert_allclose(state.weights, expected[state.members], rtol=1e-8)
    np.testing.assert_allclose(state.magnitudes, np.abs(ridge)[state.members], rtol=1e-8)
    left = np.setdiff1d(np.arange(12), state.members)
    assert (np.abs(expected[left]) * np.linalg.norm(phi[:, left], axis=0) < 1e-5 * np.linalg.norm(t)).all()


def test_the_objective_of_the_iteration_never_rises(problem):
    phi, t = problem
    usable = (phi**2).sum(axis=0) > 0
    phi = phi[:, usable]
    for share in (0.5, 0.01):
        penalty = share * largest(phi, t)
        state = irls(phi, t)
        values = [state.step(penalty) for _ in range(200)]
        assert (np.diff(values) <= 1e-10 * values[0]).all()
        dense = l1_objective(phi, t, scattered(state, phi.shape[1]), penalty)
        assert values[-1] == pytest.approx(dense, rel=1e-8)


def test_the_limit_of_the_iteration_is_the_minimizer():
    for seed in range(3):
        phi, t = random_problem(seed)
        penalty = 0.05 * largest(phi, t)
        state, exact = irls(phi, t), Watched(phi, t)
        state.minimize(penalty, 1e-16, 20_000)
        exact.minimize(penalty, 1e-10, 1000)
        reached = l1_objective(phi, t, scattered(state, 12), penalty)
        assert reached == pytest.approx(l1_objective(phi, t, exact.dense(), penalty), rel=1e-8)
        assert set(exact.members) <= set(state.members)


def test_functions_are_dropped_by_their_share_whatever_the_units():
    phi, t = random_problem(2)
    penalty = 0.3 * largest(phi, t)
    sizes = []
    for factor in (1.0, 1e-8, 1e8):
        state = irls(phi, t * factor)
        state.minimize(penalty * factor, 1e-12, 5000)
        sizes.append(len(state.members))
    assert sizes[0] == sizes[1] == sizes[2] < 12


def test_all_weights_may_vanish():
    phi, t = random_problem(2)
    state = irls(phi, t)
    state.minimize(10 * largest(phi, t), 0.0, 10_000)
    assert len(state.members) == 0
    assert state.objective(1.0) == pytest.approx(0.5 * t @ t)


def test_the_hat_matrix_is_the_slope_of_the_fit_with_the_reweighting_held():
    phi, t = random_problem(1)
    penalty = 0.05 * largest(phi, t)
    exact = Watched(phi, t)
    exact.minimize(penalty, 1e-10, 1000)
    active, gram = phi[:, exact.members], exact.gram

    def fit(targets):
        held = LaplaceIRLS(exact.members, gram, active.T @ targets, float(targets @ targets), float(len(t)))
        held.weights = exact.weights
        held.step(penalty)
        return active @ held.weights

    np.testing.assert_allclose(fit(t), active @ exact.weights, atol=1e-9)  # the fixed point
    slope = sum((fit(t + 1e-4 * e) - fit(t - 1e-4 * e)) @ e / 2e-4 for e in np.eye(len(t)))
    assert hat_trace(gram, exact.magnitudes, penalty) == pytest.approx(slope, rel=1e-7)


def test_the_active_functions_are_the_slope_of_the_fit_when_all_follow():
    """Errata 2.2: what the trace of the hat matrix is not."""
    phi, t = random_problem(1)
    penalty = 0.05 * largest(phi, t)

    def fit(targets):
        state = Watched(phi, targets)
        state.minimize(penalty, 1e-11, 1000)
        return phi @ state.dense(), len(state.members)

    slope = sum((fit(t + 1e-5 * e)[0] - fit(t - 1e-5 * e)[0]) @ e / 2e-5 for e in np.eye(len(t)))
    assert slope == pytest.approx(fit(t)[1], abs=1e-3)
