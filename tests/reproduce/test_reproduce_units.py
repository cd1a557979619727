"""Splits, and the units that are run on them."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

from skarce import CriterionSearch, FastGCVRegressor, RelevanceVectorClassifier
from skarce._parallel import _here, n_cores
from skarce.datasets import friedman2
from skarce.reproduce.papers.gaussian_process import LeanGaussianProcess
from skarce.reproduce.runner.measures import nmse
from skarce.reproduce.runner.paper import Experiment
from skarce.reproduce.runner.splits import random_rows, scaled
from skarce.reproduce.runner.units import Maker, Unit, Work, as_published, best_choice, run_unit
from tests.reproduce.tiny_paper import PLAIN, RIDGE, TINY


def test_splits_are_the_same_again_and_differ_between_repeats_experiments_and_seeds():
    one, two = TINY.experiments
    first = one.split(0, 0)
    np.testing.assert_array_equal(first.X_train, one.split(0, 0).X_train)
    for other in (one.split(1, 0), one.split(0, 1), two.split(0, 0)):
        assert not np.isin(first.y_train, other.y_train).any()


def test_rows_of_a_table_are_in_one_part_of_a_split_only(monkeypatch):
    X, y = np.arange(60.0).reshape(30, 2), np.arange(30.0)
    monkeypatch.setattr("skarce.datasets.load", lambda name: (X, y, ("a", "b"), "here"))
    experiment = Experiment("table", "Table", 3, random_rows("table", 20))
    splits = [experiment.split(repeat, 0) for repeat in range(3)]
    for split in splits:
        assert (len(split.y_train), len(split.y_test)) == (20, 10)
        assert sorted([*split.y_train, *split.y_test]) == list(y)
    assert len({tuple(split.y_test) for split in splits}) == 3


def test_inputs_are_scaled_by_the_training_rows_only():
    X_train, X_test = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 15.0]]), np.array([[8.0, 0.0], [1.0, 10.0]])
    fold = scaled(X_train, np.array([1.0, 2.0, 3.0]), X_test, np.array([9.0, 8.0]))
    np.testing.assert_allclose(fold.X_train, [[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(fold.X_test, [[2.0, -0.5], [0.25, 0.5]])
    np.testing.assert_array_equal(fold.y_train, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(fold.y_test, [9.0, 8.0])


# Units ------------------------------------------------------------------------------------------------------------------


def test_nmse_is_one_for_the_mean_and_zero_for_the_truth():
    targets = np.array([1.0, 2.0, 6.0])
    np.testing.assert_allclose(nmse(targets, np.full(3, 3.0)), 1.0)
    assert nmse(targets, targets) == 0.0
    np.testing.assert_allclose(nmse(10.0 * targets, 10.0 * targets + 1.0), 1.0 / np.var(10.0 * targets))


def test_the_width_is_that_of_a_grid_search_on_the_same_folds():
    fold = TINY.experiments[0].split(0, 0)
    folds = KFold(5, shuffle=True, random_state=7)
    search = GridSearchCV(Ridge(), {"alpha": RIDGE.choices}, cv=folds, scoring="neg_mean_squared_error").fit(*fold[:2])
    assert best_choice(Maker(RIDGE), Work(fold, 7)) == search.best_params_["alpha"]


def test_a_unit_tunes_unless_a_width_is_given():
    fold = TINY.experiments[0].split(0, 0)
    tuned = run_unit(Unit("one", 0, "ridge", "s"), RIDGE, Work(fold, 7))
    reused = run_unit(Unit("one", 0, "ridge", "s", choice=0.1), RIDGE, Work(fold, 7))
    assert (tuned.tuned, tuned.choice) == (True, best_choice(Maker(RIDGE), Work(fold, 7)))
    assert tuned.tuning_seconds > 0.0
    assert (reused.tuned, reused.choice, reused.tuning_seconds) == (False, 0.1, 0.0)
    expected = Ridge(alpha=0.1).fit(*fold[:2]).predict(fold.X_test)
    np.testing.assert_allclose(reused.error, nmse(fold.y_test, expected))
    assert reused.n_functions == 5


def test_a_failure_and_warnings_are_part_of_the_record():
    class Steep(LinearRegression):
        def fit(self, X, y):
            warnings.warn("steep", stacklevel=2)
            return super().fit(X, y)

    def broken(gamma):
        raise ZeroDivisionError("by nothing")

    fold = TINY.experiments[0].split(0, 0)
    failed = run_unit(Unit("one", 0, "plain", "s"), replace(PLAIN, make=broken), Work(fold, 7))
    assert (failed.error, failed.failure) == (None, "ZeroDivisionError: by nothing")
    warned = run_unit(Unit("one", 0, "plain", "s"), replace(PLAIN, make=lambda gamma: Steep()), Work(fold, 7))
    assert warned.warnings == ("steep",)
    assert warned.failure is None


def test_fits_see_one_thread():
    seen = []

    class Looking(LinearRegression):
        def fit(self, X, y):
            seen.append(_here.is_worker)
            return super().fit(X, y)

    run_unit(Unit("one", 0, "plain", "s"), replace(PLAIN, make=lambda gamma: Looking()), Work(TINY.experiments[0].split(0, 0), 7))
    assert set(seen) == {True}
    assert not getattr(_here, "is_worker", False)
    assert n_cores() >= 1


def test_the_gaussian_process_learns_on_some_rows_and_knows_all(rng):
    X, y, X_test, y_test = friedman2(rng, n_train=80)
    fold = scaled(X, y, X_test, y_test)
    model = LeanGaussianProcess(learn_on=50).fit(*fold[:2])
    assert len(model.X_train_) == 80
    assert nmse(fold.y_test, model.predict(fold.X_test)) < 0.3


def test_papers_have_neither_a_prior_on_the_size_nor_calibration():
    search = as_published(CriterionSearch(FastGCVRegressor("rbf"), {"tol": [1e-3]}))
    assert search.estimator.size_prior is None
    assert search.estimator.calibrate_std is False
    assert as_published(RelevanceVectorClassifier("rbf")).calibrate_proba is False
    assert as_published(Ridge(alpha=2.0)).alpha == 2.0


def test_makers_build_models_as_published():
    contender = replace(PLAIN, make=lambda choice: FastGCVRegressor("rbf"))
    assert Maker(contender)(None).size_prior is None
    assert Maker(contender, (0.0, 1.0))(None).regressor.calibrate_std is False
