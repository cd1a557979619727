"""GCV with one ridge for all: its gains against dense models."""

import numpy as np
import pytest

from skarce.criteria import OrthogonalGCV, SharedGCV
from skarce.searches import BestAction, Forward
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.shared_set import SharedSet
from tests.criteria.dense_one_ridge import PENALTIES, best_ridge, value
from tests.oracles import gram_schmidt, random_problem
from tests.problems import kernel_moments, moments_of


@PENALTIES
@pytest.mark.parametrize("seed", range(3))
def test_rankings_and_gains_are_those_of_dense_gcv(seed, penalize):
    phi, t = random_problem(seed)
    active, ridge = np.array([9, 2, 5]), 40.0
    criterion = SharedGCV(ridge) if penalize == "weights" else OrthogonalGCV(ridge)
    ridges = np.full(3, ridge if penalize == "weights" else 0.0)
    state = ActiveSet(moments_of(phi, t), active, ridges, squares=criterion.needs_squares)
    before = value(phi[:, active], t, ridge, penalize)
    assert criterion.value(criterion.state_score(state), 30, 30, 1.0) == pytest.approx(before, rel=1e-9)
    ranking = criterion.ranking(state)
    assert (ranking[active] == 0.0).all()
    for m in np.setdiff1d(np.arange(12), active):
        after = value(phi[:, [*active, m]], t, ridge, penalize)
        assert ranking[m] == pytest.approx(before / after, rel=1e-8)
        entering, gain = criterion.addition(state, int(m))
        assert entering == ridges[0]
        assert gain == pytest.approx(15 * np.log(before / after), abs=1e-7)
    if penalize == "weights":
        for j, gain in enumerate(criterion.removal_gains(state, np.arange(3), 30)):
            after = value(phi[:, np.delete(active, j)], t, ridge, penalize)
            assert gain == pytest.approx(15 * np.log(before / after), rel=1e-6)


@PENALTIES
@pytest.mark.parametrize("seed", range(3))
def test_the_first_function_is_judged_at_its_own_ridge(seed, penalize):
    phi, t = random_problem(seed)
    criterion = SharedGCV() if penalize == "weights" else OrthogonalGCV()
    state = ActiveSet(moments_of(phi, t), squares=criterion.needs_squares)
    ranking = criterion.ranking(state)
    values = np.array([best_ridge(phi[:, [m]], t, penalize)[1] for m in range(12)])
    nothing = 30 * (t @ t) / 30**2
    assert ranking.argmax() == values.argmin()
    best = int(ranking.argmax())
    assert criterion.addition(state, best)[1] == pytest.approx(15 * np.log(nothing / values[best]), rel=1e-6)
    assert ((ranking > 1.0) == (values < nothing)).all()


def test_best_action_with_a_fixed_ridge_ends_where_no_single_change_reduces_gcv():
    phi, t = random_problem(3, n=40, m=20)
    found = BestAction().run(SharedGCV(5.0), moments_of(phi, t), Journal(Budget(tol=1e-6)))
    assert len(found.active) > 2
    assert (found.ridges == 5.0).all()
    best = value(phi[:, found.active], t, 5.0, "weights")
    for m in range(20):
        others = np.setxor1d(found.active, [m])
        assert value(phi[:, others], t, 5.0, "weights") >= best * (1 - 1e-6)


def test_mixing_survives_the_order_of_the_indices():
    """Functions come in one order and are kept in another."""
    phi, t = random_problem(2, n=40, m=10)
    found = Forward(n_basis=6).run(OrthogonalGCV(3.0), moments_of(phi, t), Journal())
    assert (np.diff(found.active) < 0).any()
    _, U = gram_schmidt(phi[:, found.active])
    np.testing.assert_allclose(found.mixing, U, atol=1e-9 * np.abs(U).max())
    np.testing.assert_allclose(found.ridges, 3.0)


@pytest.mark.parametrize(("size", "factor"), [(20, 0.3), (33, 0.3), (40, 3.0), (48, 3.0)])
def test_the_ridge_settles_at_the_smallest_v(size, factor):
    """With few functions all ridges are compared, with more only those nearby; here both find the smallest V."""
    moments, _, _ = kernel_moments(2.0, n=80)
    criterion, active = SharedGCV(), np.arange(size)
    ridges = np.geomspace(1e-6, 1e4, 201)
    values = [criterion.state_score(criterion.new_state(moments, active, np.full(size, ridge))) for ridge in ridges]
    best = float(ridges[int(np.argmax(values))])
    state = criterion.new_state(moments, active, np.full(size, factor * best))
    criterion.settle(state)
    assert isinstance(state, SharedSet)
    assert state.ridge == pytest.approx(best, rel=0.12)  # the step of the scan
    assert criterion.state_score(state) >= max(values) - 1e-3


def test_a_ridge_far_from_the_minimum_is_found_among_all():
    moments, _, _ = kernel_moments(2.0, n=80)
    criterion, active = SharedGCV(), np.arange(40)
    far, near = (criterion.new_state(moments, active, np.full(40, ridge)) for ridge in (1e-7, 0.1))
    for state in (far, near):
        criterion.settle(state)
    assert far.ridge == pytest.approx(near.ridge, rel=0.02)


def test_moments_without_rows_and_fixed_ridges_keep_their_state():
    moments, _, _ = kernel_moments(2.0)
    assert isinstance(SharedGCV().new_state(moments), SharedSet)
    assert isinstance(SharedGCV().new_state(moments.without_rows()), ActiveSet)
    assert isinstance(SharedGCV(0.0).new_state(moments), ActiveSet)


@pytest.mark.parametrize("gamma", [1.0, 0.1])
def test_forward_selection_is_the_same_with_and_without_rows(gamma):
    """As long as moments have enough digits, both kinds of state go the same way."""
    moments, _, _ = kernel_moments(gamma, n=100, noise=0.3)
    found = [Forward(n_basis=25).run(SharedGCV(), m, Journal(Budget())) for m in (moments, moments.without_rows())]
    np.testing.assert_array_equal(found[0].active[:10], found[1].active[:10])
    if gamma == 1.0:
        np.testing.assert_array_equal(found[0].active, found[1].active)
        np.testing.assert_allclose(found[0].ridges, found[1].ridges, rtol=1e-5)
