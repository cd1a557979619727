"""Relative weights, and dependent rows that are worth fewer observations."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.linear_model import LinearRegression

from skarce import (
    CriterionSearch,
    FastGCVRegressor,
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.designs import InMemoryDesign, RowBlocks, Rows
from skarce.designs.folds import blocked_splits
from skarce.estimators.calibration import TIMES_DEPENDENT
from tests.estimator_lists import LATENT, REGRESSORS
from tests.model_selection.test_dependent_rows import autoregressive

N = 60
BASES = ["passthrough", "rbf"]


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    return X, X[:, 0] - 0.5 * X[:, 2] + rng.normal(0, 0.3, N), rng.integers(0, 4, N).astype(float)


def target(estimator, y):
    if estimator.__name__.endswith("Classifier"):
        return np.digitize(y, [0.0])
    return np.round(np.exp(y)) if estimator is RelevanceVectorPoissonRegressor else y


def assert_same_model(model, other, X, rtol=1e-7):
    np.testing.assert_array_equal(model.active_, other.active_)
    np.testing.assert_allclose(model.weight_precision_, other.weight_precision_, rtol=100 * rtol)
    if hasattr(model, "latent"):
        np.testing.assert_allclose(model.latent(X), other.latent(X), rtol=rtol, atol=rtol)
    else:
        np.testing.assert_allclose(model.predict(X, return_std=True), other.predict(X, return_std=True), rtol=rtol, atol=rtol)


# Relative weights ---------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("estimator", [*REGRESSORS, *LATENT])
def test_only_ratios_of_relative_weights_matter(table, estimator, basis):
    X, y, weights = table
    y = target(estimator, y)
    model = estimator(basis, weights="relative").fit(X, y, sample_weight=weights)
    assert_same_model(clone(model).fit(X, y, sample_weight=2.0**-10 * weights), model, X)
    by_hand = estimator(basis).fit(X, y, sample_weight=weights * np.count_nonzero(weights) / weights.sum())
    assert_same_model(by_hand, model, X)
    assert model.n_effective_ == pytest.approx(np.count_nonzero(weights))


@pytest.mark.parametrize("estimator", [*REGRESSORS, *LATENT])
def test_equal_relative_weights_are_none(table, estimator):
    X, y, _ = table
    y = target(estimator, y)
    model = estimator("passthrough", weights="relative").fit(X, y, sample_weight=np.full(N, 1e-20))
    assert_same_model(model, estimator("passthrough").fit(X, y), X)
    assert model.n_effective_ == N


def test_class_weights_are_counts_beside_relative_weights(table):
    X, y, weights = table
    y = np.digitize(y, [0.0])
    relative = RelevanceVectorClassifier("passthrough", weights="relative", class_weight={0: 1.0, 1: 3.0})
    relative.fit(X, y, sample_weight=1e-3 * weights)
    counts = weights * np.count_nonzero(weights) / weights.sum() * np.where(y == 1, 3.0, 1.0)
    assert_same_model(relative, RelevanceVectorClassifier("passthrough").fit(X, y, sample_weight=counts), X)


@pytest.mark.parametrize("basis", ["passthrough", KernelBasis(gamma=0.1, centers=30)])
def test_boosting(basis):
    """AdaBoost gives classifiers weights that add up to one. Regressors get rows that are drawn with these probabilities."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] - X[:, 1] + rng.normal(0, 0.2, 300)
    regressor = AdaBoostRegressor(
        RelevanceVectorRegressor(basis, weights="relative", calibrate_std=False, random_state=0), n_estimators=3, random_state=0
    )
    assert regressor.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    classifier = AdaBoostClassifier(
        RelevanceVectorClassifier(basis, weights="relative", calibrate_proba=False, random_state=0), n_estimators=3, random_state=0
    )
    assert classifier.fit(X[:200], y[:200] > 0).score(X[200:], y[200:] > 0) > 0.9


