"""A set whose ridge is held: steps by outer products give what eigenvectors and dense formulas give."""

import numpy as np
import pytest

from skarce.criteria import SharedEvidence
from skarce.criteria.one_precision import EvidenceFit
from skarce.states.eigen_set import EigenSet
from skarce.states.inverted import MOST_STEPS, Inverted
from tests.problems import moments_of

RIDGE = 2.0
OF_CANDIDATES = ("leftover", "alignment", "remainder", "overlap")
OF_SET = ("weights", "energy", "residual", "freedom", "log_determinant", "inverse")


def problem(seed=0, n=150, m=70):
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m)) * rng.uniform(0.3, 3.0, m)
    return phi, phi[:, :20] @ rng.normal(size=20) + rng.normal(size=n)


def held_state(phi, t, size=40, ridge=RIDGE):
    state = EigenSet(moments_of(phi, t), np.arange(size), np.full(size, ridge))
    state.hold()
    assert state.held is not None
    return state


def walk(state, n_steps, seed=1):
    """Take random steps up and down, and yield after each of them."""
    rng = np.random.default_rng(seed)
    for _ in range(n_steps):
        if rng.random() < 0.5:
            state.add(int(rng.choice(np.setdiff1d(np.arange(state.moments.n_candidates), state.active))), state.ridge)
        else:
            state.remove(int(rng.integers(len(state))))
        yield


