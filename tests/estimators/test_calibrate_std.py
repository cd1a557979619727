"""The std of regressors, scaled by what left-out rows say."""

import pickle
import time
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from skarce import (
    BackwardEliminationRegressor,
    CriterionSearch,
    EvidenceRegressor,
    KernelBasis,
    KernelMatchingPursuitRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseRegressor,
    VBLSRegressor,
)
from skarce.criteria import GCV
from skarce.designs import RowBlocks
from skarce.moments.folds import fold_numbers
from skarce.searches import GreedyBatches
from tests.estimator_lists import REGRESSORS
from tests.oracles import std_without

NARROW = KernelBasis(gamma=8.0)


def table(n=80, d=2, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, d))
    return X, np.sin(X[:, 0]) + noise * rng.normal(size=n)


def slow_scale(make, X, y, weights, whole, splits):
    """The definition: refit on the rows that stay, and compare the errors of the others with the std of the whole without them.

    Ten more rows that are as expected count if the left-out ones ask for less.
    """
    squares = total = 0.0
    for fitted, left in splits:
        mean = make().fit(X[fitted], y[fitted], weights[fitted]).predict(X[left])
        std = std_without(whole.posterior_, X[fitted][:, whole.active_], X[left][:, whole.active_], weights[fitted])
        squares += weights[left] @ ((y[left] - mean) / std) ** 2
        total += weights[left].sum()
    return np.sqrt(squares / total if squares > total else (squares + 10.0) / (total + 10.0))


def folds(X):
    numbers = fold_numbers(X)
    return [(np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in range(5)]


@pytest.mark.parametrize("made", REGRESSORS)
def test_the_scale_is_that_of_five_refits(made):
    X, y = table(d=5)
    weights = np.random.default_rng(1).integers(1, 4, 80).astype(float)
    make = lambda: made("passthrough", calibrate_std=False)  # noqa: E731
    model = made("passthrough", calibrate_std=True).fit(X, y, weights)
    np.testing.assert_allclose(model.std_scale_, slow_scale(make, X, y, weights, model, folds(X)), rtol=1e-4)


def test_only_the_std_is_scaled():
    X, y = table()
    plain, scaled = (RelevanceVectorRegressor(NARROW, calibrate_std=choice).fit(X, y) for choice in (False, True))
    assert plain.std_scale_ == 1.0
    assert scaled.std_scale_ > 1.2
    assert scaled.noise_variance_ == plain.noise_variance_
    np.testing.assert_array_equal(scaled.posterior_.covariance, plain.posterior_.covariance)
    queries = np.linspace(-3, 3, 50)[:, None].repeat(2, 1)
    (mean, std), (expected, raw) = (model.predict(queries, return_std=True) for model in (scaled, plain))
    np.testing.assert_array_equal(mean, expected)
    np.testing.assert_allclose(std, scaled.std_scale_ * raw)


def test_what_augmentation_adds_is_not_scaled():
    X, y = table()
    plain, scaled = (RelevanceVectorRegressor(NARROW, calibrate_std=choice).fit(X, y) for choice in (False, True))
    queries = np.array([[0.0, 0.0], [50.0, 50.0]])
    added = plain.predict(queries, True, "augmented")[1] ** 2 - plain.predict(queries, True)[1] ** 2
    np.testing.assert_allclose(
        scaled.predict(queries, True, "augmented")[1] ** 2, scaled.predict(queries, True)[1] ** 2 + added, rtol=1e-10
    )


@pytest.mark.parametrize("made", REGRESSORS)
def test_a_weight_of_two_equals_the_row_twice_and_the_order_does_not_matter(made):
    X, y = table(60)
    order = np.random.default_rng(2).permutation(120)
    twice, weights = np.repeat(np.arange(60), 2)[order], np.full(60, 2.0)
    basis = PolynomialFeatures(2, include_bias=False)
    one = made(basis, calibrate_std=True).fit(X, y, weights)
    two = made(basis, calibrate_std=True).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.std_scale_, two.std_scale_, rtol=1e-4)


