"""Predictions on grids, and their bands, against slow formulas."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.inspection import partial_dependence
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skarce import (
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.inspection.dependence import Request
from skarce.inspection.tables import category_names, checked_rows, features_asked, grid_of

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (60, 3))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + RNG.normal(0, 0.2, 60)
COUNTS = RNG.poisson(np.exp(0.5 + 0.5 * Y))
KERNELS = KernelBasis(gamma=0.1)
REACH = stats.norm.ppf(0.975)


def draws_of_functions(model, rows, n_draws=20_000):
    """Values of the function at the rows if weights and level are drawn from their joint posterior, by its dense covariance."""
    posterior = model.posterior_
    phi = model.basis_.transform(rows)
    centered = np.column_stack([np.ones(len(rows)), phi - posterior.center])
    factor = posterior.factor
    if len(factor) == len(posterior.active):  # normal noise: the level has a variance of its own
        covariance = np.zeros((len(factor) + 1,) * 2)
        covariance[1:, 1:] = posterior.covariance
        covariance[0, 0] = posterior.noise_variance / posterior.n_samples
        covariance *= model.std_scale_**2
    else:
        covariance = np.linalg.inv(factor @ factor.T)
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(len(covariance)), covariance, n_draws)
    return (phi @ posterior.mean + posterior.intercept)[:, None] + centered @ draws.T


def test_one_input_is_predicted_at_its_grid():
    model = RelevanceVectorRegressor(KERNELS).fit(X[:, :1], Y)
    found = Request.of(model, X[:, :1], resolution=7, coverage=0.8).at((0,))
    (grid,) = found.grids
    np.testing.assert_allclose(grid, np.linspace(X[:, 0].min(), X[:, 0].max(), 7))
    np.testing.assert_allclose(found.mean, model.predict(grid[:, None]))
    np.testing.assert_allclose((found.lower, found.upper), model.predict_interval(grid[:, None], 0.8))
    assert (found.band, found.is_average) == ("targets", False)


def test_the_band_of_the_mean_has_no_noise():
    model = RelevanceVectorRegressor(KERNELS, calibrate_std=True).fit(X[:, :1], Y)
    found = Request.of(model, X[:, :1], resolution=5, band="mean").at((0,))
    _, std = model.predict(found.grids[0][:, None], return_std=True)
    function_std = np.sqrt(std**2 - model.std_scale_**2 * model.noise_variance_)
    np.testing.assert_allclose(found.upper - found.mean, REACH * function_std, rtol=1e-8)
    np.testing.assert_allclose(found.mean - found.lower, REACH * function_std, rtol=1e-8)


def test_two_inputs_are_predicted_on_a_map():
    model = RelevanceVectorRegressor(KERNELS).fit(X[:, :2], Y)
    found = Request.of(model, X[:, :2], resolution=4).at((1, 0))
    assert found.mean.shape == (4, 4)
    for i, second in enumerate(found.grids[0]):
        for j, first in enumerate(found.grids[1]):
            assert found.mean[i, j] == pytest.approx(model.predict([[first, second]])[0])
            assert found.upper[i, j] == pytest.approx(model.predict_interval([[first, second]])[1][0])


@pytest.mark.parametrize("features", [(0,), (2, 0)])
def test_averages_are_those_of_scikit_learn(features):
    model = RelevanceVectorRegressor(KERNELS).fit(X, Y)
    found = Request.of(model, X, resolution=5).at(features)
    theirs = partial_dependence(model, X, list(features), kind="average", grid_resolution=5, percentiles=(0, 1))
    np.testing.assert_allclose(found.mean, theirs["average"][0], rtol=1e-8)
    assert (found.band, found.is_average) == ("mean", True)


def test_the_band_of_an_average_is_that_of_drawn_functions():
    model = RelevanceVectorRegressor(KERNELS).fit(X, Y)
    found = Request.of(model, X, resolution=3).at((0,))
    for value, lower, upper in zip(found.grids[0], found.lower, found.upper, strict=True):
        rows = X.copy()
        rows[:, 0] = value
        averages = draws_of_functions(model, rows).mean(axis=0)
        width = upper - lower
        np.testing.assert_allclose([lower, upper], np.quantile(averages, [0.025, 0.975]), atol=0.03 * width)


def test_the_band_of_an_averaged_rate_is_that_of_drawn_rates():
    model = RelevanceVectorPoissonRegressor(KERNELS).fit(X, COUNTS)
    found = Request.of(model, X, resolution=3).at((0,))
    for value, mean, lower, upper in zip(found.grids[0], found.mean, found.lower, found.upper, strict=True):
        rows = X.copy()
        rows[:, 0] = value
        assert mean == pytest.approx(model.predict(rows).mean())
        averages = np.exp(draws_of_functions(model, rows)).mean(axis=0)
        np.testing.assert_allclose([lower, upper], np.quantile(averages, [0.025, 0.975]), rtol=0.1)


def test_the_band_of_a_rate_at_a_row_is_exact():
    model = RelevanceVectorPoissonRegressor(KERNELS).fit(X[:, :1], COUNTS)
    found = Request.of(model, X[:, :1], resolution=6, band="mean").at((0,))
    mean, std = model.latent(found.grids[0][:, None])
    np.testing.assert_allclose(found.lower, np.exp(mean - REACH * std))
    np.testing.assert_allclose(found.upper, np.exp(mean + REACH * std))


@pytest.mark.parametrize("inverse", [np.exp, lambda values: -np.exp(values)], ids=["rising", "falling"])
def test_a_transformed_target_has_its_units(inverse):
    sign = np.sign(inverse(0.0))
    model = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), RelevanceVectorRegressor(KERNELS)),
        func=lambda values: np.log(sign * values),
        inverse_func=inverse,
    )
    model.fit(X[:, :1], inverse(Y))
    inner = model.regressor_
    at_targets = Request.of(model, X[:, :1], resolution=4).at((0,))
    grid = at_targets.grids[0][:, None]
    np.testing.assert_allclose(at_targets.mean, model.predict(grid))
    ends = inverse(np.array(inner[-1].predict_interval(inner[:-1].transform(grid))))
    np.testing.assert_allclose(at_targets.lower, ends.min(axis=0))
    np.testing.assert_allclose(at_targets.upper, ends.max(axis=0))
    of_mean = Request.of(model, X[:, :1], resolution=4, band="mean").at((0,))
    assert (at_targets.lower < of_mean.lower).all()
    assert (of_mean.upper < at_targets.upper).all()
    assert ((of_mean.lower < of_mean.mean) & (of_mean.mean < of_mean.upper)).all()


def test_the_average_of_a_transformed_target_has_the_band_of_drawn_functions():
    model = TransformedTargetRegressor(RelevanceVectorRegressor(KERNELS), func=np.log, inverse_func=np.exp).fit(X, np.exp(Y))
    found = Request.of(model, X, resolution=3).at((1,))
    for value, lower, upper in zip(found.grids[0], found.lower, found.upper, strict=True):
        rows = X.copy()
        rows[:, 1] = value
        averages = np.exp(draws_of_functions(model.regressor_, rows)).mean(axis=0)
        np.testing.assert_allclose([lower, upper], np.quantile(averages, [0.025, 0.975]), rtol=0.05)


@pytest.mark.parametrize("classifier", [RelevanceVectorClassifier, VBLSClassifier])
@pytest.mark.parametrize("edges", [[0.0], [-0.7, 0.7]], ids=["two classes", "three classes"])
def test_classes_have_averaged_probabilities_and_no_band(classifier, edges):
    model = classifier(KERNELS, max_iter=50).set_params(tol=0.1).fit(X, np.digitize(Y, edges))
    found = Request.of(model, X, resolution=4).at((0,))
    for value, probabilities in zip(found.grids[0], found.mean, strict=True):
        rows = X.copy()
        rows[:, 0] = value
        np.testing.assert_allclose(probabilities, model.predict_proba(rows).mean(axis=0))
    assert found.lower is found.upper is found.band is None
    np.testing.assert_array_equal(found.classes, model.classes_)
    with pytest.raises(ValueError, match="whose probabilities have no band, got 'mean'"):
        Request.of(model, X, band="mean")
    with pytest.raises(ValueError, match="target must be None for a classifier"):
        Request.of(model, X, target=1)


def test_each_target_has_its_own_band():
    both = np.column_stack([Y, X[:, 2] ** 2])
    together = RelevanceVectorRegressor(KERNELS).fit(X, both)
    alone = RelevanceVectorRegressor(KERNELS).fit(X, both[:, 1])
    first, second = (Request.of(model, X, resolution=4, target=t).at((2,)) for model, t in ((together, 1), (alone, None)))
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-6)


@pytest.mark.parametrize("target", [0, 1, 2])
def test_each_of_three_targets_has_the_band_of_a_model_of_its_own(target):
    targets = np.column_stack([Y, X[:, 2] ** 2, X[:, 0] + RNG.normal(0, 0.5, 60)])
    together = RelevanceVectorRegressor(KERNELS, calibrate_std=True).fit(X, targets)
    alone = RelevanceVectorRegressor(KERNELS, calibrate_std=True).fit(X, targets[:, target])
    found = Request.of(together, X, resolution=4, target=target).at((1,))
    expected = Request.of(alone, X, resolution=4).at((1,))
    np.testing.assert_allclose((found.lower, found.upper), (expected.lower, expected.upper), rtol=1e-6)


def test_rows_of_a_large_table_are_drawn():
    model = RelevanceVectorRegressor(KERNELS).fit(X, Y)
    request = Request.of(model, X, max_rows=10, random_state=3, resolution=3)
    assert len(np.unique(request.rows)) == 10
    rows = X[request.rows].copy()
    found = request.at((0,))
    rows[:, 0] = found.grids[0][1]
    assert found.mean[1] == pytest.approx(model.predict(rows).mean())


def test_frames_keep_their_kinds_of_columns():
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "up", "down"), "rooms": RNG.integers(1, 5, 60)})
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["size", "rooms"]))
    model = make_pipeline(columns, VBLSRegressor()).fit(frame, Y)
    request = Request.of(model, frame, resolution=5)
    kind, rooms = request.at((1,)), request.at((2,))
    assert list(kind.grids[0]) == ["down", "up"]
    assert list(rooms.grids[0]) == [1, 2, 3, 4]
    for value, mean in zip(kind.grids[0], kind.mean, strict=True):
        assert mean == pytest.approx(model.predict(frame.assign(kind=value)).mean())
    for value, mean in zip(rooms.grids[0], rooms.mean, strict=True):
        assert mean == pytest.approx(model.predict(frame.assign(rooms=value)).mean())


def test_whole_numbers_have_values_in_between():
    model = RelevanceVectorRegressor(KERNELS).fit(np.arange(20)[:, None], np.sin(np.arange(20)))
    found = Request.of(model, np.arange(20)[:, None], resolution=9).at((0,))
    np.testing.assert_allclose(found.mean, model.predict(np.linspace(0, 19, 9)[:, None]))


NAMES = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("features", "expected"),
    [("b", [(1,)]), (-1, [(2,)]), (("a", 2), [(0, 2)]), (["a", ("b", "c")], [(0,), (1, 2)]), ([np.int64(1)], [(1,)])],
)
def test_features_are_names_or_numbers(features, expected):
    assert features_asked(features, NAMES) == expected


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ("d", ValueError, "feature 'd' is not a name of one column of X, which has 'a', 'b', 'c'"),
        (3, ValueError, "feature 3 is not a column of X, which has 3: 0 to 2"),
        (1.0, TypeError, "a feature must be a name or a number of a column of X, got 1.0"),
        (("a", "b", "c"), ValueError, "one feature, or two different ones in a tuple"),
        (("a", "a"), ValueError, "one feature, or two different ones in a tuple"),
        ([], ValueError, "empty list"),
    ],
)
def test_wrong_features_are_named(features, error, message):
    with pytest.raises(error, match=message):
        features_asked(features, NAMES)


def test_wrong_rows_are_named():
    with pytest.raises(ValueError, match=r"X must have rows and columns, got shape \(3,\)"):
        checked_rows([1, 2, 3])
    with pytest.raises(ValueError, match=r"X must have rows and columns, got shape \(0, 2\)"):
        checked_rows(np.empty((0, 2)))
    frame = pd.DataFrame({"x": np.arange(60.0), "text": [f"word {i}" for i in range(60)]})
    model = make_pipeline(make_column_transformer((OneHotEncoder(), ["text"]), ("passthrough", ["x"])), VBLSRegressor())
    with pytest.raises(ValueError, match=r"feature 'text' has 60 categories. At most 30 can be shown"):
        Request.of(model.fit(frame, Y), frame).at((1,))


def test_averages_are_no_new_targets():
    model = RelevanceVectorRegressor(KERNELS).fit(X, Y)
    with pytest.raises(ValueError, match="Use band='mean'"):
        Request.of(model, X, band="targets").at((0,))
    with pytest.raises(ValueError, match="band must be one of"):
        Request.of(model, X, band="both")
    with pytest.raises(ValueError, match="grid_resolution must be a whole number of at least 2, got 1"):
        Request.of(model, X, resolution=1)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_values_are_the_last_category(missing):
    values = np.array(["b", missing, "a", missing, 2, 1], dtype=object)
    grid = grid_of(values, 10, "text", few=True)
    assert grid[:4].tolist() == [1, 2, "a", "b"]
    assert category_names(grid) == ["1", "2", "a", "b", "(missing)"]
    assert len(grid) == 5
    assert grid[4] is missing
    assert grid_of(np.array(["b", "a"], dtype=object), 10, "text", few=True).tolist() == ["a", "b"]