@pytest.mark.parametrize("every", [1, 5])  # candidates are asked for after each step, or after some
def test_steps_at_a_held_ridge_give_the_dense_quantities(every):
    phi, t = problem()
    state = held_state(phi, t)
    for step, _ in enumerate(walk(state, 50)):
        assert state.held is not None
        A = phi[:, state.active]
        H = A.T @ A + RIDGE * np.eye(A.shape[1])
        P = np.eye(len(t)) - A @ np.linalg.solve(H, A.T)
        expected = {
            "weights": np.linalg.solve(H, A.T @ t),
            "energy": t @ P @ t,
            "residual": t @ P @ P @ t,
            "freedom": np.trace(P),
            "log_determinant": np.linalg.slogdet(H / RIDGE)[1],
            "inverse": np.linalg.inv(H),
            "leftover": np.einsum("nm,nk,km->m", phi, P, phi),
            "alignment": phi.T @ P @ t,
            "remainder": np.einsum("nm,nm->m", P @ phi, P @ phi),
            "overlap": phi.T @ P @ P @ t,
        }
        names = OF_SET if step % every else OF_SET + OF_CANDIDATES
        for name in names:
            np.testing.assert_allclose(getattr(state, name), expected[name], rtol=1e-8, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(state.spread(), np.diag(np.linalg.inv(H)), rtol=1e-8)
        np.testing.assert_allclose(state.squared_spread(), np.diag(np.linalg.inv(H) @ np.linalg.inv(H)), rtol=1e-8)


def at_ridge(state, ridge):
    """The same functions at another ridge, from eigenvectors."""
    return EigenSet(state.moments, state.active, np.full(len(state), ridge))


def differences(values, step):
    """The first four derivatives at the middle of five values that are a step apart."""
    a, b, c, d, e = values
    return (
        (a - 8 * b + 8 * d - e) / (12 * step),
        (-a + 16 * b - 30 * c + 16 * d - e) / (12 * step**2),
        (-a + 2 * b - 2 * d + e) / (2 * step**3),
        (a - 4 * b + 6 * c - 4 * d + e) / step**4,
    )


def test_slopes_are_those_of_the_evidence():
    phi, t = problem()
    state = held_state(phi, t)
    step = 1e-2
    ridges = RIDGE * np.exp(step * np.arange(-2, 3))
    for _ in walk(state, 10):
        slopes, fit = state.held_slopes(), EvidenceFit(*state.directions(), 150.0)
        np.testing.assert_allclose([slopes.first, slopes.second], fit._derivatives(np.log(RIDGE)), rtol=1e-8)
        _, _, third, fourth = differences([-2.0 * fit.score(ridge) for ridge in ridges], step)
        assert slopes.third == pytest.approx(third, rel=1e-2, abs=1e-2)
        assert slopes.fourth >= abs(fourth) - 1e-2
        freed, freed_more, _, _ = differences([at_ridge(state, ridge).freedom for ridge in ridges], step)
        assert slopes.freed == pytest.approx(freed, rel=1e-5)
        assert slopes.freed_more == pytest.approx(freed_more, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("away", [-0.1, -0.03, 0.05, 0.1])
def test_quantities_and_the_score_at_the_best_ridge_are_known_from_nearby(away):
    """The score is as near as `error` says. Other quantities are near to first order, which is much nearer than without."""
    phi, t = problem()
    criterion, state = SharedEvidence(), held_state(phi, t)
    for _ in walk(state, 12):
        best = EvidenceFit(*state.directions(), 150.0).best_ridge()
        held, exact = at_ridge(state, best * np.exp(away)), at_ridge(state, best)
        held.hold()
        slopes, near = held.held_slopes(), held.at_best_ridge()
        assert slopes.step == pytest.approx(-away, rel=0.05)
        widths = 1e-3 * abs(away)  # they are known to second order
        assert criterion.state_score(held) == pytest.approx(criterion.score(exact, 150.0), abs=2.0 * slopes.error + widths)
        for name in ("leftover", "alignment", "weights", "energy", "freedom"):
            expected = getattr(exact, name)
            off, off_before = (np.abs(getattr(one, name) - expected).max() for one in (near, held))
            assert off < 3.0 * abs(away) * off_before + 1e-9, name
        np.testing.assert_allclose(near.spread(), exact.spread(), rtol=2.0 * away**2)
        others = np.setdiff1d(np.arange(70), state.active)
        gains = [criterion.addition(one, int(k))[1] for one in (held, exact) for k in others]
        np.testing.assert_allclose(gains[: len(others)], gains[len(others) :], rtol=10.0 * away**2, atol=10.0 * away**2)
        everyone = np.arange(len(state))
        removals = [criterion.removal_gains(one, everyone, 150.0) for one in (held, exact)]
        np.testing.assert_allclose(*removals, rtol=10.0 * away**2, atol=10.0 * away**2)


@pytest.mark.parametrize("ridge", [1e-3, 1e6])
def test_a_ridge_far_from_its_best_value_or_at_a_limit_is_taken_as_it_is(ridge):
    """A series would give negative variances there."""
    phi, t = problem()
    held, exact = held_state(phi, t, ridge=ridge), EigenSet(moments_of(phi, t), np.arange(40), np.full(40, ridge))
    criterion, everyone = SharedEvidence(), np.arange(40)
    assert not held.held_slopes().has_minimum_nearby
    assert held.at_best_ridge() is held
    assert criterion.state_score(held) == pytest.approx(criterion.score(exact, 150.0), rel=1e-10)
    removals = [criterion.removal_gains(one, everyone, 150.0) for one in (held, exact)]
    np.testing.assert_allclose(*removals, rtol=1e-6, atol=1e-10)


def test_all_functions_can_leave():
    phi, t = problem()
    state = held_state(phi, t, size=3)
    for size in (2, 1, 0):
        state.remove(0)
        assert len(state) == size
        A = phi[:, state.active]
        np.testing.assert_allclose(state.inverse, np.linalg.inv(A.T @ A + RIDGE * np.eye(size)), rtol=1e-10)
    np.testing.assert_allclose(state.leftover, (phi**2).sum(axis=0), rtol=1e-8)
    np.testing.assert_allclose(state.alignment, phi.T @ t, rtol=1e-8)
    assert state.energy == pytest.approx(t @ t)


def test_drift_is_seen_and_repaired():
    phi, t = problem()
    state = held_state(phi, t)
    for _ in walk(state, 30):
        assert state.drift() < 1e-12
    state.held.weights[0] *= 1.0 + 1e-6
    assert state.drift() > 1e-9
    n_steps = state.held.n_steps
    state.refresh()
    assert state.drift() < 1e-12
    assert state.held.n_steps > n_steps  # it is not held for longer
    assert EigenSet(state.moments, state.active, state.ridges).drift() == 0.0


def test_the_score_of_a_held_ridge_is_that_of_the_best_ridge():
    phi, t = problem()
    criterion, state = SharedEvidence(), held_state(phi, t)
    criterion.settle(state)
    lags = []
    for _ in walk(state, 40):
        criterion.settle(state)
        best = EvidenceFit(*state.directions(), 150.0).best_ridge()
        exact = EigenSet(state.moments, state.active, np.full(len(state), best))
        assert criterion.state_score(state) == pytest.approx(criterion.score(exact, 150.0), abs=5e-4)
        lags.append(abs(np.log(state.ridge / best)))
    assert 1e-4 < max(lags) < 0.1  # it is held, and near


def test_a_ridge_is_not_held_for_ever_nor_if_digits_would_be_lost():
    phi, t = problem()
    state = held_state(phi, t)
    for _ in walk(state, MOST_STEPS):
        assert state.held is not None
    state.remove(0)
    assert state.held is None
    phi[:, 1] = phi[:, 0] + 1e-9 * phi[:, 2]
    assert Inverted.of(moments_of(phi, t), np.arange(10), 1e-9) is None


def test_a_state_comes_back_to_where_it_was():
    phi, t = problem()
    state = held_state(phi, t)
    before, leftover = state.snapshot(), state.leftover.copy()
    for _ in walk(state, 5):
        pass
    state.restore(before)
    np.testing.assert_array_equal(state.active, np.arange(40))
    np.testing.assert_array_equal(state.leftover, leftover)