def test_every_target_has_its_own_scale():
    X, y = table()
    other = y + np.random.default_rng(3).normal(size=80)
    both = RelevanceVectorRegressor(NARROW, calibrate_std=True).fit(X, np.column_stack([y, other]))
    single = [RelevanceVectorRegressor(NARROW, calibrate_std=True).fit(X, one).std_scale_ for one in (y, other)]
    assert both.std_scale_.shape == (2,)
    np.testing.assert_allclose(both.std_scale_, single, rtol=1e-6)
    lower, upper = both.predict_interval(X[:7], coverage=0.5)
    mean, std = both.predict(X[:7], return_std=True)
    assert lower.shape == (7, 2)
    np.testing.assert_allclose(upper - mean, stats.norm.ppf(0.75) * std)
    np.testing.assert_allclose(mean - lower, stats.norm.ppf(0.75) * std)


# When ------------------------------------------------------------------------------------------------------------------


def test_auto_calibrates_learned_widths_and_many_functions():
    X, y = table(100)
    assert RelevanceVectorRegressor(KernelBasis(gamma=0.2)).fit(X, y).std_scale_ == 1.0
    narrow = RelevanceVectorRegressor(NARROW).fit(X, y)
    assert len(narrow.active_) > 10
    assert narrow.std_scale_ == RelevanceVectorRegressor(NARROW, calibrate_std=True).fit(X, y).std_scale_
    learned = RelevanceVectorRegressor(KernelBasis(gamma="evidence", width_params={"n_starts": 1, "max_iter": 3})).fit(X, y)
    assert learned.std_scale_ != 1.0


def test_auto_counts_weights_that_the_data_determine_and_distinct_rows():
    X, y = table(100)
    wide = EvidenceRegressor(KernelBasis(gamma=0.01)).fit(X, y)
    assert len(wide.active_) == 100  # all candidates, of which the data determine few
    assert wide.std_scale_ == 1.0
    linear = RelevanceVectorRegressor("passthrough")
    few = np.random.default_rng(0).normal(size=(15, 3))
    target = few @ [1.0, 2.0, 3.0] + 0.1 * np.random.default_rng(1).normal(size=15)
    assert linear.fit(few, target).std_scale_ != 1.0
    assert linear.fit(few, target, np.full(15, 100.0)).std_scale_ != 1.0  # counted often, but still few


# Which rows --------------------------------------------------------------------------------------------------------------


def test_a_splitter_says_which_rows_are_left_out():
    X, y = table(d=5)
    make = lambda **options: VBLSRegressor(**options)  # noqa: E731
    groups = np.arange(80) // 8
    for splitter, splits in (
        (KFold(4), list(KFold(4).split(X))),
        (TimeSeriesSplit(3), list(TimeSeriesSplit(3).split(X))),
        (list(GroupKFold(5).split(X, y, groups)), list(GroupKFold(5).split(X, y, groups))),
        ([(np.arange(80) < 60, np.arange(80) >= 60)], [(np.arange(60), np.arange(60, 80))]),
    ):
        model = make(calibrate_std=splitter).fit(X, y)
        slow = slow_scale(lambda: make(calibrate_std=False), X, y, np.ones(80), model, splits)
        np.testing.assert_allclose(model.std_scale_, slow, rtol=1e-5)
        clone(model)


@pytest.mark.parametrize(
    "wrong",
    [GroupKFold(3), KFold(500), [(np.arange(10), np.array([1000]))], [3], [], [(np.arange(10), [])], iter(()), "yes", 5, KFold],
)
def test_wrong_splitters_are_named(wrong):
    X, y = table()
    with pytest.raises(ValueError, match="calibrate_std must"):
        VBLSRegressor(calibrate_std=wrong).fit(X, y)


def test_rows_that_are_not_kept():
    X, y = table(100)
    blocks = RowBlocks.from_arrays(X, y, block_rows=30)
    assert RelevanceVectorRegressor(KernelBasis(gamma=8.0, centers=50)).fit(blocks).std_scale_ == 1.0
    dependent = RelevanceVectorRegressor("passthrough", calibrate_std=True, effective_samples=0.5)
    with pytest.raises(ValueError, match=r"calibrate_std=True .* not kept in memory .* Use calibrate_std=False"):
        dependent.fit(blocks)
    with pytest.raises(ValueError, match=r"not kept in memory .* calibrate_std=True takes five folds"):
        VBLSRegressor(calibrate_std=KFold(3)).fit(blocks)
    stream = VBLSRegressor(calibrate_std=True).fit(X, y)
    state = pickle.dumps(stream)
    with pytest.raises(ValueError, match="not kept in memory"):
        stream.partial_fit(X, y)
    assert pickle.dumps(stream) == state
    assert VBLSRegressor().partial_fit(X[:8], y[:8]).std_scale_ == 1.0


