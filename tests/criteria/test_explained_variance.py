"""The criterion of orthogonal least squares by itself."""

import numpy as np
import pytest

from skarce import SparseRegressor
from skarce.criteria import ExplainedVariance
from skarce.searches import BestAction
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import gcv, random_problem
from tests.problems import moments_of


def no_penalty(columns):
    return np.zeros((len(columns), len(columns)))


@pytest.mark.parametrize("seed", range(3))
def test_ranking_and_gains_are_those_of_dense_gcv(seed):
    phi, t = random_problem(seed)
    active = np.array([2, 5, 9])
    state, criterion = ActiveSet(moments_of(phi, t), active, np.zeros(3)), ExplainedVariance()
    before = gcv(phi[:, active], t, no_penalty(active))
    assert criterion.value(criterion.score(state, 30), 30, 30, 1.0) == pytest.approx(before, rel=1e-9)
    ranking = criterion.ranking(state)
    for m in np.setdiff1d(np.arange(12), active):
        after = gcv(phi[:, [*active, m]], t, no_penalty([*active, m]))
        assert (ranking[m] > 1.0) == (after < before)
        ridge, gain = criterion.addition(state, int(m))
        assert ridge == 0.0
        assert gain == pytest.approx(15 * np.log(before / after), abs=1e-7)
    for j, gain in enumerate(criterion.removal_gains(state, np.arange(3), 30)):
        after = gcv(phi[:, np.delete(active, j)], t, np.zeros((2, 2)))
        assert gain == pytest.approx(15 * np.log(before / after), rel=1e-7)
        assert criterion.superfluous(state, 30)[j] == (after <= before)


@pytest.mark.parametrize(("share", "helps"), [(0.35, False), (0.37, True), (0.39, True)])
def test_adding_helps_from_a_share_of_two_v_minus_one_over_v_squared(share, helps):
    """Of five rows: 9/25 = 0.36."""
    t = np.array([np.sqrt(share), np.sqrt(1 - share), 0.0, 0.0, 0.0])
    phi = np.eye(5)[:, :1]
    assert (gcv(phi, t, no_penalty([0])) < 5 * (t @ t) / 25) == helps
    assert (ExplainedVariance().ranking(ActiveSet(moments_of(phi, t)))[0] > 1.0) == helps


def test_best_action_ends_where_no_addition_and_no_removal_reduces_gcv():
    phi, t = random_problem(3, n=40, m=20)
    found = BestAction().run(ExplainedVariance(), moments_of(phi, t), Journal(Budget(tol=1e-6)))
    best = gcv(phi[:, found.active], t, no_penalty(found.active))
    assert len(found.active) > 2
    for m in range(20):
        others = np.setxor1d(found.active, [m])
        assert gcv(phi[:, others], t, no_penalty(others)) >= best * (1 - 1e-6)


def test_generic_regressor_takes_it(rng):
    phi, t = random_problem(3, n=40, m=20)
    model = SparseRegressor("passthrough", ExplainedVariance(), BestAction()).fit(phi, t)
    assert model.criterion_ == pytest.approx(gcv(phi[:, model.active_], t, no_penalty(model.active_), intercept=True), rel=1e-8)
