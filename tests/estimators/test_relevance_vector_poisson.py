"""Counts: the scikit-learn face, exposures, and whether the rates are right."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import xlogy
from scipy.stats import nbinom
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import OneHotEncoder

from skarce import KernelBasis, Outcome, RelevanceVectorPoissonRegressor
from skarce.designs import RowBlocks
from tests.oracles import laplace_score, latent_mode, rbf


@pytest.fixture(params=["fast", "em"])
def solver(request):
    return request.param


def waves(n, seed=0, level=1.0):
    """Counts whose log rate is a sine, and the rates."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (n, 1))
    rate = np.exp(level + np.sin(X[:, 0]))
    return X, rng.poisson(rate), rate


def exposed(n, seed=0):
    """Counts of rows that were observed for different times."""
    rng = np.random.default_rng(seed)
    X, times = rng.normal(size=(n, 4)), rng.uniform(0.2, 5.0, n)
    counts = rng.poisson(times * np.exp(0.3 + 0.8 * X[:, 0] - 0.5 * X[:, 2]))
    return X, counts, times


# What is fitted --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(solver, fit_intercept):
    X, y, _ = waves(150)
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=0.8), solver=solver, fit_intercept=fit_intercept).fit(X, y)
    phi = rbf(X, X, 0.8)[:, model.active_]
    if fit_intercept:
        phi -= phi.mean(axis=0)
    assert (np.diff(model.active_) > 0).all()
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.active_])
    expected = laplace_score(phi, y, np.ones(150), model.weight_precision_, intercept=fit_intercept, kind="poisson")
    assert model.criterion_ == pytest.approx(expected, abs=1e-6)
    assert model.criterion_sense_ == 1
    assert model.outcome_ is Outcome.CONVERGED
    assert model.trace_["n_active"][-1] == len(model.active_)
    assert model.trace_["criterion"][-1] == pytest.approx(model.criterion_)
    assert model.n_iter_ == len(model.trace_)
    assert np.count_nonzero(model.relevance_) == len(model.active_)
    determined = 1.0 - model.weight_precision_ * np.diag(model.posterior_.covariance)
    np.testing.assert_allclose(model.relevance_[model.active_], determined, rtol=1e-8)
    assert fit_intercept or model.intercept_ == 0.0


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_log_rates_and_their_spread_are_those_of_the_dense_posterior(fit_intercept):
    X, y, _ = waves(120)
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=0.8), fit_intercept=fit_intercept, calibrate_proba=False).fit(X, y)
    new = np.array([[0.0], [2.5], [7.0]])
    design, query = (rbf(A, X[model.active_], 0.8) for A in (X, new))
    precisions, level = model.weight_precision_, 0.0
    if fit_intercept:
        middle, level = design.mean(axis=0), np.log(y.mean())
        design, query = (np.column_stack([A - middle, np.ones(len(A))]) for A in (design, query))
        precisions = np.append(precisions, 0.01)
    mode, _, hessian = latent_mode(design, y, np.ones(120), precisions, "poisson", level)
    variance = np.einsum("ni,ij,nj->n", query, np.linalg.inv(hessian), query)
    mean, std = model.latent(new)
    np.testing.assert_allclose(mean, level + query @ mode, rtol=1e-6)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-6)
    predicted, spread = model.predict(new, return_std=True)
    np.testing.assert_allclose(predicted, np.exp(mean))
    np.testing.assert_allclose(spread**2, predicted + variance * predicted**2, rtol=1e-6)


def test_score_is_the_explained_deviance():
    X, counts, times = exposed(300)
    rates = counts / times
    model = RelevanceVectorPoissonRegressor("passthrough").fit(X, rates, sample_weight=times)

    def deviance(predicted):
        return times @ (xlogy(rates, rates / predicted) - rates + predicted)

    mean = np.full(300, counts.sum() / times.sum())
    expected = 1.0 - deviance(model.predict(X)) / deviance(mean)
    assert model.score(X, rates, sample_weight=times) == pytest.approx(expected)
    other = PoissonRegressor(alpha=1e-6, tol=1e-8).fit(X, rates, sample_weight=times)
    assert model.score(X, rates, times) == pytest.approx(other.score(X, rates, times), abs=5e-3)
    assert -np.inf < RelevanceVectorPoissonRegressor("passthrough").fit(X, counts).score(1e4 * X, counts) < 0.0