# Awkward data --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", REGRESSORS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_few_rows(made, n):
    X, y = table(n)
    for basis in ("passthrough", NARROW):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = made(basis, calibrate_std=True).fit(X, y)
        assert 0.0 < model.std_scale_ < np.inf
        lower, upper = model.predict_interval(X)
        assert (lower <= upper).all()


@pytest.mark.parametrize("made", REGRESSORS)
def test_targets_without_noise(made):
    X, _ = table(30)
    for y in (np.full(30, 3.0), 2.0 * X[:, 0] + 1.0, np.where(np.arange(30) == 4, 1.0, 0.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = made("passthrough", calibrate_std=True).fit(X, y)
        assert 0.0 < model.std_scale_ < np.inf


def test_rows_that_are_all_equal_say_nothing_and_that_is_said():
    X, y = np.ones((10, 2)), np.arange(10.0)
    with pytest.warns(ConvergenceWarning, match="not calibrated, because equal rows"):
        assert VBLSRegressor(calibrate_std=True).fit(X, y).std_scale_ == 1.0


def test_no_time_left_for_refits(monkeypatch):
    X, y = table()
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(time, "monotonic", clock)
    found = set()
    for limit in (5, 20, 60, 5000):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = RelevanceVectorRegressor(NARROW, max_time=limit).fit(X, y)
        said = any("max_time came before the refits" in str(w.message) for w in told)
        assert (said or model.outcome_ is Outcome.TIME_LIMIT) == (model.std_scale_ == 1.0)
        found.add(said)
    assert found == {True, False}


def test_a_refit_that_fails_is_told(monkeypatch):
    X, y = table(d=3)
    X[:, 2] = 1e-70  # in range only because of one row
    X[11, 2] = 1.0
    with pytest.warns(ConvergenceWarning, match="not calibrated, because a fit without some of the rows failed"):
        model = RelevanceVectorRegressor("passthrough", calibrate_std=True, moments="columns").fit(X, y)
    assert model.std_scale_ == 1.0


@pytest.mark.parametrize(("verbose", "n_lines"), [(1, 1), (2, 6)])
def test_a_line_for_the_scale_and_with_verbose_two_for_each_refit(capsys, verbose, n_lines):
    RelevanceVectorRegressor(NARROW, calibrate_std=True, verbose=verbose).fit(*table())
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("calibration: ")]
    assert len(lines) == n_lines
    assert "std scale" in lines[-1]


# Other bases, searches and models --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_moments_of_both_kinds_say_the_same(moments):
    X, y = table()
    expected = EvidenceRegressor(NARROW, calibrate_std=True).fit(X, y)
    model = EvidenceRegressor(NARROW, calibrate_std=True, moments=moments).fit(X, y)
    np.testing.assert_allclose(model.std_scale_, expected.std_scale_, rtol=1e-4)


def test_a_precomputed_kernel_has_the_scale_of_its_rows():
    X, y = table()
    kernel = np.exp(-8.0 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    splits = list(KFold(4).split(X))
    one = RelevanceVectorRegressor(NARROW, calibrate_std=splits, tol=1e-9).fit(X, y)
    two = RelevanceVectorRegressor(KernelBasis("precomputed"), calibrate_std=splits, tol=1e-9).fit(kernel, y)
    np.testing.assert_allclose(two.std_scale_, one.std_scale_, rtol=1e-4)
    assert RelevanceVectorRegressor(KernelBasis("precomputed"), calibrate_std=True).fit(kernel, y).std_scale_ > 1.2


def test_transformers_stay_as_they_are_fitted():
    X, y = table()
    splines = SplineTransformer(12).fit(X)
    phi = splines.transform(X)
    one = RelevanceVectorRegressor(SplineTransformer(12), calibrate_std=list(KFold(4).split(X)), tol=1e-9).fit(X, y)
    two = RelevanceVectorRegressor("passthrough", calibrate_std=list(KFold(4).split(X)), tol=1e-9).fit(phi, y)
    np.testing.assert_allclose(one.std_scale_, two.std_scale_, rtol=1e-4)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert (
        RelevanceVectorRegressor(make_pipeline(StandardScaler(), PolynomialFeatures(2)), calibrate_std=True)
        .fit(frame, y)
        .std_scale_
        > 0.5
    )


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_any_criterion_and_any_search():
    X, y = table()
    assert SparseRegressor(NARROW, GCV(), GreedyBatches(), calibrate_std=True).fit(X, y).std_scale_ > 1.2


def test_other_models_of_a_path_keep_the_factor():
    X, y = table()
    for model in (
        BackwardEliminationRegressor(NARROW, keep_path=True, calibrate_std=True).fit(X, y),
        OrthogonalLeastSquaresRegressor(NARROW, keep_path=True, calibrate_std=True).fit(X, y),
    ):
        smaller = model.with_n_basis(3)
        assert smaller.std_scale_ == model.std_scale_
        np.testing.assert_allclose(
            smaller.predict(X, return_std=True)[1], model.std_scale_ * np.sqrt(smaller.posterior_.variance(smaller._phi(X)))
        )


def test_a_model_of_an_older_version_has_no_factor():
    X, y = table()
    model = RelevanceVectorRegressor(NARROW, calibrate_std=False).fit(X, y)
    older = deepcopy(model)
    del older.__dict__["std_scale_"], older.__dict__["calibrate_std"]
    np.testing.assert_array_equal(older.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
    assert older.get_params()["calibrate_std"] is False


# Intervals -------------------------------------------------------------------------------------------------------------------


def test_intervals_of_normal_noise():
    X, y = table()
    model = RelevanceVectorRegressor(NARROW).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    lower, upper = model.predict_interval(X)
    np.testing.assert_allclose(lower, mean - 1.959963985 * std)
    np.testing.assert_allclose(upper, mean + 1.959963985 * std)


def test_a_search_has_the_intervals_of_its_best_model():
    X, y = table()
    search = CriterionSearch(RelevanceVectorRegressor(), {"basis__gamma": [0.1, 1.0]}).fit(X, y)
    np.testing.assert_array_equal(search.predict_interval(X, 0.8), search.best_estimator_.predict_interval(X, 0.8))
    assert not hasattr(CriterionSearch(RelevanceVectorClassifier(), {}), "predict_interval")


def test_intervals_of_student_noise():
    X, y = table()
    model = VBLSRegressor(noise="student-t", degrees_of_freedom=3.0, calibrate_std=False).fit(X, y)
    lower, upper = model.predict_interval(X, coverage=0.9)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(upper - mean, stats.t.ppf(0.95, 3.0) / np.sqrt(3.0) * std)
    np.testing.assert_allclose(mean - lower, upper - mean)


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 1.5, np.nan, "most", None, True])
def test_wrong_coverage(coverage):
    X, y = table()
    with pytest.raises(ValueError, match="coverage must be"):
        VBLSRegressor().fit(X, y).predict_interval(X, coverage=coverage)


@pytest.mark.parametrize("basis", [NARROW, KernelBasis(gamma=0.2)])
@pytest.mark.parametrize("made", [RelevanceVectorRegressor, EvidenceRegressor, BackwardEliminationRegressor])
def test_intervals_cover_new_rows(made, basis):
    """Also those of kernels that are far too narrow: without calibration they cover a small share."""
    inside = []
    for seed in range(5):
        X, y = table(150, seed=seed)
        queries, targets = table(1000, seed=100 + seed)
        lower, upper = made(basis).fit(X, y).predict_interval(queries)
        inside.append(np.mean((lower <= targets) & (targets <= upper)))
    assert 0.9 < np.mean(inside) < 0.99


@pytest.mark.parametrize("seed", range(3))
def test_outliers_that_a_robust_loss_expects_do_not_decide_about_the_std(seed):
    # One row in fifteen made the std more than twenty times too large, with a warning about fitting too closely.
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5.0, 5.0, (200, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    spoiled = np.where(np.arange(200) % 15 == 0, y + 10.0, y)
    model = KernelMatchingPursuitRegressor(loss="huber", calibrate_std=True).fit(X, spoiled)
    assert 0.8 < model.std_scale_ < 1.6
    new = rng.uniform(-5.0, 5.0, (2000, 1))
    mean, std = model.predict(new, return_std=True)
    assert 0.88 < np.mean(np.abs(np.sin(new[:, 0]) + 0.1 * rng.normal(size=2000) - mean) < 1.96 * std) <= 1.0
    assert np.median(std) < 0.2
