"""Relevance vector regression: what is fitted, units, weights, limits, real data."""

import time
from itertools import count

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skarce.searches.best_action
from skarce import (
    KernelBasis,
    Outcome,
    RelevanceVectorRegressor,
)
from tests.oracles import log_evidence, rbf


@pytest.fixture(params=["fast", "sequential", "em"])
def solver(request):
    return request.param


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(sinc, solver, fit_intercept):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), solver=solver, fit_intercept=fit_intercept).fit(X, y)
    phi = rbf(X, X, 0.3)[:, model.active_]
    assert (np.diff(model.active_) > 0).all()
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.active_])
    np.testing.assert_allclose(model.predict(X), phi @ model.dual_coef_ + model.intercept_)
    np.testing.assert_allclose(
        model.criterion_, log_evidence(phi, y, model.weight_precision_, model.noise_variance_, intercept=fit_intercept), rtol=1e-8
    )
    for factor in (0.99, 1.01):
        assert model.criterion_ > log_evidence(
            phi, y, model.weight_precision_ * factor, model.noise_variance_ / factor, intercept=fit_intercept
        )
        assert model.criterion_ > log_evidence(
            phi, y, model.weight_precision_ / factor, model.noise_variance_ * factor, intercept=fit_intercept
        )
    assert model.criterion_sense_ == 1
    assert model.outcome_ is Outcome.CONVERGED
    assert model.trace_["n_active"][-1] == len(model.active_)
    np.testing.assert_allclose(model.trace_["criterion"][-1], model.criterion_, rtol=1e-6)
    assert model.n_iter_ == len(model.trace_)
    assert model.relevance_.shape == (120,)
    assert (model.relevance_[model.active_] > 0).all()
    assert np.count_nonzero(model.relevance_) == len(model.active_)
    assert fit_intercept or model.intercept_ == 0.0


def test_two_outputs_are_two_fits_on_one_basis(rng):
    X = rng.uniform(-4, 4, (150, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 100 * np.cos(X[:, 1])]) + rng.normal(0, [0.1, 10.0], (150, 2))
    model = RelevanceVectorRegressor("rbf").fit(X, Y)
    single = [RelevanceVectorRegressor("rbf").fit(X, Y[:, k]) for k in range(2)]
    mean, std = model.predict(X[:9], return_std=True)
    assert mean.shape == std.shape == (9, 2)
    assert model.dual_coef_.shape == model.weight_precision_.shape == (2, len(model.active_))
    assert set(model.active_) == set(single[0].active_) | set(single[1].active_)
    assert np.isinf(model.weight_precision_[model.dual_coef_ == 0]).all()
    for k in range(2):
        expected_mean, expected_std = single[k].predict(X[:9], return_std=True)
        np.testing.assert_allclose(mean[:, k], expected_mean, rtol=1e-5)
        np.testing.assert_allclose(std[:, k], expected_std, rtol=1e-5)
        np.testing.assert_allclose(model.noise_variance_[k], single[k].noise_variance_, rtol=1e-5)
    assert model.criterion_ == pytest.approx(sum(s.criterion_ for s in single))
    assert set(model.trace_["output"]) == {0, 1}
    augmented = model.predict(X[:9], return_std=True, std="augmented")[1]
    assert (augmented >= std).all()


@pytest.mark.parametrize("factor", [1e7, 1e-7, 1e9, 1e-150, 1e150])
def test_units_of_the_target_do_not_matter(sinc, solver, factor):
    X, y = sinc
    model, scaled = (RelevanceVectorRegressor(KernelBasis(gamma=1.0), solver=solver).fit(X, t) for t in (y, y * factor))
    np.testing.assert_array_equal(scaled.active_, model.active_)
    np.testing.assert_allclose(scaled.dual_coef_ / factor, model.dual_coef_, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(scaled.noise_variance_) / factor, np.sqrt(model.noise_variance_), rtol=1e-6)
    _, std = scaled.predict(X[:3], return_std=True)
    np.testing.assert_allclose(std / factor, model.predict(X[:3], return_std=True)[1], rtol=1e-6)


@pytest.mark.parametrize("factor", [1e7, 1e-7])
def test_units_of_the_target_do_not_matter_for_kernels_that_look_alike(sinc, factor):
    """Which of two near-equal functions comes in may hang on the last digits of the targets. What is predicted does not."""
    X, y = sinc
    model, scaled = (RelevanceVectorRegressor("rbf").fit(X, t) for t in (y, y * factor))
    in_units = scaled.criterion_ + (len(y) - 1) * np.log(factor)  # an intercept takes one observation
    assert in_units == pytest.approx(model.criterion_, abs=10.0 * model.tol)
    np.testing.assert_allclose(scaled.predict(X) / factor, model.predict(X), atol=0.01 * y.std())