def test_no_word_about_small_weights_if_a_parameter_says_what_they_are_worth(table):
    X, y, _ = table
    with pytest.warns(UserWarning, match='use weights="relative"'):
        RelevanceVectorRegressor("passthrough").fit(X, y, sample_weight=np.full(N, 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for params in ({"weights": "relative"}, {"effective_samples": 20}):
            RelevanceVectorRegressor("passthrough", **params).fit(X, y, sample_weight=np.full(N, 0.1))


# Effective samples ----------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("estimator", REGRESSORS)
def test_a_number_takes_the_place_of_n(table, estimator, basis, has_weights):
    X, y, weights = table
    weights = weights if has_weights else np.ones(N)
    given = weights if has_weights else None
    model = estimator(basis, effective_samples=24.0, calibrate_std=False).fit(X, y, sample_weight=given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        by_hand = estimator(basis, calibrate_std=False).fit(X, y, sample_weight=weights * (24.0 / weights.sum()))
    assert_same_model(model, by_hand, X, rtol=0 if basis == "passthrough" else 1e-9)
    assert model.criterion_ == by_hand.criterion_
    assert model.n_effective_ == pytest.approx(24.0)
    share = estimator(basis, effective_samples=24.0 / weights.sum(), calibrate_std=False).fit(X, y, sample_weight=given)
    assert_same_model(share, model, X)


@pytest.mark.parametrize("estimator", LATENT)
def test_a_number_takes_the_place_of_n_for_labels_and_counts(table, estimator):
    X, y, _ = table
    y = target(estimator, y)
    model = estimator("rbf", effective_samples=24.0, calibrate_proba=False).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        by_hand = estimator("rbf", calibrate_proba=False).fit(X, y, sample_weight=np.full(N, 24.0 / N))
    assert_same_model(model, by_hand, X, rtol=1e-10)
    assert model.n_effective_ == pytest.approx(24.0)


def test_exposures_have_units_so_that_counts_are_counted_by_rows(table):
    X, y, _ = table
    days = np.random.default_rng(0).uniform(1.0, 10.0, N)
    counts = np.random.default_rng(0).poisson(days * np.exp(y))
    per_day, per_week = (
        RelevanceVectorPoissonRegressor("passthrough", effective_samples=30, calibrate_proba=True).fit(
            X, unit * counts / days, sample_weight=days / unit
        )
        for unit in (1.0, 7.0)
    )
    half = RelevanceVectorPoissonRegressor("passthrough", calibrate_proba=False).fit(X, counts / days, sample_weight=0.5 * days)
    assert per_day.n_effective_ == per_week.n_effective_ == 30
    np.testing.assert_array_equal(per_day.active_, half.active_)
    np.testing.assert_allclose(per_day.latent(X), half.latent(X), rtol=1e-9)
    assert per_day.temperature_ == pytest.approx(per_week.temperature_, rel=1e-3)
    np.testing.assert_allclose(7.0 * per_day.predict(X), per_week.predict(X), rtol=1e-5)


def test_learned_widths_see_the_worth_of_rows():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (80, 1))
    y = np.sin(2 * X[:, 0]) + rng.normal(0, 0.5, 80)
    basis, params = KernelBasis("rbf", gamma="evidence"), {"calibrate_std": False}
    model = RelevanceVectorRegressor(basis, effective_samples=20, **params).fit(X, y)
    by_hand = KernelBasis("rbf", gamma="evidence").fit(X, y, sample_weight=np.full(80, 0.25))
    assert model.basis_.gamma_ == pytest.approx(by_hand.gamma_, rel=1e-2)
    assert model.basis_.gamma_ != pytest.approx(RelevanceVectorRegressor(basis, **params).fit(X, y).basis_.gamma_, rel=1e-2)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_auto_finds_the_number_of_an_autoregressive_series(rho):
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.column_stack([autoregressive(0.95, 2000, rng) for _ in range(3)])
        model = RelevanceVectorRegressor("passthrough", effective_samples="auto", calibrate_std=False)
        found.append(model.fit(X, X @ [1.0, 0.0, -1.0] + autoregressive(rho, 2000, rng)).n_effective_)
    assert np.mean(found) == pytest.approx(2000 * (1 - rho) / (1 + rho), rel=0.15)
    assert max(found) <= 2000


@pytest.mark.parametrize("estimator", [*REGRESSORS, *LATENT])
def test_auto_is_a_fit_with_the_number_that_it_finds(estimator):
    rng = np.random.default_rng(0)
    X = np.column_stack([autoregressive(0.9, 200, rng) for _ in range(3)])
    y = target(estimator, 0.3 * X[:, 0] + 0.3 * autoregressive(0.8, 200, rng))
    model = estimator("passthrough", effective_samples="auto").fit(X, y)
    assert 10 < model.n_effective_ < 160
    assert_same_model(estimator("passthrough", effective_samples=model.n_effective_).fit(X, y), model, X, rtol=1e-9)


def test_the_target_that_depends_most_decides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    noises = np.column_stack([rng.normal(size=500), autoregressive(0.9, 500, rng)])
    fit = RelevanceVectorRegressor("passthrough", effective_samples="auto").fit
    alone = [fit(X, X[:, 0] + noise).n_effective_ for noise in noises.T]
    assert fit(X, X[:, [0]] + noises).n_effective_ == pytest.approx(min(alone))


def test_dependent_noise_no_longer_brings_false_inputs():
    """Nineteen smooth inputs that do not matter, beside smooth noise."""
    n_false = {None: 0, "auto": 0}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([autoregressive(0.9, 2000, rng) for _ in range(20)])
        y = X[:, 0] + autoregressive(0.9, 2000, rng)
        for given in n_false:
            model = RelevanceVectorRegressor("passthrough", effective_samples=given, calibrate_std=False).fit(X, y)
            assert model.relevance_[0] > 0.9
            n_false[given] += len(model.active_) - 1
    assert n_false["auto"] < 0.2 * n_false[None]


def test_neighbors_are_left_out_together():
    rows = Rows(np.arange(103.0)[:, None], np.zeros((103, 1)), np.r_[0.0, np.ones(102)])
    design = InMemoryDesign(KernelBasis(gamma=1.0, centers=5).fit(rows.X), rows)
    splits = blocked_splits(design, 7)
    assert len(splits) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([left_out for _, left_out in splits])), np.arange(1, 103))
    for fitted, left_out in splits:
        np.testing.assert_array_equal(np.sort(np.concatenate([fitted, left_out])), np.arange(1, 103))
    np.testing.assert_array_equal(splits[1][1][:8], [8, 9, 10, 11, 12, 13, 14, 43])
    assert [len(left_out) for _, left_out in blocked_splits(design, 1000)] == [21, 21, 21, 21, 18]


