"""The maintained quantities equal those of dense matrices after any sequence of actions."""

import numpy as np
import pytest

from skarce.states.active_set import ActiveSet
from tests.oracles import annihilator, random_problem
from tests.problems import moments_of


def assert_fresh(state, phi, t):
    """Every maintained quantity against N x N matrices."""
    P = annihilator(phi[:, state.active], state.ridges, len(t))
    scale = (phi**2).sum(axis=0)
    np.testing.assert_allclose(state.leftover, np.einsum("nm,nk,km->m", phi, P, phi), atol=1e-8 * scale.max())
    np.testing.assert_allclose(state.leftover / scale, np.einsum("nm,nk,km->m", phi, P, phi) / scale, atol=1e-8)
    np.testing.assert_allclose(state.alignment / np.sqrt(scale), phi.T @ P @ t / np.sqrt(scale), atol=1e-8 * np.linalg.norm(t))
    np.testing.assert_allclose(state.energy, t @ P @ t, rtol=1e-8)
    np.testing.assert_allclose(state.remainder / scale, np.einsum("nm,nm->m", P @ phi, P @ phi) / scale, atol=1e-8)
    np.testing.assert_allclose(state.overlap / np.sqrt(scale), phi.T @ P @ P @ t / np.sqrt(scale), atol=1e-8 * np.linalg.norm(t))
    np.testing.assert_allclose(state.residual, t @ P @ P @ t, rtol=1e-8)
    np.testing.assert_allclose(state.freedom, np.trace(P), rtol=1e-8)
    H = phi[:, state.active].T @ phi[:, state.active] + np.diag(state.ridges)
    np.testing.assert_allclose(state.weights, np.linalg.solve(H, phi[:, state.active].T @ t), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(state.spread(), np.diag(np.linalg.inv(H)), rtol=1e-7)
    shape = np.eye(len(t)) + (phi[:, state.active] / state.ridges) @ phi[:, state.active].T
    np.testing.assert_allclose(state.log_determinant, np.linalg.slogdet(shape)[1], atol=1e-8)


@pytest.mark.parametrize("kind", ["whole", "columns"])
@pytest.mark.parametrize("seed", range(5))
def test_any_sequence_of_actions_and_back(seed, kind):
    phi, t = random_problem(seed)
    rng = np.random.default_rng(seed)
    state = ActiveSet(moments_of(phi, t, kind), squares=True)
    for _ in range(60):
        out = np.setdiff1d(np.arange(phi.shape[1]), state.active)
        move = rng.integers(3)
        if (move == 0 and len(out)) or not len(state):
            candidate = rng.choice(out)
            state.add(int(candidate), 10.0 ** rng.uniform(-2, 2) * float((phi[:, candidate] ** 2).sum()))
        elif move == 1:
            position = int(rng.integers(len(state)))
            state.change(position, state.ridges[position] * 10.0 ** rng.uniform(-2, 2))
        else:
            state.remove(int(rng.integers(len(state))))
        assert_fresh(state, phi, t)
    while len(state):
        state.remove(0)
    np.testing.assert_allclose(state.leftover, (phi**2).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(state.energy, t @ t, rtol=1e-9)


def test_settle_restart_and_refresh_agree():
    phi, t = random_problem(1)
    moments = moments_of(phi, t)
    state = ActiveSet(moments, np.array([1, 4, 7, 9]), np.array([1.0, 2.0, 3.0, 4.0]), squares=True)
    state.keep(np.array([0, 2]), np.array([5.0, 6.0]))
    assert list(state.active) == [1, 7]
    assert_fresh(state, phi, t)
    state.restart(np.array([2, 3, 5, 0, 1, 6, 7, 8, 9, 10]), np.full(10, 0.5))
    assert_fresh(state, phi, t)


def test_drift_is_seen_and_mended():
    phi, t = random_problem(2)
    state = ActiveSet(moments_of(phi, t), np.array([0, 1, 2]), np.ones(3), squares=True)
    assert state.drift() < 1e-12
    assert not state.has_sign_violation()
    state.alignment[1] += 1e-5 * np.linalg.norm(phi[:, 1]) * np.linalg.norm(t)
    assert state.drift() > 1e-7
    state.leftover[8] = -1.0
    assert state.has_sign_violation()
    state.refresh()
    assert state.drift() < 1e-12
    assert_fresh(state, phi, t)


def test_dependent_members_are_thinned_out_not_fatal():
    phi, t = random_problem(3)
    phi[:, 5] = phi[:, 1]
    phi[:, 6] = phi[:, 1] + phi[:, 2]
    state = ActiveSet(moments_of(phi, t), np.array([1, 2, 5, 6, 0]), np.full(5, 1e-300))
    assert 2 <= len(state) < 5
    assert np.isfinite(state.leftover).all()


@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_what_is_left_of_a_few_candidates_takes_additions_as_the_whole_set_does(kind):
    phi, t = random_problem(3)
    rng = np.random.default_rng(3)
    state = ActiveSet(moments_of(phi, t, kind), np.array([4, 1]), np.array([0.3, 2.0]))
    few = np.setdiff1d(rng.permutation(phi.shape[1]), [4, 1])[:6]
    left = state.left_of(few)
    if kind == "columns":
        assert left is None  # every column would cost a pass
        return
    entered = [few[2], few[0]]
    for place, ridge in ((2, 0.7), (0, 1.5)):
        left.add(place, ridge)
    P = annihilator(phi[:, [4, 1, *entered]], np.array([0.3, 2.0, 0.7, 1.5]), len(t))
    np.testing.assert_allclose(left.leftover, np.einsum("nm,nk,km->m", phi[:, few], P, phi[:, few]), rtol=1e-8)
    np.testing.assert_allclose(left.alignment, phi[:, few].T @ P @ t, atol=1e-8 * np.linalg.norm(t))
    assert left.energy == pytest.approx(t @ P @ t, rel=1e-9)
    state.extend(few[left.active], left.ridges)
    np.testing.assert_array_equal(state.active, [4, 1, *entered])
    np.testing.assert_allclose(state.leftover[few], left.leftover, rtol=1e-7)
    assert state.energy == pytest.approx(left.energy, rel=1e-9)


def test_a_candidate_that_depends_on_the_active_functions_depends_on_them_in_a_few_too():
    phi, t = random_problem(5)
    phi[:, 3] = phi[:, 0] + phi[:, 1] + 1e-7 * phi[:, 3]
    state = ActiveSet(moments_of(phi, t), np.array([0, 1]), np.array([1e-9, 1e-9]))
    few = np.array([3, 2])
    left = state.left_of(few)
    is_dependent = left.leftover <= left.dependent * left.moments.gram.diagonal
    np.testing.assert_array_equal(is_dependent, (state.leftover <= state.dependent * state.moments.gram.diagonal)[few])
    np.testing.assert_array_equal(is_dependent, [True, False])
