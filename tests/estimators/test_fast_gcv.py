"""The estimators that minimize generalized cross validation, against dense matrices."""

import numpy as np
import pytest
from sklearn.base import clone

from skarce import FastGCVRegressor, KernelBasis, LocalRidgeRegressor, Outcome, SparseRegressor
from skarce.criteria import GCV
from skarce.designs import RowBlocks
from skarce.searches import BestAction
from tests.oracles import contrasts, gcv, rbf

MODELS = {
    "fast": FastGCVRegressor("rbf"),
    "sequential": FastGCVRegressor("rbf", solver="sequential"),
    "printed noise update": FastGCVRegressor("rbf", noise_update="paper"),
    "local ridges": LocalRidgeRegressor("rbf"),
    "local ridges, once out": LocalRidgeRegressor("rbf", readmit=False),
}


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param]).set_params(basis=KernelBasis(gamma=0.3))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(sinc, model, fit_intercept):
    X, y = sinc
    model.set_params(fit_intercept=fit_intercept).fit(X, y)
    phi = rbf(X, X, 0.3)[:, model.active_]
    ridges = model.weight_precision_ * model.noise_variance_
    np.testing.assert_allclose(model.criterion_, gcv(phi, y, ridges, intercept=fit_intercept), rtol=1e-7)
    assert model.criterion_sense_ == -1
    inside, t = (contrasts(120).T @ phi, contrasts(120).T @ y) if fit_intercept else (phi, y)
    residual = y - model.predict(X)
    freedom = len(t) - np.trace(inside @ np.linalg.solve(inside.T @ inside + np.diag(ridges), inside.T))
    np.testing.assert_allclose(model.noise_variance_, residual @ residual / freedom, rtol=1e-7)  # eq. 8
    np.testing.assert_allclose(model.predict(X), phi @ model.dual_coef_ + model.intercept_)
    np.testing.assert_allclose(model.trace_["criterion"][-1], model.criterion_, rtol=1e-6)
    assert model.trace_["n_active"][-1] == len(model.active_)
    assert fit_intercept or model.intercept_ == 0.0
    assert model.outcome_ is Outcome.CONVERGED


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
def test_an_integer_ridge_is_the_same_as_a_float(sinc):
    X, y = sinc
    models = [LocalRidgeRegressor("rbf", initial_ridge=r).fit(X, y) for r in (2, 2.0)]
    np.testing.assert_array_equal(models[0].active_, models[1].active_)
    with pytest.raises(ValueError, match="initial_ridge must be positive and finite, or None; got 'foo'"):
        LocalRidgeRegressor("rbf", initial_ridge="foo").fit(X, y)


def test_what_is_no_criterion_or_search_is_named(sinc):
    for wrong in ("gcv", GCV):
        with pytest.raises(TypeError, match=r"criterion must be an object of skarce.criteria, such as GCV\(\)"):
            SparseRegressor("rbf", criterion=wrong).fit(*sinc)
    with pytest.raises(TypeError, match=r"search must be an object of skarce.searches"):
        SparseRegressor("rbf", search="forward").fit(*sinc)


@pytest.mark.parametrize("factor", [1e9, 1e-9, 1e-150, 1e150])
def test_units_of_the_target_do_not_matter(sinc, model, factor):
    X, y = sinc
    plain = model.fit(X, y)
    active, coef = plain.active_, plain.dual_coef_
    scaled = model.fit(X, factor * y)
    np.testing.assert_array_equal(scaled.active_, active)
    np.testing.assert_allclose(scaled.dual_coef_ / factor, coef, rtol=1e-4, atol=1e-9 * np.abs(coef).max())


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(rng, model, moments):
    X = rng.uniform(-4, 4, (70, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + rng.normal(0, 0.3, 70)
    weights = rng.integers(0, 4, 70)
    # With an intercept, local ridges nearly interpolate these rows, and their criterion is next to nothing but rounding.
    model.set_params(moments=moments, fit_intercept=not isinstance(model, LocalRidgeRegressor))
    weighted = model.fit(X, y, sample_weight=weights)
    active, criterion, mean = weighted.active_, weighted.criterion_, weighted.predict(X)
    repeated = model.fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(active, repeated.active_)
    np.testing.assert_allclose(criterion, repeated.criterion_, rtol=1e-7)
    np.testing.assert_allclose(mean, repeated.predict(X), rtol=1e-4, atol=1e-6)


def test_row_blocks_give_the_same_model_as_memory(rng):
    X = rng.uniform(-4, 4, (600, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 600)
    basis = KernelBasis(gamma=0.5, centers=X[:50])
    direct = FastGCVRegressor(basis, moments="whole").fit(X, y)
    for kind in ("whole", "columns"):
        streamed = FastGCVRegressor(basis, moments=kind).fit(RowBlocks.from_arrays(X, y, block_rows=77))
        # By column the candidates come in pools, which may lead to another minimum nearby.
        np.testing.assert_allclose(streamed.criterion_, direct.criterion_, rtol=1e-6 if kind == "whole" else 0.02)


def test_two_outputs(rng, model):
    X = rng.uniform(-4, 4, (80, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + rng.normal(0, 0.1, (80, 2))
    mean, std = model.fit(X, Y).predict(X, return_std=True)
    assert mean.shape == std.shape == (80, 2)
    singles = [clone(model).fit(X, Y[:, k]) for k in range(2)]
    np.testing.assert_allclose(model.criterion_, sum(s.criterion_ for s in singles), rtol=1e-6)


def test_sparse_regressor_with_gcv_is_the_sequential_one(sinc):
    X, y = sinc
    generic = SparseRegressor("rbf", criterion=GCV(), search=BestAction()).fit(X, y)
    named = FastGCVRegressor("rbf", solver="sequential").fit(X, y)
    np.testing.assert_array_equal(generic.active_, named.active_)
    assert generic.criterion_ == named.criterion_


def test_unknown_words_are_named(sinc):
    with pytest.raises(ValueError, match=r"solver must be one of \['fast', 'sequential'\], got 'em'"):
        FastGCVRegressor("rbf", solver="em").fit(*sinc)
    with pytest.raises(ValueError, match=r"noise_update must be one of \['held', 'paper'\], got 'x'"):
        FastGCVRegressor("rbf", noise_update="x").fit(*sinc)
    with pytest.raises(ValueError, match=r"lowest_ridge must be"):
        GCV(-1.0)


def test_intervals_cover():
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-6, 6, (500, 1))
        y = np.sin(X[:, 0]) + rng.normal(0, 0.3, 500)
        mean, std = FastGCVRegressor(KernelBasis(gamma=0.5)).fit(X[:300], y[:300]).predict(X[300:], return_std=True)
        inside.append(np.abs(y[300:] - mean) < 1.96 * std)
    assert 0.93 < np.mean(inside) < 0.97