def test_the_calibration_leaves_out_neighbors_together():
    """An autoregressive error is known from its neighbors, but not to a model of new rows."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 400, 400)[:, None]
    y = autoregressive(0.9, 400, rng)
    blocks = RelevanceVectorRegressor(KernelBasis(gamma=0.5), effective_samples=40, calibrate_std=True).fit(X, y)
    length = TIMES_DEPENDENT * 10
    numbers = np.arange(400) // length % 5
    given = [(np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in range(5)]
    by_hand = clone(blocks).set_params(calibrate_std=given).fit(X, y)
    assert blocks.std_scale_ == pytest.approx(by_hand.std_scale_, rel=1e-6)


# Where rows are not kept ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{"weights": "relative"}, {"effective_samples": 24}, {"effective_samples": 0.3}])
def test_row_blocks(table, params):
    X, y, weights = table
    blocks = RowBlocks.from_arrays(X, y, weights, block_rows=7)
    model = RelevanceVectorRegressor("passthrough", calibrate_std=False, **params).fit(blocks)
    whole = clone(model).fit(X, y, sample_weight=weights)
    assert_same_model(model, whole, X, rtol=1e-6)
    assert model.n_effective_ == pytest.approx(whole.n_effective_)


def test_auto_needs_the_rows(table):
    X, y, _ = table
    with pytest.raises(ValueError, match=r'effective_samples="auto" .* RowBlocks does not keep rows .* share of the rows such as'):
        RelevanceVectorRegressor("passthrough", effective_samples="auto").fit(RowBlocks.from_arrays(X, y))


def test_streams_take_a_share(table):
    X, y, _ = table
    model = RelevanceVectorRegressor("passthrough", effective_samples=0.3, calibrate_std=False)
    for rows in (slice(0, 25), slice(25, N)):
        model.partial_fit(X[rows], y[rows])
    assert_same_model(model, clone(model).set_params(effective_samples=0.3 * N).fit(X, y), X, rtol=1e-6)
    assert model.n_effective_ == pytest.approx(0.3 * N)


@pytest.mark.parametrize("given", [24, "auto"])
def test_streams_do_not_know_how_many_rows_will_come(table, given):
    X, y, _ = table
    with pytest.raises(ValueError, match=rf"effective_samples='?{given}'? is about all rows .* such as 0.1"):
        RelevanceVectorRegressor("passthrough", effective_samples=given).partial_fit(X, y)


def test_relative_weights_of_a_batch_have_mean_one(table):
    X, y, weights = table
    model = RelevanceVectorRegressor("passthrough", weights="relative").partial_fit(X, y, sample_weight=1e-9 * weights)
    assert_same_model(model, RelevanceVectorRegressor("passthrough", weights="relative").fit(X, y, sample_weight=weights), X)


# Searches, and what cannot be -----------------------------------------------------------------------------------------------------


def test_a_search_over_parameters_counts_as_the_models_do(table):
    X, y, weights = table
    grid = {"basis__gamma": [0.01, 0.1]}
    for params in ({"weights": "relative"}, {"effective_samples": 24}):
        many, few = (CriterionSearch(FastGCVRegressor("rbf", **params), grid).fit(X, y, sample_weight=f * weights) for f in (8, 1))
        np.testing.assert_allclose(many.results_["compared"], few.results_["compared"], rtol=1e-9)
    doubled = CriterionSearch(FastGCVRegressor("rbf", weights="relative"), grid).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    counted = CriterionSearch(FastGCVRegressor("rbf"), grid).fit(X, y, sample_weight=np.full(N, 2.0))
    np.testing.assert_allclose(doubled.results_["compared"], counted.results_["compared"], rtol=1e-6)


def test_a_search_does_not_compare_different_numbers_of_observations(table):
    X, y, _ = table
    with pytest.raises(ValueError, match="n_effective_ of one fit"):
        CriterionSearch(FastGCVRegressor("rbf", effective_samples="auto"), {"tol": [1e-3]}).fit(X, y)
    with pytest.raises(ValueError, match=r"do not compare: .*effective_samples=20 and .*effective_samples=30"):
        CriterionSearch(FastGCVRegressor("rbf"), {"effective_samples": [20, 30]}).fit(X, y)


@pytest.mark.parametrize("given", [0, 1, 1.5, -3, np.inf, np.nan, "many", True, [10], 1e16, 1e-16])
def test_impossible_numbers_of_observations(table, given):
    X, y, _ = table
    with pytest.raises(ValueError, match='effective_samples must be None, "auto", a number of observations of at least 2'):
        RelevanceVectorRegressor("passthrough", effective_samples=given).fit(X, y)


@pytest.mark.parametrize("given", ["count", None, 1])
def test_unknown_meanings_of_weights(table, given):
    X, y, _ = table
    with pytest.raises(ValueError, match=r"weights must be one of \['counts', 'relative'\]"):
        VBLSClassifier(weights=given).fit(X, y > 0)


def test_relative_weights_that_are_all_zero(table):
    X, y, _ = table
    with pytest.raises(ValueError, match=r"at least one non-zero|not be zero for every row"):
        RelevanceVectorRegressor("passthrough", weights="relative").fit(X, y, sample_weight=np.zeros(N))


def test_time_limits_hold_for_both_fits(table):
    X, y, _ = table
    model = RelevanceVectorRegressor("passthrough", effective_samples="auto", max_time=60.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=0.5)


def test_a_period_in_the_residuals_is_worth_a_warning():
    rng = np.random.default_rng(0)
    hours, temperature = np.arange(2400), rng.normal(size=2400)
    load = 2.0 * temperature + np.sin(2 * np.pi * hours / 24) + 0.1 * rng.normal(size=2400)
    with pytest.warns(UserWarning, match="repeat after about 24 rows"):
        VBLSRegressor(effective_samples="auto").fit(temperature[:, None], load)


def test_residuals_of_rounding_errors_are_not_dependent():
    X = np.sin(np.arange(500)[:, None] / np.array([20.0, 31.0, 47.0]))
    model = VBLSRegressor(effective_samples="auto", calibrate_std=False).fit(X, X @ [1.0, 2.0, 3.0])
    assert model.n_effective_ == 500


def test_more_observations_than_rows_are_worth_a_warning(table):
    X, y, _ = table
    with pytest.warns(UserWarning, match=r"effective_samples=1e\+06 is above the .* observations that there are"):
        RelevanceVectorRegressor("passthrough", effective_samples=1e6, calibrate_std=False).fit(X, y)
