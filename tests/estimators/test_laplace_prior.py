"""The estimator with an L1 penalty, against dense matrices and scikit-learn's lasso."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from skarce import KernelBasis, LaplacePriorRegressor, Outcome
from skarce.designs import RowBlocks
from tests.oracles import contrasts, gcv, l1_objective, l1_violation, rbf


@pytest.fixture
def linear(rng):
    X = rng.normal(size=(60, 12)) * 10.0 ** rng.uniform(-1, 1, 12) + 3.0
    return X, X[:, :4] @ (1.0 / X[:, :4].std(axis=0)) + rng.normal(size=60) + 7.0


def scattered(model, m):
    weights = np.zeros(m)
    weights[model.active_] = model.posterior_.mean
    return weights


@pytest.mark.parametrize("penalty", ["gcv", 0.05])
@pytest.mark.parametrize("degrees_of_freedom", ["hat", "active"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(sinc, fit_intercept, degrees_of_freedom, penalty):
    X, y = sinc
    basis = KernelBasis(gamma=0.3)
    model = LaplacePriorRegressor(basis, penalty=penalty, degrees_of_freedom=degrees_of_freedom, fit_intercept=fit_intercept).fit(
        X, y
    )
    phi = rbf(X, X, 0.3)
    active = phi[:, model.active_]
    np.testing.assert_allclose(model.predict(X), active @ model.posterior_.mean + model.intercept_)
    # A constant without a penalty is the projection on vectors that sum to zero.
    inside, t = (contrasts(120).T @ phi, contrasts(120).T @ y) if fit_intercept else (phi, y)
    assert l1_violation(inside, t, scattered(model, 120), model.penalty_) < 2e-6 * model.penalty_
    ridges = model.weight_precision_ * model.noise_variance_
    np.testing.assert_allclose(ridges, model.penalty_ / np.abs(model.posterior_.mean), rtol=1e-6)
    residual, rows = ((y - model.predict(X)) ** 2).sum(), inside[:, model.active_]
    used = np.trace(rows @ np.linalg.solve(rows.T @ rows + np.diag(ridges), rows.T)) if degrees_of_freedom == "hat" else len(ridges)
    np.testing.assert_allclose(model.criterion_, 120 * residual / (len(t) - used) ** 2, rtol=1e-7)
    np.testing.assert_allclose(model.noise_variance_, residual / (len(t) - used), rtol=1e-7)
    if degrees_of_freedom == "hat":
        np.testing.assert_allclose(model.criterion_, gcv(active, y, ridges, intercept=fit_intercept), rtol=1e-6)
    assert model.criterion_sense_ == -1
    last = model.trace_[-1]
    assert last["action"] == "choose"
    assert last["n_active"] == len(model.active_)
    assert last["penalty"] == model.penalty_
    np.testing.assert_allclose([last["criterion"], last["degrees_of_freedom"]], [model.criterion_, used], rtol=1e-6)
    assert model.criterion_ == pytest.approx(model.trace_["criterion"].min(), rel=1e-9)
    assert fit_intercept or model.intercept_ == 0.0
    assert model.outcome_ is Outcome.CONVERGED
    assert penalty == "gcv" or model.penalty_ == penalty


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_the_lasso(linear, fit_intercept):
    X, y = linear
    for penalty in (0.1, 10.0, 200.0):
        model = LaplacePriorRegressor("passthrough", penalty=penalty, fit_intercept=fit_intercept).fit(X, y)
        lasso = Lasso(alpha=penalty / 60, fit_intercept=fit_intercept, tol=1e-13, max_iter=1_000_000).fit(X, y)
        np.testing.assert_allclose(scattered(model, 12), lasso.coef_, atol=1e-6 * np.abs(lasso.coef_).max())
        reached, theirs = (
            l1_objective(X, y - m.intercept_, w, penalty) for m, w in ((model, scattered(model, 12)), (lasso, lasso.coef_))
        )
        assert reached == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize("finish", [True, False])
def test_units_of_the_target_do_not_matter(sinc, finish):
    X, y = sinc
    for penalty in ("gcv", 0.05):
        models = [
            LaplacePriorRegressor("rbf", penalty=penalty if penalty == "gcv" else penalty * f, finish=finish).fit(X, y * f)
            for f in (1.0, 2.0**40, 2.0**-40)
        ]
        for model, factor in zip(models[1:], (2.0**40, 2.0**-40), strict=True):
            np.testing.assert_array_equal(model.active_, models[0].active_)
            np.testing.assert_allclose(model.dual_coef_ / factor, models[0].dual_coef_, rtol=1e-9)
            assert model.penalty_ / factor == pytest.approx(models[0].penalty_)


@pytest.mark.parametrize("finish", [True, False])
def test_weight_two_is_the_row_twice(rng, finish):
    X = rng.normal(size=(60, 8))
    y = X[:, 0] - X[:, 1] + rng.normal(0, 0.3, 60)
    weights = rng.integers(0, 4, 60)
    for penalty in ("gcv", 3.0):
        weighted = LaplacePriorRegressor("passthrough", penalty=penalty, finish=finish).fit(X, y, sample_weight=weights)
        repeated = LaplacePriorRegressor("passthrough", penalty=penalty, finish=finish).fit(
            np.repeat(X, weights, 0), np.repeat(y, weights)
        )
        np.testing.assert_array_equal(weighted.active_, repeated.active_)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
        np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-8)


def test_no_penalty_is_least_squares(linear):
    X, y = linear
    model = LaplacePriorRegressor("passthrough", penalty=0.0).fit(X, y)
    design = np.column_stack([X, np.ones(60)])
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(scattered(model, 12), expected[:-1], rtol=1e-6, atol=1e-8)
    assert model.intercept_ == pytest.approx(expected[-1], rel=1e-6)
    residual = y - design @ expected
    assert model.criterion_ == pytest.approx(60 * residual @ residual / (60 - 13) ** 2, rel=1e-6)


def test_no_penalty_and_more_candidates_than_rows_is_an_interpolation(rng):
    X, y = rng.normal(size=(20, 80)), rng.normal(size=20)
    for finish in (True, False):
        model = LaplacePriorRegressor("passthrough", penalty=0.0, finish=finish).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, atol=1e-4)
        mean, std = model.predict(rng.normal(size=(5, 80)), return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
    assert len(LaplacePriorRegressor("passthrough", penalty=0.0).fit(X, y).active_) <= 20


@pytest.mark.parametrize("finish", [True, False])
def test_a_huge_penalty_leaves_the_mean(sinc, finish):
    X, y = sinc
    model = LaplacePriorRegressor("rbf", penalty=1e9, finish=finish).fit(X, y)
    assert len(model.active_) == 0
    assert model.outcome_ is Outcome.NOTHING_HELPS
    assert model.penalty_ == 1e9
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert model.criterion_ == pytest.approx(120 * ((y - y.mean()) ** 2).sum() / 119**2)


def test_counting_active_functions_finds_the_inputs_that_matter(rng):
    X = rng.normal(size=(200, 400))
    y = X[:, :5].sum(axis=1) + rng.normal(size=200)
    model = LaplacePriorRegressor("passthrough", degrees_of_freedom="active").fit(X, y)
    assert set(range(5)) <= set(model.active_)
    fresh = rng.normal(size=(1000, 400))
    assert np.mean((model.predict(fresh) - fresh[:, :5].sum(axis=1)) ** 2) < 0.5


def test_two_outputs_have_a_penalty_each(rng):
    X = rng.uniform(-4, 4, (100, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 100 * np.cos(X[:, 1])]) + rng.normal(0, [0.1, 10.0], (100, 2))
    model = LaplacePriorRegressor("rbf").fit(X, Y)
    singles = [LaplacePriorRegressor("rbf").fit(X, Y[:, k]) for k in range(2)]
    np.testing.assert_allclose(model.penalty_, [single.penalty_ for single in singles])
    assert model.criterion_ == pytest.approx(sum(single.criterion_ for single in singles))
    assert {"penalty", "output"} <= set(model.trace_.dtype.names)


def test_row_blocks_and_kinds_of_moments_give_the_same(rng):
    X = rng.uniform(-4, 4, (600, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 600)
    basis = KernelBasis(gamma=0.5, centers=X[:30])
    models = [
        LaplacePriorRegressor(basis).fit(X, y),
        LaplacePriorRegressor(basis, moments="columns").fit(X, y),
        LaplacePriorRegressor(basis).fit(RowBlocks.from_arrays(X, y, block_rows=101)),
        LaplacePriorRegressor(basis, moments="columns").fit(RowBlocks.from_arrays(X, y, block_rows=101)),
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.active_, models[0].active_)
        np.testing.assert_allclose(model.predict(X[:50]), models[0].predict(X[:50]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("finish", [True, False])
def test_max_active_is_a_cap(sinc, finish):
    X, y = sinc
    for penalty in ("gcv", np.geomspace(1.0, 1e-3, 20)):
        model = LaplacePriorRegressor("rbf", penalty=penalty, max_active=4, finish=finish).fit(X, y)
        assert 0 < len(model.active_) <= 4
        assert model.outcome_ is Outcome.SIZE_LIMIT


def test_a_cap_that_replaces_the_penalty_says_so(sinc):
    X, y = sinc
    with pytest.warns(ConvergenceWarning, match=r"max_active=4 was reached before penalty=0.001: .* of penalty_=0\.3"):
        model = LaplacePriorRegressor("rbf", penalty=1e-3, max_active=4).fit(X, y)
    assert model.penalty_ > 1e-3
    assert model.outcome_ is Outcome.SIZE_LIMIT
    assert LaplacePriorRegressor("rbf", penalty=model.penalty_, max_active=4).fit(X, y).penalty_ == model.penalty_
    assert LaplacePriorRegressor("rbf", penalty=1e-3, max_active=4, finish=False).fit(X, y).penalty_ == 1e-3
    phi = rbf(X, X, 1 / X.var())
    assert l1_violation(phi - phi.mean(axis=0), y - y.mean(), scattered(model, 120), model.penalty_) < 1e-5 * model.penalty_


@pytest.mark.parametrize("finish", [True, False])
def test_limits_of_steps_and_time_warn_and_give_a_model(sinc, finish):
    X, y = sinc
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = LaplacePriorRegressor("rbf", penalty=1e-3, max_iter=2, finish=finish).fit(X, y)
    assert model.outcome_ is Outcome.STEP_LIMIT
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = LaplacePriorRegressor("rbf", penalty=1e-3, max_time=0.0, finish=finish).fit(X, y)
    assert model.outcome_ is Outcome.TIME_LIMIT
    assert np.isfinite(model.predict(X)).all()


def test_the_iteration_says_when_all_candidates_are_too_many(sinc):
    with config_context(working_memory=0.1):
        LaplacePriorRegressor("rbf", penalty=1.0).fit(*sinc)
        with pytest.raises(ValueError, match="finish=False, which starts from all 120 candidates"):
            LaplacePriorRegressor("rbf", penalty=1.0, finish=False).fit(*sinc)


@pytest.mark.parametrize(
    "penalty", ["bic", -1.0, np.nan, np.inf, [], [1.0, -1.0], [[1.0]], None, True, "1.0x", "1.0", ["1.0"], [True], [[1], [2, 3]]]
)
def test_a_penalty_that_is_none_is_named(sinc, penalty):
    with pytest.raises(ValueError, match='penalty must be "gcv", a finite number'):
        LaplacePriorRegressor("rbf", penalty=penalty).fit(*sinc)


@pytest.mark.parametrize("finish", ["no", 1, None])
def test_a_choice_to_finish_that_is_none_is_named(sinc, finish):
    with pytest.raises(ValueError, match="finish must be True or False, got"):
        LaplacePriorRegressor("rbf", finish=finish).fit(*sinc)


def test_unknown_degrees_of_freedom_are_named(sinc):
    with pytest.raises(ValueError, match="degrees_of_freedom must be one of"):
        LaplacePriorRegressor("rbf", degrees_of_freedom="trace").fit(*sinc)


def test_batches_on_fixed_kernels_give_the_fit_to_all_rows(rng):
    X = rng.uniform(-3, 3, (120, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=120)
    basis = KernelBasis(gamma=1.0, centers=X[:30])
    model = LaplacePriorRegressor(basis)
    for rows in np.split(np.arange(120), [50, 90]):
        model.partial_fit(X[rows], y[rows])
    whole = LaplacePriorRegressor(basis).fit(X, y)
    np.testing.assert_array_equal(model.active_, whole.active_)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Left-out rows are:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("penalty", [0.0, 1e-6, 1e-2])
def test_the_trace_ends_at_the_criterion_even_if_nothing_is_left(rng, penalty):
    X = rng.uniform(-3, 3, (60, 2))
    model = LaplacePriorRegressor(KernelBasis(gamma=1.0), penalty=penalty).fit(X, rng.normal(size=60))
    assert model.criterion_ == pytest.approx(model.trace_["criterion"][-1], rel=1e-6)