# Weights, exposures and their units ------------------------------------------------------------------------------------------


def test_weight_two_is_the_row_twice_and_weight_zero_no_row(rng, solver):
    X, y, _ = waves(90)
    weights = rng.integers(0, 4, 90)
    weighted = RelevanceVectorPoissonRegressor("rbf", solver=solver).fit(X, y, sample_weight=weights)
    repeated = RelevanceVectorPoissonRegressor("rbf", solver=solver).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.relevance_vectors_, repeated.relevance_vectors_)
    assert weighted.criterion_ == pytest.approx(repeated.criterion_, abs=1e-6)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5)


def test_rates_with_exposures_have_the_log_rates_of_counts():
    """The mode of sum k f - c e^f - w'A w / 2, the exposures entering as an offset."""
    X, counts, times = exposed(200)
    model = RelevanceVectorPoissonRegressor("passthrough").fit(X, counts / times, sample_weight=times)
    inputs = X[:, model.active_]
    middle = times @ inputs / times.sum()
    design = np.column_stack([inputs - middle, np.ones(200)])
    level = np.log(counts.sum() / times.sum())
    precisions = np.append(model.weight_precision_, 0.01)
    w = np.append(model.posterior_.mean, model.intercept_ + middle @ model.posterior_.mean - level)
    slope = design.T @ (counts - times * np.exp(level + design @ w)) - precisions * w
    np.testing.assert_allclose(slope, 0.0, atol=1e-6 * counts.sum())


def test_predictions_are_those_of_scikit_learn_if_priors_hardly_matter():
    X, counts, times = exposed(20_000)
    X = X[:, [0, 2]]
    model = RelevanceVectorPoissonRegressor("passthrough").fit(X, counts / times, sample_weight=times)
    other = PoissonRegressor(alpha=1e-12, tol=1e-10, max_iter=1000).fit(X, counts / times, sample_weight=times)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    assert model.intercept_ == pytest.approx(other.intercept_, abs=1e-4)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-3)


@pytest.mark.parametrize("basis", ["rbf", "passthrough", KernelBasis(gamma="evidence")])
def test_the_unit_of_exposure_does_not_matter(basis):
    X, counts, times = exposed(150)
    days = RelevanceVectorPoissonRegressor(basis).fit(X, counts / times, sample_weight=times)
    years = RelevanceVectorPoissonRegressor(basis).fit(X, 365.25 * counts / times, sample_weight=times / 365.25)
    np.testing.assert_array_equal(days.active_, years.active_)
    np.testing.assert_allclose(365.25 * days.predict(X), years.predict(X), rtol=1e-5)
    np.testing.assert_allclose(days.latent(X)[1], years.latent(X)[1], rtol=1e-5)
    assert days.outcome_ is years.outcome_


def test_one_row_of_many_events_is_many_rows_of_few():
    """Rows of one place may be added up: 3 events in 2 days and 1 event in 3 days are 4 events in 5 days."""
    X, counts, times = exposed(300)
    places, place = np.unique(X[:60], axis=0), np.random.default_rng(0).integers(0, 60, 300)
    total, total_times = np.bincount(place, counts, 60), np.bincount(place, times, 60)
    some = total_times > 0.0
    single = RelevanceVectorPoissonRegressor("passthrough").fit(places[place], counts / times, sample_weight=times)
    added = RelevanceVectorPoissonRegressor("passthrough").fit(
        places[some], total[some] / total_times[some], sample_weight=total_times[some]
    )
    np.testing.assert_array_equal(single.active_, added.active_)
    np.testing.assert_allclose(single.predict(X), added.predict(X), rtol=1e-5)


