"""GCV with one ridge for all: its gains against dense models."""

import numpy as np
import pytest

from skarce.criteria import OrthogonalGCV, SharedGCV
from skarce.searches import BestAction, Forward
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.criteria.dense_one_ridge import PENALTIES, best_ridge, value
from tests.oracles import gram_schmidt, random_problem
from tests.problems import moments_of


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
