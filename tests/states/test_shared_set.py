"""A set with one ridge for all functions: every quantity equals that of dense matrices after any sequence of actions."""

import numpy as np
import pytest

from skarce.states.coordinates import RowCoordinates
from skarce.states.shared_set import MOST_RECENT, SharedSet
from tests.oracles import annihilator
from tests.problems import kernel_moments


def assert_fresh(state, phi, t, n_samples, digits=1e-8):
    P = annihilator(phi[:, state.active], state.ridges, len(t))
    scale, length = np.linalg.norm(phi, axis=0), np.linalg.norm(t)
    np.testing.assert_allclose(state.leftover / scale**2, np.einsum("nm,nm->m", phi, P @ phi) / scale**2, atol=digits)
    np.testing.assert_allclose(state.remainder / scale**2, ((P @ phi) ** 2).sum(axis=0) / scale**2, atol=digits)
    np.testing.assert_allclose(state.alignment / scale, t @ P @ phi / scale, atol=digits * length)
    np.testing.assert_allclose(state.overlap / scale, t @ P @ P @ phi / scale, atol=digits * length)
    np.testing.assert_allclose(state.energy, t @ P @ t, rtol=digits)
    np.testing.assert_allclose(state.residual, t @ P @ P @ t, rtol=digits)
    np.testing.assert_allclose(state.freedom, np.trace(P) - (len(t) - n_samples), rtol=digits)
    others = state.others()
    assert np.isin(np.setdiff1d(np.arange(phi.shape[1]), state.active), others.where).all()
    for name, size in {"leftover": scale**2, "remainder": scale**2, "alignment": scale * length, "overlap": scale * length}.items():
        expected = getattr(state, name)[others.where] / size[others.where]
        np.testing.assert_allclose(getattr(others, name) / size[others.where], expected, atol=digits, err_msg=name)
    H = phi[:, state.active].T @ phi[:, state.active] + np.diag(state.ridges)
    np.testing.assert_allclose(H @ state.weights, phi[:, state.active].T @ t, atol=digits * scale.max() * length)
    np.testing.assert_allclose(state.inverse @ H, np.eye(len(state)), atol=1e3 * digits)
    np.testing.assert_allclose(state.cholesky @ state.cholesky.T, H, atol=digits * scale.max() ** 2)
    np.testing.assert_allclose(state.log_determinant, np.linalg.slogdet(H)[1] - len(state) * np.log(state.ridge), atol=1e2 * digits)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("gamma", [4.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_actions(seed, gamma, fit_intercept):
    moments, phi, t = kernel_moments(
        gamma, weights=np.random.default_rng(seed).integers(1, 3, 60) + 0.5, fit_intercept=fit_intercept
    )
    rng, state, ridge = np.random.default_rng(seed), SharedSet(moments), 0.1
    snapshot = None
    for step in range(50):
        outside = np.setdiff1d(np.arange(60), state.active)
        move = rng.integers(6)
        if move < 3 or len(state) < 2:
            state.add(int(rng.choice(outside)), ridge)
        elif move == 3:
            ridge = float(10.0 ** rng.uniform(-4, 1))
            state.keep(np.arange(len(state)), np.full(len(state), ridge))
        elif move == 4:
            state.remove(int(rng.integers(len(state))))
        elif snapshot is not None:
            state.restore(snapshot)
            ridge = state.ridge
        if step % 7 == 0:
            snapshot = state.snapshot()
        assert_fresh(state, phi, t, moments.n_samples)
    state.restart(np.arange(20, 40), np.full(20, 0.3))
    state.keep(np.array([0, 5, 19]), np.full(3, 0.2))
    assert list(state.active) == [20, 25, 39]
    assert_fresh(state, phi, t, moments.n_samples)


@pytest.mark.parametrize(("size", "gamma"), [(10, 1.0), (30, 20.0)])
def test_many_additions_between_two_eigenvalue_problems(size, gamma):
    moments, phi, t = kernel_moments(gamma)
    state = SharedSet(moments, np.arange(size), np.full(size, 0.2))
    turned = state.snapshot()[0].grown.turned
    for candidate in range(size, size + MOST_RECENT):
        state.add(candidate, 0.2)
        assert state.snapshot()[0].grown.turned is turned
        assert set(state.others().where) == set(range(0 if size == 10 else size, 60))  # with those that have entered since
        assert_fresh(state, phi, t, moments.n_samples)
    state.add(59, 0.2)
    assert state.snapshot()[0].grown.turned is not turned
    assert_fresh(state, phi, t, moments.n_samples)


def test_products_continue_only_those_of_the_same_functions_at_the_same_ridge():
    moments, phi, t = kernel_moments(1.0)
    state = SharedSet(moments, np.arange(10), np.full(10, 0.2))
    start = state.snapshot()
    for candidates, ridge in (((20, 30), 0.2), ((30, 20), 0.2), ((30,), 0.2), ((30, 20, 40), 0.1), ((40,), 0.1)):
        state.restore(start)
        for candidate in candidates:
            state.add(candidate, ridge)
            assert_fresh(state, phi, t, moments.n_samples)


def test_wide_kernels_keep_their_digits():
    """The annihilator of dense rows is exact here, because it inverts I + Phi Phi' / lambda."""
    moments, phi, t = kernel_moments(0.01)
    ridge = 1e-9 * moments.gram.diagonal.max()
    state = SharedSet(moments, np.arange(0, 40, 2), np.full(20, ridge))
    for candidate in range(1, 11, 2):
        state.add(candidate, ridge)
    assert isinstance(state._coordinates, RowCoordinates)
    stacked = np.vstack([phi[:, state.active], np.sqrt(ridge) * np.eye(25)])
    basis = np.linalg.qr(stacked)[0][: len(t)]
    rest = phi - basis @ (basis.T @ phi)
    outside = np.setdiff1d(np.arange(60), state.active)
    np.testing.assert_allclose(state.remainder[outside], (rest[:, outside] ** 2).sum(axis=0), rtol=1e-5)
    left = t - basis @ (basis.T @ t)
    np.testing.assert_allclose(state.residual, left @ left, rtol=1e-9)
    np.testing.assert_allclose(state.freedom, moments.n_samples - (basis**2).sum(), rtol=1e-9)


def test_slopes_and_directions_agree_with_differences():
    moments, _, _ = kernel_moments(1.0)
    state = SharedSet(moments, np.arange(10), np.full(10, 0.2))
    for candidate in (12, 30, 31):
        state.add(candidate, 0.2)

    def log_v(ridge):
        other = SharedSet(moments, state.active, np.full(len(state), ridge))
        return np.log(other.residual) - 2.0 * np.log(other.freedom)

    for ridge in (1e-3, 0.2, 7.0):
        difference = (log_v(ridge * 1.001) - log_v(ridge / 1.001)) / (2.0 * np.log(1.001))
        assert state.slope_at(ridge) == pytest.approx(difference, rel=1e-5, abs=1e-9)
    squared_norms, projections, unexplained = state.directions()
    shares = 0.2 / (squared_norms + 0.2)
    assert unexplained + (projections**2 / squared_norms) @ shares**2 == pytest.approx(state.residual, rel=1e-10)
    assert moments.n_samples - (1.0 - shares).sum() == pytest.approx(state.freedom, rel=1e-10)
    np.testing.assert_allclose(np.sort(squared_norms), np.linalg.eigvalsh(state.gram_block), rtol=1e-8)


def test_an_empty_set_and_a_single_ridge():
    moments, _, t = kernel_moments(1.0)
    state = SharedSet(moments)
    np.testing.assert_array_equal(state.leftover, moments.gram.diagonal)
    assert state.residual == pytest.approx(t @ t, rel=1e-9)
    assert state.freedom == moments.n_samples
    with pytest.raises(TypeError, match="share one ridge"):
        state.change(0, 1.0)
