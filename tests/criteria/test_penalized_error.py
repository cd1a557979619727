"""The penalized error as a criterion, with every search."""

import numpy as np
import pytest

from skarce import BackwardEliminationRegressor, KernelBasis, SparseRegressor
from skarce.criteria import PenalizedError
from skarce.searches import Backward, BestAction, Floating, Forward, GreedyBatches, Oscillating, PlusTakeAway
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import penalized_error, random_problem, rbf
from tests.problems import moments_of

ACTIVE = np.array([4, 1, 9, 3])
seeds = pytest.mark.parametrize("seed", range(5))
ridges = pytest.mark.parametrize("ridge", [0.01, 3.0])


def kernels(seed, n=45):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return rbf(X, X, 0.4), np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


@seeds
@ridges
def test_increments_are_differences_of_two_dense_errors(seed, ridge):
    phi, t = random_problem(seed)
    criterion = PenalizedError(ridge)
    state = criterion.new_state(moments_of(phi, t), ACTIVE, np.full(4, ridge))
    before = penalized_error(phi[:, ACTIVE], t, ridge)
    value = criterion.value(criterion.score(state, 30.0), 30.0, 30.0, 1.0)
    assert value == pytest.approx(before, rel=1e-9)
    ranking = criterion.ranking(state)
    out = np.setdiff1d(np.arange(12), ACTIVE)
    for k in out:
        after = penalized_error(phi[:, [*ACTIVE, k]], t, ridge)
        given, gain = criterion.addition(state, int(k))
        assert given == ridge
        assert gain == pytest.approx(15.0 * np.log(before / after), rel=1e-7, abs=1e-9)
        assert ranking[k] == pytest.approx(2.0 - after / before, rel=1e-8)
    assert (ranking[ACTIVE] == 0).all()
    gains = criterion.removal_gains(state, np.arange(4), 30.0)
    without = [penalized_error(phi[:, np.delete(ACTIVE, i)], t, ridge) for i in range(4)]
    np.testing.assert_allclose(gains, 15.0 * np.log(before / np.array(without)), rtol=1e-7, atol=1e-9)
    assert not criterion.superfluous(state, 30.0).any()


@seeds
@pytest.mark.parametrize("size", [1, 5, 20])
def test_forward_and_backward_go_the_way_of_the_solver(seed, size):
    """The generic searches, one by one, against elimination in blocks and pivoted selection."""
    phi, t = kernels(seed)
    for search, direction in ((Forward(n_basis=size), "forward"), (Backward(n_basis=size), "backward")):
        slow = SparseRegressor(KernelBasis("precomputed"), PenalizedError(), search).fit(phi, t)
        fast = BackwardEliminationRegressor(KernelBasis("precomputed"), direction=direction, n_basis=size).fit(phi, t)
        np.testing.assert_array_equal(slow.active_, fast.active_)
        np.testing.assert_allclose(slow.dual_coef_, fast.dual_coef_, rtol=1e-6)
        np.testing.assert_allclose(slow.predict(phi, return_std=True), fast.predict(phi, return_std=True), rtol=1e-6, atol=1e-8)


@seeds
@pytest.mark.parametrize("tol", [0.02, 0.2])
def test_searches_look_for_the_smallest_set_that_is_enough(seed, tol):
    phi, t = kernels(seed)
    criterion = PenalizedError(0.1, tol)
    moments, enough = moments_of(phi, t), (1 + tol) * penalized_error(phi, t, 0.1)
    sizes = {}
    for search in (Forward(), Backward(), PlusTakeAway(2, 1), Floating(), Oscillating(3)):
        found = search.run(criterion, moments, Journal(Budget()))
        assert penalized_error(phi[:, found.active], t, 0.1) <= enough * (1 + 1e-9)
        np.testing.assert_array_equal(found.ridges, 0.1)
        sizes[type(search).__name__] = len(found.active)
    assert sizes["Floating"] <= sizes["Forward"]
    assert sizes["Oscillating"] <= sizes["Forward"]
    fast = [
        len(removed.active_)
        for removed in (
            SparseRegressor(KernelBasis("precomputed"), criterion, Backward(), fit_intercept=False).fit(phi, t),
            SparseRegressor(KernelBasis("precomputed"), criterion, Forward(), fit_intercept=False).fit(phi, t),
        )
    ]
    assert fast == [sizes["Backward"], sizes["Forward"]]


def test_floating_finds_smaller_sets_that_are_enough():
    criterion, n_saved = PenalizedError(0.1, 0.05), 0
    for seed in range(6):
        moments = moments_of(*kernels(seed))
        forward, floating = (len(search.run(criterion, moments, Journal()).active) for search in (Forward(), Floating()))
        assert floating <= forward
        n_saved += forward - floating
    assert n_saved > 0


def test_the_rule_is_that_of_the_estimator():
    phi, t = kernels(1, 60)
    for search, direction in ((Forward(), "forward"), (Backward(), "backward")):
        slow = SparseRegressor(KernelBasis("precomputed"), PenalizedError(tol=0.08), search).fit(phi, t)
        fast = BackwardEliminationRegressor(KernelBasis("precomputed"), direction=direction, tol=0.08).fit(phi, t)
        np.testing.assert_array_equal(slow.active_, fast.active_)
        objective = fast.trace_["objective"][fast.trace_["n_active"] == len(fast.active_)][0]
        assert slow.criterion_ == pytest.approx(objective, rel=1e-8)
        assert slow.criterion_sense_ == -1


def test_best_action_adds_while_the_error_falls():
    phi, t = kernels(0)
    found = BestAction().run(PenalizedError(1.0), moments_of(phi, t), Journal(Budget(tol=1e-2)))
    state = ActiveSet(moments_of(phi, t), found.active, found.ridges)
    left = np.setdiff1d(np.arange(45), found.active)
    assert max(PenalizedError(1.0).addition(state, int(k))[1] for k in left) <= 1e-2
    with pytest.raises(TypeError, match="use Forward or BestAction"):
        GreedyBatches(few=-1).run(PenalizedError(1.0), moments_of(phi, t), Journal())


def test_noise_alone_needs_no_functions(rng):
    model = SparseRegressor("passthrough", PenalizedError(), Forward()).fit([[1.0], [-1.0], [1.0], [-1.0]], [1.0, 1.0, -1.0, -1.0])
    assert len(model.active_) == 0


@pytest.mark.parametrize("wrong", [{"ridge": -1.0}, {"ridge": "much"}, {"ridge": True}, {"ridge": np.inf}, {"tol": -0.1}])
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ValueError, match="must be"):
        PenalizedError(**wrong)
