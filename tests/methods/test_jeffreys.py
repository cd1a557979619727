"""Expectation maximization under the Jeffreys prior: its steps, its end, and a closed form."""

import numpy as np
import pytest

from skarce import Outcome
from skarce.basis.transformers import PassthroughCandidates
from skarce.designs import InMemoryDesign, Rows
from skarce.methods.jeffreys import JeffreysEM, run_jeffreys
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import random_problem
from tests.problems import moments_of


def wide_moments(rng, n_rows, n_columns, weights=None):
    """Moments of more columns than rows, which know their rows."""
    phi = rng.normal(size=(n_rows, n_columns))
    t = phi[:, :1] + 0.1 * rng.normal(size=(n_rows, 1))
    return InMemoryDesign(PassthroughCandidates(n_columns), Rows(phi, t, weights)).moments("whole")[0]


def em(phi, t, initial_ridge=0.01):
    return JeffreysEM(moments_of(phi, t), np.arange(phi.shape[1]), initial_ridge)


def test_the_start_is_ridge_and_a_step_is_the_printed_update():
    phi, t = random_problem(0)
    state = em(phi, t, 0.7)
    start = np.linalg.solve(phi.T @ phi + 0.7 * np.eye(12), phi.T @ t)
    np.testing.assert_allclose(state.weights, start, rtol=1e-8)
    noise = np.mean((t - phi @ start) ** 2)
    assert state.noise == pytest.approx(noise)
    state.step()
    expected = np.linalg.solve(phi.T @ phi + noise * np.diag(1 / start**2), phi.T @ t)
    np.testing.assert_allclose(state.weights, expected[state.members], rtol=1e-7)
    residual = t - phi[:, state.members] @ state.weights
    assert state.noise == pytest.approx(residual @ residual / len(t))


def test_a_step_by_rows_is_the_step_by_columns(rng):
    moments = wide_moments(rng, 8, 40)
    assert moments.centered_if_few(np.arange(40)).shape == (8, 40)
    state, sizes = JeffreysEM(moments, np.arange(40), 0.3), rng.exponential(size=40)
    by_rows, by_columns = state._updated_by_rows(sizes, 0.07), state._updated(sizes, 0.07)
    np.testing.assert_allclose(by_rows[0], by_columns[0], rtol=1e-9, atol=1e-12)
    assert by_rows[1] == pytest.approx(by_columns[1], rel=1e-10)


@pytest.mark.parametrize("weight", [1.0, 1e12])
def test_many_weights_of_few_rows_do_not_hide_that_they_are_few(rng, weight):
    moments = wide_moments(rng, 4, 9, np.full(4, weight))
    assert moments.rows.are_fewer_than(5)
    assert not moments.rows.are_fewer_than(4)
    assert moments.centered_if_few(np.arange(9)) is not None
    assert moments.centered_if_few(np.arange(8)) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_end_is_a_fixed_point(seed):
    phi, t = random_problem(seed)
    t = t + phi[:, :3] @ (20 / np.linalg.norm(phi[:, :3], axis=0))
    found = run_jeffreys(moments_of(phi, t), Journal(Budget(tol=1e-12)), 0.01)
    assert found.outcome is Outcome.CONVERGED
    active = phi[:, found.active]
    weights = np.linalg.solve(active.T @ active + np.diag(found.ridges), active.T @ t)
    residual = t - active @ weights
    noise = residual @ residual / len(t)
    np.testing.assert_allclose(active.T @ residual * weights, noise, rtol=1e-7)  # phi'r = s2 / w
    assert 0 < len(found.active) < 12


def test_the_objective_falls_between_the_steps_that_drop_nothing():
    phi, t = random_problem(2)
    state = em(phi, t)
    values, previous = [], None
    for _ in range(40):
        size = len(state.members)
        residual = t - phi[:, state.members] @ state.weights
        value = 0.5 * len(t) * np.log(state.noise) + residual @ residual / (2 * state.noise) + np.log(np.abs(state.weights)).sum()
        values = [*values, value] if size == previous else [value]
        previous = size
        if len(values) > 1:
            assert values[-1] <= values[-2] + 1e-9
        state.step()


def test_orthonormal_columns_have_a_closed_form():
    """Started at z = phi't, w = (z + sign(z) sqrt(z^2 - 4 s2)) / 2 if |z| > 2 s, else nothing."""
    rng = np.random.default_rng(1)
    phi, _ = np.linalg.qr(rng.normal(size=(60, 20)))
    t = phi @ (rng.normal(size=20) * 3) + 0.5 * rng.normal(size=60)
    found = run_jeffreys(moments_of(phi, t), Journal(Budget(tol=1e-12)), 1e-12)
    z = phi.T @ t
    weights = np.zeros(20)
    weights[found.active] = z[found.active] / (1 + found.ridges)
    noise = np.mean((t - phi @ weights) ** 2)
    large = np.abs(z) > 2 * np.sqrt(noise)
    with np.errstate(invalid="ignore"):
        expected = np.where(large, 0.5 * (z + np.sign(z) * np.sqrt(z**2 - 4 * noise)), 0.0)
    assert 0 < large.sum() < 20
    np.testing.assert_allclose(weights, expected, atol=1e-8)
    assert set(np.flatnonzero(large)) == set(found.active)
