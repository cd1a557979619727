"""Coverage, z scores and widths against obvious formulas."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, RelevanceVectorRegressor, VBLSRegressor
from skarce.inspection.intervals import IntervalCheck, check_intervals, check_predictions

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (80, 1))
Y = np.sin(X[:, 0]) + RNG.normal(0, 0.2, 80)
NEW = RNG.uniform(-3, 3, (50, 1))
NEW_Y = np.sin(NEW[:, 0]) + RNG.normal(0, 0.2, 50)
MODEL = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X, Y)


def shares(y, mean, std, levels):
    """Counted one by one."""
    return [
        sum(abs(t - m) <= stats.norm.ppf((1 + c) / 2) * s for t, m, s in zip(y, mean, std, strict=True)) / len(y) for c in levels
    ]


def test_a_regressor_is_checked_by_its_std():
    mean, std = MODEL.predict(NEW, return_std=True)
    found = check_intervals(MODEL, NEW, NEW_Y)
    np.testing.assert_allclose(found.levels, [*np.arange(1, 20) / 20, 0.99])
    np.testing.assert_allclose(found.shares, shares(NEW_Y, mean, std, found.levels))
    np.testing.assert_allclose(found.z_scores, (NEW_Y - mean) / std)
    np.testing.assert_allclose(found.errors, NEW_Y - mean)
    np.testing.assert_allclose(found.half_widths, stats.norm.ppf(0.975) * std)


def test_predictions_of_any_model_are_checked_alike():
    mean, std = MODEL.predict(NEW, return_std=True)
    ours, given = check_intervals(MODEL, NEW, NEW_Y), check_predictions(NEW_Y, mean, std)
    for name in ("levels", "shares", "z_scores", "errors", "half_widths"):
        np.testing.assert_allclose(getattr(given, name), getattr(ours, name), err_msg=name)


def test_a_transformed_target_keeps_its_coverage():
    positive, new_positive = np.exp(Y), np.exp(NEW_Y)
    model = TransformedTargetRegressor(make_pipeline(StandardScaler(), MODEL), func=np.log, inverse_func=np.exp)
    found = check_intervals(model.fit(X, positive), NEW, new_positive)
    inner = model.regressor_
    mean, std = inner.predict(NEW, return_std=True)
    np.testing.assert_allclose(found.shares, shares(NEW_Y, mean, std, found.levels))
    np.testing.assert_allclose(found.z_scores, (NEW_Y - mean) / std)
    np.testing.assert_allclose(found.errors, new_positive - model.predict(NEW))
    reach = stats.norm.ppf(0.975) * std
    np.testing.assert_allclose(found.half_widths, (np.exp(mean + reach) - np.exp(mean - reach)) / 2)


def test_counts_are_checked_by_the_intervals_of_counts():
    counts = RNG.poisson(np.exp(1 + Y))
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=0.5)).fit(X, counts)
    found = check_intervals(model, X, counts, levels=[0.5, 0.9])
    for level, share in zip(found.levels, found.shares, strict=True):
        lower, upper = model.predict_interval(X, level)
        assert share == np.mean((lower <= counts) & (counts <= upper))
    assert np.isinf(found.noise_freedom)


def test_noise_with_heavy_tails_has_its_own_density():
    model = VBLSRegressor(KernelBasis(gamma=0.5), noise="student-t").fit(X, Y + RNG.standard_t(3, 80))
    found = check_intervals(model, NEW, NEW_Y)
    freedom = model.posterior_.noise_freedom
    assert found.noise_freedom == freedom < np.inf
    grid = np.linspace(-60, 60, 40001)
    density = found.density(grid)
    assert trapezoid(density, grid) == pytest.approx(1, abs=1e-3)
    assert density[20000] == pytest.approx(stats.t.pdf(0, freedom) / np.sqrt((freedom - 2) / freedom))


def test_each_target_is_checked_by_itself():
    both = np.column_stack([Y, 3 - 2 * Y])
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X, both)
    mean, std = model.predict(X, return_std=True)
    found = check_intervals(model, X, both, target=1)
    np.testing.assert_allclose(found.z_scores, (both[:, 1] - mean[:, 1]) / std[:, 1])
    np.testing.assert_allclose(found.errors, both[:, 1] - mean[:, 1])
    with pytest.raises(ValueError, match="the model has several targets: choose one with target=0 or target='y0'"):
        check_intervals(model, X, both)
    with pytest.raises(ValueError, match=r"y must have 2 columns, one for each target, got 1"):
        check_intervals(model, X, both[:, :1], target=1)


def test_chance_is_that_of_the_binomial_distribution():
    found = check_intervals(MODEL, NEW, NEW_Y, levels=[0.3, 0.9])
    draws = np.random.default_rng(1).binomial(50, found.levels, (100_000, 2)) / 50
    np.testing.assert_allclose(found.chance(0.9), np.quantile(draws, [0.05, 0.95], axis=0), atol=0.021)


def test_errors_are_grouped_by_width():
    widths, errors = np.array([3.0, 1.0, 2.0, 4.0]), np.array([3.0, -1.0, 1.0, 5.0])
    found = IntervalCheck(np.array([0.5]), np.array([0.5]), errors, errors, widths)
    by_width = found.error_by_width(2)
    np.testing.assert_allclose(by_width[0], np.sqrt([(1 + 4) / 2, (9 + 16) / 2]))
    np.testing.assert_allclose(by_width[1], np.sqrt([(1 + 1) / 2, (9 + 25) / 2]))


@pytest.mark.parametrize(
    ("model", "y", "error", "message"),
    [
        (RelevanceVectorRegressor(), NEW_Y, NotFittedError, "not fitted"),
        (RelevanceVectorClassifier(KernelBasis(gamma=0.5)).fit(X, Y > 0), NEW_Y > 0, TypeError, "is for regressors"),
        (Ridge().fit(X, Y), NEW_Y, TypeError, "needs an estimator of skarce"),
        (MODEL, None, ValueError, "y is None"),
        (MODEL, NEW_Y[:-1], ValueError, "inconsistent numbers of samples"),
        (MODEL, np.where(NEW_Y > 0, NEW_Y, np.nan), ValueError, "NaN"),
    ],
    ids=["not fitted", "classifier", "foreign", "no y", "short y", "missing values"],
)
def test_what_cannot_be_checked_is_refused(model, y, error, message):
    with pytest.raises(error, match=message):
        check_intervals(model, NEW, y)


def test_predictions_must_make_sense():
    with pytest.raises(ValueError, match=r"std must be positive, got -1 in row 1"):
        check_predictions([0, 0], [0, 0], [1, -1])
    with pytest.raises(ValueError, match=r"mean must have one dimension, got shape \(2, 1\)"):
        check_predictions([0, 0], [[0], [0]], [1, 1])
    with pytest.raises(ValueError, match="levels must be a list of numbers above 0 and below 1"):
        check_predictions([0, 0], [0, 0], [1, 1], levels=[0.5, 1.0])