def test_units_and_offsets_of_the_inputs_do_not_matter():
    X, counts, _ = exposed(200)
    plain = RelevanceVectorPoissonRegressor("passthrough").fit(X, counts)
    other = X * [1e6, 1.0, 1e-6, 1.0] + [3e6, 0.0, 5.0, 0.0]
    moved = RelevanceVectorPoissonRegressor("passthrough").fit(other, counts)
    np.testing.assert_array_equal(moved.active_, plain.active_)
    np.testing.assert_allclose(moved.predict(other), plain.predict(X), rtol=1e-4)


# Are the rates right? --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "off"), [(-1.5, 0.2), (0.0, 0.1), (3.0, 0.05)])
def test_rates_are_calibrated(level, off):
    """In every tenth of the rows, and in both tails of the negative binomial distribution of a new count."""
    X, y, _ = waves(2000, level=level)
    model = RelevanceVectorPoissonRegressor("rbf").fit(X, y)
    new, counts, _ = waves(100_000, seed=1, level=level)
    mean, std = model.predict(new, return_std=True)
    for tenth in np.array_split(np.argsort(mean), 10):
        assert mean[tenth].sum() == pytest.approx(counts[tenth].sum(), rel=off)
    assert np.mean(((counts - mean) / std) ** 2) == pytest.approx(1.0, abs=0.05)
    variance = model.latent(new)[1] ** 2
    predictive = nbinom(1.0 / variance, 1.0 / (1.0 + variance * mean))
    rank = predictive.cdf(counts) - np.random.default_rng(2).uniform(size=len(new)) * predictive.pmf(counts)
    shares = np.histogram(rank, [0.0, 0.05, 0.5, 0.95, 1.0])[0] / len(new)
    np.testing.assert_allclose(shares, [0.05, 0.45, 0.45, 0.05], atol=0.01)


def test_predictions_add_up_to_what_was_counted(solver):
    X, y, _ = waves(200, level=-2.0)
    model = RelevanceVectorPoissonRegressor("rbf", solver=solver).fit(X, y)
    assert model.predict(X).sum() == pytest.approx(y.sum(), rel=5e-3)
    X, counts, times = exposed(200)
    model = RelevanceVectorPoissonRegressor("passthrough", solver=solver).fit(X, counts / times, sample_weight=times)
    assert times @ model.predict(X) == pytest.approx(counts.sum(), rel=5e-3)


