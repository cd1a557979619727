"""The path of penalties: where it ends, and what it says about that."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, LaplacePriorRegressor, Outcome
from skarce.designs import RowBlocks
from tests.oracles import gcv, rbf


def test_a_path_gives_the_models_of_its_penalties(sinc):
    X, y = sinc
    basis, penalties = KernelBasis(gamma=0.3), [1e-3, 2.0, 0.1, 0.01, 1e9]
    model = LaplacePriorRegressor(basis, penalty=penalties).fit(X, y)
    singles = {p: LaplacePriorRegressor(basis, penalty=p).fit(X, y) for p in penalties}
    best = min(singles.values(), key=lambda single: single.criterion_)
    assert model.penalty_ == best.penalty_
    np.testing.assert_array_equal(model.active_, best.active_)
    np.testing.assert_allclose(model.dual_coef_, best.dual_coef_, rtol=1e-4)
    path = model.trace_[model.trace_["action"] == "penalty"]
    assert list(path["penalty"]) == pytest.approx(sorted(penalties, reverse=True))
    for row in path:
        single = singles[min(penalties, key=lambda p: abs(p - row["penalty"]))]
        assert row["criterion"] == pytest.approx(single.criterion_, rel=1e-5)
        assert row["n_active"] == len(single.active_)


def test_the_unfinished_iteration_predicts_as_the_minimizer_with_more_functions(sinc):
    X, y = sinc
    basis = KernelBasis(gamma=0.1)
    exact, stopped, loose = (
        LaplacePriorRegressor(basis, penalty=0.05, **kinds).fit(X, y)
        for kinds in ({}, {"finish": False}, {"finish": False, "tol": 1e-3})
    )
    assert len(exact.active_) < len(stopped.active_) < len(loose.active_)
    np.testing.assert_allclose(stopped.predict(X), exact.predict(X), atol=0.01)
    assert stopped.criterion_ == pytest.approx(exact.criterion_, rel=0.01)
    phi = rbf(X, X, 0.1)[:, stopped.active_]
    ridges = stopped.weight_precision_ * stopped.noise_variance_
    assert stopped.criterion_ == pytest.approx(gcv(phi, y, ridges, intercept=True), rel=1e-6)


def test_how_the_iteration_came_to_a_penalty_does_not_matter(rng):
    X = rng.uniform(0, 1, (100, 1))
    y = np.sin(6 * X[:, 0]) + rng.normal(size=100)
    basis = KernelBasis(gamma=3.0)
    along = LaplacePriorRegressor(basis, penalty=np.geomspace(1e-4, 10, 20), finish=False).fit(X, y)
    alone = LaplacePriorRegressor(basis, penalty=along.penalty_, finish=False).fit(X, y)
    on_the_way = along.trace_["n_active"][:-1][along.trace_["penalty"][:-1] == along.penalty_]
    assert on_the_way[0] < len(along.active_)
    np.testing.assert_array_equal(along.active_, alone.active_)
    np.testing.assert_allclose(along.dual_coef_, alone.dual_coef_)


@pytest.mark.filterwarnings("ignore:Left-out rows are:sklearn.exceptions.ConvergenceWarning")
def test_the_path_of_gcv_ends_before_models_that_use_half_of_the_rows(rng):
    X = rng.normal(size=(50, 200))
    y = X[:, 0] + 0.5 * rng.normal(size=50)
    for kinds in ({}, {"degrees_of_freedom": "active"}, {"finish": False}):
        model = LaplacePriorRegressor("passthrough", **kinds).fit(X, y)
        assert model.trace_["degrees_of_freedom"][-1] <= 0.5 * 49
    assert LaplacePriorRegressor("passthrough").fit(X, y).trace_["n_active"].max() <= 24
    whole = LaplacePriorRegressor("passthrough", penalty=model.penalty_ * np.geomspace(1, 1e-4, 30)).fit(X, y)
    assert whole.trace_["n_active"].max() > 40


def test_it_says_if_the_criterion_is_least_at_an_end_of_the_path(sinc):
    X, y = sinc
    model = LaplacePriorRegressor("rbf").fit(X, y)
    path = model.trace_[:-1]
    assert path["criterion"].argmin() == len(path) - 1 == 99
    assert model.outcome_ is Outcome.END_OF_PATH
    longer = LaplacePriorRegressor("rbf", penalty=path["penalty"][0] * np.geomspace(1e-1, 1e-8, 30)).fit(X, y)
    assert 0 < longer.trace_["criterion"][:-1].argmin() < 29
    assert longer.outcome_ is Outcome.CONVERGED
    assert longer.penalty_ < model.penalty_
    for penalties in (path["penalty"][30:60], longer.penalty_ * np.geomspace(1e-3, 1e-5, 5)):
        model = LaplacePriorRegressor("rbf", penalty=penalties).fit(X, y)
        assert model.trace_["criterion"][:-1].argmin() in (0, len(penalties) - 1)
        assert model.outcome_ is Outcome.END_OF_PATH
    assert LaplacePriorRegressor("rbf", penalty=longer.penalty_).fit(X, y).outcome_ is Outcome.CONVERGED


@pytest.mark.parametrize("finish", [True, False])
def test_it_says_if_half_of_the_rows_ended_the_path(rng, finish):
    X = rng.uniform(size=(100, 3))
    y = np.sin(12 * X[:, 0]) * np.cos(9 * X[:, 1]) + 0.01 * rng.normal(size=100)
    with pytest.warns(ConvergenceWarning, match="more than half"):
        model = LaplacePriorRegressor(KernelBasis(gamma=20.0), finish=finish, size_prior=None).fit(X, y)
    path = model.trace_[model.trace_["action"] == "penalty"]
    assert len(path) < 100
    assert model.penalty_ == pytest.approx(path["penalty"].min())
    assert model.outcome_ is Outcome.HALF_USED


def test_the_path_ends_at_the_same_penalty_for_the_iteration(rng):
    X = rng.normal(size=(50, 200))
    y = X[:, 0] + 0.5 * rng.normal(size=50)
    exact, stopped = (LaplacePriorRegressor("passthrough", finish=finish).fit(X, y) for finish in (True, False))
    assert stopped.trace_["penalty"].min() == pytest.approx(exact.trace_["penalty"].min())


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("finish", [True, False])
def test_rows_that_are_counted_often_do_not_let_more_functions_in(rng, finish):
    X = rng.normal(size=(50, 200))
    y = X[:, 0] + 0.5 * rng.normal(size=50)
    X5, y5 = np.tile(X, (5, 1)), np.tile(y, 5)
    unfitted = LaplacePriorRegressor("passthrough", finish=finish, size_prior=None)
    once, repeated = clone(unfitted).fit(X, y), clone(unfitted).fit(X5, y5)
    weighted = clone(unfitted).fit(X, y, sample_weight=np.full(50, 5.0))
    streamed = clone(unfitted).fit(RowBlocks.from_arrays(X5, y5))
    for model in (repeated, weighted, streamed):
        assert model.trace_["penalty"].min() == pytest.approx(5 * once.trace_["penalty"].min())
        np.testing.assert_array_equal(model.active_, repeated.active_)
    if finish:
        assert repeated.trace_["n_active"].max() <= 25