def test_an_offset_of_the_target_does_not_matter(sinc):
    X, y = sinc
    basis = KernelBasis(gamma=1.0)
    model, moved = RelevanceVectorRegressor(basis).fit(X, y), RelevanceVectorRegressor(basis).fit(X, y + 1e6)
    np.testing.assert_array_equal(moved.active_, model.active_)
    assert moved.intercept_ - model.intercept_ == pytest.approx(1e6)


def test_an_offset_of_the_target_does_not_matter_for_kernels_that_look_alike(sinc):
    """Which of two near-equal functions comes in may hang on the last digits of the targets. What is predicted does not."""
    X, y = sinc
    model, moved = RelevanceVectorRegressor("rbf").fit(X, y), RelevanceVectorRegressor("rbf").fit(X, y + 1e6)
    assert moved.criterion_ == pytest.approx(model.criterion_, abs=model.tol)
    np.testing.assert_allclose(moved.predict(X) - 1e6, model.predict(X), atol=0.01 * y.std())


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(rng, solver, moments):
    X = rng.uniform(-4, 4, (70, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 70)
    weights = rng.integers(0, 4, 70)
    weighted = RelevanceVectorRegressor("rbf", solver=solver, moments=moments).fit(X, y, sample_weight=weights)
    repeated = RelevanceVectorRegressor("rbf", solver=solver, moments=moments).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.active_, repeated.active_)
    np.testing.assert_allclose(weighted.noise_variance_, repeated.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-8)
    for kind in ("plain", "augmented"):
        means, stds = zip(*(m.predict(X, return_std=True, std=kind) for m in (weighted, repeated)), strict=True)
        np.testing.assert_allclose(means[0], means[1], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(stds[0], stds[1], rtol=1e-5)


def test_fixed_noise_is_kept(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor("rbf", noise_variance=0.02).fit(X, y)
    assert model.noise_variance_ == pytest.approx(0.02)
    phi = model.basis_.transform(X)
    np.testing.assert_allclose(model.criterion_, log_evidence(phi, y, model.weight_precision_, 0.02, intercept=True), rtol=1e-8)


# Budget and interruptions ---------------------------------------------------------------------------------------------------


def test_a_cap_on_steps_warns_with_advice(sinc, solver):
    X, y = sinc
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = RelevanceVectorRegressor("rbf", solver=solver, max_iter=2).fit(X, y)
    assert model.outcome_ is Outcome.STEP_LIMIT
    assert np.isfinite(model.predict(X)).all()


def test_max_time_returns_the_best_model_so_far(solver, monkeypatch):
    X, y = make_friedman1(600, noise=1.0, random_state=0)
    seconds = count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    with pytest.warns(ConvergenceWarning, match="best model so far"):
        model = RelevanceVectorRegressor("rbf", solver=solver, max_time=5.0).fit(X, y)
    assert model.outcome_ is Outcome.TIME_LIMIT
    assert np.isfinite(model.predict(X)).all()


def test_em_says_when_all_candidates_are_too_many(rng):
    X = rng.normal(size=(600, 2))
    with config_context(working_memory=8), pytest.raises(ValueError, match="starts from all 600 candidates"):
        RelevanceVectorRegressor("rbf", solver="em").fit(X, X[:, 0])


def test_max_active_is_a_cap(sinc, solver):
    X, y = sinc
    model = RelevanceVectorRegressor("rbf", solver=solver, max_active=3).fit(X, y)
    assert len(model.active_) <= 3
    assert model.outcome_ in (Outcome.SIZE_LIMIT, Outcome.CONVERGED)
    assert r2_score(y, model.predict(X)) > 0.5


def test_interrupt_is_raised_and_nothing_is_lost(sinc, monkeypatch):
    X, y = sinc
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    before = {name: getattr(model, name) for name in ("active_", "_weights", "posterior_", "basis_", "n_features_in_")}

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(skarce.searches.best_action.BestAction, "stretch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1.0, y)
    assert all(getattr(model, name) is value for name, value in before.items())
    assert np.isfinite(model.predict(X)).all()


# Real data ------------------------------------------------------------------------------------------------------------------


def test_diabetes_is_no_worse_than_ridge():
    X, y = load_diabetes(return_X_y=True)
    scores = cross_val_score(make_pipeline(StandardScaler(), RelevanceVectorRegressor("rbf")), X, y, cv=5)
    assert scores.mean() > 0.45


def test_boston_housing(data_folder):
    table = pd.read_csv(data_folder / "boston.csv")
    X, y = table.drop(columns="MEDV"), table["MEDV"]
    model = make_pipeline(StandardScaler(), RelevanceVectorRegressor("rbf"))
    shuffled = np.random.default_rng(0).permutation(len(table))
    assert cross_val_score(model, X.iloc[shuffled], y.iloc[shuffled], cv=5).mean() > 0.8