def test_rates_are_not_exaggerated_where_nothing_was_counted():
    """The mean of the rate under a normal approximation, e^(m + v/2), was up to 100 times too large there."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-4, 4, (150, 1))
    y = rng.poisson(np.where(X[:, 0] > 0.0, 2.0, 0.0))
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=0.5)).fit(X, y)
    mean, std = model.predict([[-2.5], [-1.5]], return_std=True)
    assert (mean < 0.05).all()  # about forty rows are there
    assert (std < 0.3).all()


def test_counts_without_a_pattern_give_their_mean(rng):
    X, y = rng.normal(size=(200, 2)), rng.poisson(3.0, 200)
    model = RelevanceVectorPoissonRegressor("rbf").fit(X, y)
    assert len(model.active_) <= 2
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-2)


# Hard data -------------------------------------------------------------------------------------------------------------------


def test_counts_that_do_not_vary_give_their_mean(solver):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = RelevanceVectorPoissonRegressor("rbf", solver=solver).fit(X, np.full(40, 7))
    assert len(model.active_) == 0
    assert model.outcome_ is Outcome.NOTHING_HELPS
    np.testing.assert_allclose(model.predict(X), 7.0, rtol=1e-4)


@pytest.mark.parametrize("y", [np.eye(1, 60)[0], np.where(np.arange(60) == 7, 1e6, 1.0), np.geomspace(1.0, 1e12, 60)])
@pytest.mark.parametrize("basis", ["rbf", "passthrough"])
def test_extreme_counts_end_in_a_sound_model(basis, y, solver):
    X = np.linspace(-3, 3, 60)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RelevanceVectorPoissonRegressor(basis, solver=solver).fit(X, y)
        mean, std = model.predict(np.linspace(-30, 30, 50)[:, None], return_std=True)
    assert not model.outcome_.is_early
    assert np.isfinite(mean).all()
    assert (std >= np.sqrt(mean)).all()


def test_large_counts_are_fitted_to_their_noise():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 1))
    y = rng.poisson(1e4 * np.exp(np.sin(2.0 * X[:, 0])))
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=1.0)).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.mean(((y - mean) / std) ** 2) == pytest.approx(1.0, abs=0.2)
    assert len(model.active_) < 25


def test_far_extrapolation_of_a_linear_model_never_warns():
    X, counts, _ = exposed(200)
    model = RelevanceVectorPoissonRegressor("passthrough").fit(X, counts)
    mean, std = model.predict(np.array([[1e4, 0, 0, 0], [-1e4, 0, 0, 0]]), return_std=True)
    np.testing.assert_array_equal(mean, [np.inf, 0.0])
    assert not np.isnan(std).any()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, -2.0, 3.0], r"counts or rates, which are finite and at least 0, but row 1 has -2\."),
        ([0.0, 0.0, 0.0], "no rate can be estimated if nothing was counted"),
        ([1.0, np.nan, 0.0], "contains NaN"),
        ([1.0, np.inf, 0.0], "contains infinity"),
        (None, "requires y to be passed"),
    ],
)
def test_counts_that_cannot_be_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorPoissonRegressor("rbf").fit([[1.0], [2.0], [3.0]], y)


def test_weights_that_cannot_be_are_named():
    X, y = [[1.0], [2.0], [3.0]], [0, 4, 0]
    with pytest.raises(ValueError, match="y is 0 in every row of positive weight"):
        RelevanceVectorPoissonRegressor("rbf").fit(X, y, sample_weight=[1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="zero"):
        RelevanceVectorPoissonRegressor("rbf").fit(X, y, sample_weight=np.zeros(3))
    with pytest.raises(ValueError, match="Negative values"):
        RelevanceVectorPoissonRegressor("rbf").fit(X, y, sample_weight=[1.0, -1.0, 1.0])


def test_rows_may_come_in_blocks():
    X, y, _ = waves(40)
    model = RelevanceVectorPoissonRegressor("passthrough", calibrate_proba=False)
    found, expected = clone(model).fit(RowBlocks(lambda: [(X, y)])), clone(model).fit(X, y)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-3)


# Budget, bases, habits -------------------------------------------------------------------------------------------------------


def test_limits_are_kept_and_said(solver):
    X, y, _ = waves(300)
    small = RelevanceVectorPoissonRegressor("rbf", solver=solver, max_active=2).fit(X, y)
    assert len(small.active_) == 2
    assert small.outcome_ is Outcome.SIZE_LIMIT
    with pytest.warns(ConvergenceWarning, match="step limit"):
        assert RelevanceVectorPoissonRegressor("rbf", solver=solver, max_iter=1).fit(X, y).outcome_ is Outcome.STEP_LIMIT
    with pytest.warns(ConvergenceWarning, match="time limit"):
        early = RelevanceVectorPoissonRegressor("rbf", solver=solver, max_time=0.0).fit(X, y)
    assert early.outcome_ is Outcome.TIME_LIMIT
    assert np.isfinite(early.predict(X)).all()
    for name, value in {"tol": -1.0, "max_iter": 0, "max_active": 0, "max_time": -1.0, "solver": "newton"}.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            RelevanceVectorPoissonRegressor("rbf", **{name: value}).fit(X, y)
    with config_context(working_memory=1), pytest.raises(ValueError, match="solver='fast'"):
        RelevanceVectorPoissonRegressor("rbf", solver="em").fit(X, y)


def test_many_rows_go_through_pools():
    X, y, rate = waves(3000)
    model = RelevanceVectorPoissonRegressor("rbf").fit(X, y)
    assert model.outcome_ is Outcome.CONVERGED
    assert len(model.active_) < 20
    np.testing.assert_allclose(model.predict(X), rate, rtol=0.3)


def test_precomputed_kernel():
    X, y, _ = waves(120)
    K = pairwise.rbf_kernel(X, gamma=0.8)
    plain = RelevanceVectorPoissonRegressor(KernelBasis(gamma=0.8)).fit(X, y)
    model = RelevanceVectorPoissonRegressor(KernelBasis("precomputed")).fit(K, y)
    np.testing.assert_array_equal(model.active_, plain.active_)
    np.testing.assert_allclose(model.predict(K[:5]), plain.predict(X[:5]), rtol=1e-6)
    np.testing.assert_allclose(cross_val_score(model, K, y, cv=3), cross_val_score(plain, X, y, cv=3), rtol=1e-6)


def test_column_transformer_as_basis_takes_text(rng):
    frame = pd.DataFrame({"x": rng.uniform(-3, 3, 300), "kind": rng.choice(["left", "right"], 300)})
    y = rng.poisson(np.exp(np.sin(frame["x"]) + (frame["kind"] == "left")))
    basis = ColumnTransformer([("kernel", KernelBasis(gamma=1.0), ["x"]), ("kind", OneHotEncoder(), ["kind"])])
    model = RelevanceVectorPoissonRegressor(basis).fit(frame, y)
    assert model.score(frame, y) > 0.3
    assert any("kind" in name for name in model.basis_.get_feature_names_out())


@pytest.mark.parametrize("gamma", ["median", "evidence", "ard"])
def test_widths_may_be_learned(rng, gamma):
    X, y, rate = waves(300)
    X = np.column_stack([X, rng.normal(size=300)])
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=gamma), random_state=0).fit(X, y)
    assert np.corrcoef(model.predict(X), rate)[0, 1] > 0.95
    if gamma == "ard":
        assert model.basis_.gamma_[1] < 0.2 * model.basis_.gamma_[0]


def test_single_precision_pickling_cloning_and_names():
    X, counts, _ = exposed(150)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = RelevanceVectorPoissonRegressor("rbf").fit(frame, counts)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(clone(model).fit(frame, counts).dual_coef_, model.dual_coef_)
    single = RelevanceVectorPoissonRegressor("rbf").fit(X.astype(np.float32), counts)
    np.testing.assert_allclose(single.predict(X.astype(np.float32)), model.predict(frame), rtol=1e-2)


def test_the_width_can_be_searched():
    X, y, _ = waves(150)
    search = GridSearchCV(RelevanceVectorPoissonRegressor("rbf"), {"basis__gamma": [1e-6, 0.5]}, cv=3).fit(X, y)
    assert search.best_params_ == {"basis__gamma": 0.5}


def test_what_is_asked_before_fitting_is_said():
    with pytest.raises(ValueError, match="not fitted"):
        RelevanceVectorPoissonRegressor("rbf").predict([[1.0]])


def test_a_score_without_events_is_not_defined():
    X = np.arange(20.0)[:, None]
    model = RelevanceVectorPoissonRegressor("passthrough").fit(X, np.arange(20.0))
    with pytest.warns(UndefinedMetricWarning, match="without any event"):
        assert np.isnan(model.score(X, np.zeros(20)))


def test_draws_of_rates_beyond_all_numbers_are_infinite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = rng.poisson(np.exp(X[:, 0]))
    model = RelevanceVectorPoissonRegressor("passthrough", calibrate_proba=False).fit(X, y)
    far = np.full((2, 1), 1e154)
    draws = model.sample_y(far, 5)
    assert np.isinf(model.predict(far)).all()
    assert (draws == np.inf).all()
