"""Factor analysis of inputs and targets as an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from skarce import JointFactorRegressor, Outcome


def sensors(rng, n=300, d=8, K=2, n_targets=None):
    factors = rng.normal(size=(n, K))
    X = 3.0 + factors @ rng.normal(size=(K, d)) + rng.normal(0.0, 0.3, (n, d))
    Y = factors @ rng.normal(size=(K, n_targets or 1)) - 5.0 + rng.normal(0.0, 0.2, (n, n_targets or 1))
    return X, Y if n_targets else Y[:, 0]


@pytest.mark.parametrize("parameters", [{}, {"n_factors": "bic"}, {"n_factors": 2, "solver": "em"}, {"noise": "isotropic"}])
def test_it_predicts_and_knows_how_well(parameters, rng):
    X, y = sensors(rng, n=1300)
    model = JointFactorRegressor(**parameters).fit(X[:300], y[:300])
    mean, std = model.predict(X[300:], return_std=True)
    assert np.mean((y[300:] - mean) ** 2) < 0.1 * np.var(y)
    assert 0.92 < np.mean(np.abs(y[300:] - mean) < 1.96 * std) < 0.98
    np.testing.assert_allclose(mean, X[300:] @ model.coef_ + model.intercept_)
    assert model.outcome_ is Outcome.CONVERGED


def test_missing_inputs_are_what_conditioning_says(rng):
    X, Y = sensors(rng, n_targets=2)
    model = JointFactorRegressor(2).fit(X, Y)
    loadings = np.vstack([model.x_loadings_, model.y_loadings_])
    covariance = loadings @ loadings.T + np.diag([*model.x_noise_variance_, *model.noise_variance_])
    X[:20][rng.uniform(size=(20, 8)) < 0.5] = np.nan
    mean, std = model.predict(X[:20], return_std=True)
    for row, found, spread in zip(X, mean, std, strict=False):
        known = np.flatnonzero(~np.isnan(row))
        gain = covariance[8:, known] @ np.linalg.inv(covariance[np.ix_(known, known)])
        np.testing.assert_allclose(found, model.y_mean_ + gain @ (row - model.x_mean_)[known], rtol=1e-9)
        np.testing.assert_allclose(spread**2, (covariance[8:, 8:] - gain @ covariance[known, 8:]).diagonal(), rtol=1e-9)


def test_without_any_input_the_prediction_is_the_distribution_of_the_target(rng):
    X, y = sensors(rng)
    mean, std = JointFactorRegressor(2).fit(X, y).predict(np.full((1, 8), np.nan), return_std=True)
    assert mean[0] == pytest.approx(y.mean())
    assert std[0] == pytest.approx(y.std(), rel=1e-3)


def test_the_errors_of_predictions_with_missing_inputs_are_as_large_as_the_std(rng):
    X, y = sensors(rng, n=4000)
    model = JointFactorRegressor(2).fit(X[:1000], y[:1000])
    holes = np.where(rng.uniform(size=(3000, 8)) < 0.6, np.nan, X[1000:])
    mean, std = model.predict(holes, return_std=True)
    assert np.mean(((y[1000:] - mean) / std) ** 2) == pytest.approx(1.0, abs=0.1)
    filled = model.predict(np.where(np.isnan(holes), model.x_mean_, holes))
    assert np.mean((y[1000:] - mean) ** 2) < np.mean((y[1000:] - filled) ** 2)


def test_the_likelihood_is_in_the_units_of_the_user(rng):
    X, y = sensors(rng)
    model = JointFactorRegressor(2).fit(X, y)
    loadings = np.vstack([model.x_loadings_, model.y_loadings_])
    covariance = loadings @ loadings.T + np.diag([*model.x_noise_variance_, model.noise_variance_])
    center = [*model.x_mean_, *model.y_mean_]
    assert model.log_likelihood_ == pytest.approx(multivariate_normal(center, covariance).logpdf(np.column_stack([X, y])).sum())


@pytest.mark.parametrize("parameters", [{}, {"noise": "isotropic"}, {"solver": "em"}])
def test_units_change_nothing(parameters, rng):
    X, y = sensors(rng)
    model = JointFactorRegressor(2, **parameters).fit(X, y)
    units = 10.0 ** rng.uniform(-60, 60, 8)
    other = JointFactorRegressor(2, **parameters).fit(X * units, 1e-100 * y)
    (mean, std), (other_mean, other_std) = model.predict(X, return_std=True), other.predict(X * units, return_std=True)
    np.testing.assert_allclose(1e100 * other_mean, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(1e100 * other_std, std, rtol=1e-4)


@pytest.mark.parametrize("n_factors", [2, "cv", "bic"])
def test_a_row_of_weight_two_is_the_row_twice(n_factors, rng):
    X, y = sensors(rng, n=60)
    weights = rng.integers(0, 3, 60)
    weighted = JointFactorRegressor(n_factors).fit(X, y, sample_weight=weights)
    repeated = JointFactorRegressor(n_factors).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    assert weighted.scores_.keys() == repeated.scores_.keys()
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_)


def test_with_enough_factors_it_is_least_squares(rng):
    X = rng.normal(size=(400, 4))
    y = X @ [1.0, -2.0, 0.5, 3.0] + 0.5 * rng.normal(size=400)
    model = JointFactorRegressor(4).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, atol=0.01)


def test_targets_together_share_factors(rng):
    X, Y = sensors(rng, n_targets=3)
    model = JointFactorRegressor().fit(X, Y)
    assert model.n_factors_ == 2
    assert model.coef_.shape == (3, 8)
    assert model.predict(X).shape == (300, 3)
    assert model.noise_variance_.shape == (3,)
    assert model.y_loadings_.shape == (3, 2)
    one = JointFactorRegressor(2).fit(X, Y[:, :1])
    assert one.predict(X).shape == (300, 1)
    np.testing.assert_allclose(one.predict(X)[:, 0], JointFactorRegressor(2).fit(X, Y[:, 0]).predict(X))


def test_scores_say_what_was_tried(rng):
    X, y = sensors(rng)
    model = JointFactorRegressor(max_factors=3).fit(X, y)
    assert list(model.scores_) == [0, 1, 2, 3]
    assert JointFactorRegressor(1).fit(X, y).scores_ == {}


@pytest.mark.parametrize("case", ["one row", "constant target", "constant inputs", "equal columns", "two rows", "wide"])
def test_degenerate_data_give_finite_predictions(case, rng):
    X, y = sensors(rng, n=30)
    X, y = {
        "one row": (X[:1], y[:1]),
        "constant target": (X, np.full(30, 7.0)),
        "constant inputs": (np.ones_like(X), y),
        "equal columns": (np.repeat(X[:, :1], 8, axis=1), y),
        "two rows": (X[:2], y[:2]),
        "wide": (rng.normal(size=(30, 100)), y),
    }[case]
    for noise in ("diagonal", "isotropic"):
        model = JointFactorRegressor(noise=noise).fit(X, y)
        mean, std = model.predict(X, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
        if case in ("one row", "constant target"):
            np.testing.assert_allclose(mean, y)
            np.testing.assert_array_equal(std, 0.0)
        if case == "constant inputs":
            np.testing.assert_allclose(mean, y.mean())


def test_too_many_factors_are_refused(rng):
    X, y = sensors(rng)
    with pytest.raises(ValueError, match=r"n_factors=9 must be smaller.*which is 9"):
        JointFactorRegressor(9).fit(X, y)
    assert JointFactorRegressor(8).fit(X, y).n_factors_ == 8


@pytest.mark.parametrize("bad", [0, -1, 1.5, "aic", None, True, [2]])
def test_numbers_of_factors_that_are_none(bad, rng):
    with pytest.raises(ValueError, match=r'n_factors must be "cv", "bic" or a whole number'):
        JointFactorRegressor(bad).fit(*sensors(rng))


def test_missing_values_in_fit_are_refused(rng):
    X, y = sensors(rng)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        JointFactorRegressor().fit(X, y)


def test_values_that_no_prediction_can_hold_are_refused(rng):
    X, y = sensors(rng)
    model = JointFactorRegressor(2).fit(X, y)
    X[3, 2] = 1e300
    with pytest.raises(ValueError, match=r"row 3 of X has a value in column 2.*standard deviations"):
        model.predict(X)
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)


def test_a_fit_that_has_not_converged_warns(rng):
    X, y = sensors(rng)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = JointFactorRegressor(2, solver="em", max_iter=2).fit(X, y)
    assert model.outcome_ is Outcome.STEP_LIMIT
    assert model.n_iter_ == 2


def test_it_lives_in_frames_grids_and_pickles(rng):
    X, y = sensors(rng)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = JointFactorRegressor().fit(frame, y)
    assert list(model.feature_names_in_) == list("abcdefgh")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))
    search = GridSearchCV(JointFactorRegressor(), {"n_factors": [1, 2, 3], "noise": ["diagonal", "isotropic"]}).fit(X, y)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("n_targets", [None, 2])
def test_intervals_cover_new_targets(n_targets, rng):
    X, y = sensors(rng, n=2000, n_targets=n_targets)
    model = JointFactorRegressor(2).fit(X[:1000], y[:1000])
    lower, upper = model.predict_interval(X[1000:], coverage=0.8)
    mean, std = model.predict(X[1000:], return_std=True)
    np.testing.assert_allclose([lower, upper], [mean - 1.2815515655446004 * std, mean + 1.2815515655446004 * std])
    assert np.mean((lower < y[1000:]) & (y[1000:] < upper)) == pytest.approx(0.8, abs=0.05)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, coverage=1.5)
