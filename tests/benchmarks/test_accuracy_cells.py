"""The numbers of a cell against slow formulas, and cells that fail, warn, or take too long."""

import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from benchmarks.accuracy.cells import Job, coverage, log_score, relative_rmse, run_cell, run_isolated
from benchmarks.accuracy.contenders import CONTENDERS, Contender, size_of
from benchmarks.accuracy.tables import TABLES
from skarce import RelevanceVectorRegressor
from skarce.comparison import METHODS, REGRESSION

JOB = Job("friedman2", 0, "frvm", 60, 0)


@pytest.fixture
def predicted(rng):
    y = 7.0 + 3.0 * rng.normal(size=200)
    return y, y + rng.normal(size=200), rng.uniform(0.2, 2.0, 200)


@pytest.fixture
def contend(monkeypatch):
    """Let another model run under the name of `frvm`."""

    def instead(make):
        monkeypatch.setitem(CONTENDERS, "frvm", Contender("frvm", "", lambda n_inputs, seed: make(), "functions"))

    return instead


def test_numbers_are_those_of_slow_formulas(predicted):
    y, mean, std = predicted
    average = sum(y) / len(y)
    spread = (sum((t - average) ** 2 for t in y) / len(y)) ** 0.5
    error = (sum((t - m) ** 2 for t, m in zip(y, mean, strict=True)) / len(y)) ** 0.5
    inside = [norm.ppf(0.025, m, s) <= t <= norm.ppf(0.975, m, s) for t, m, s in zip(y, mean, std, strict=True)]
    densities = [norm.logpdf(t / spread, m / spread, s / spread) for t, m, s in zip(y, mean, std, strict=True)]
    np.testing.assert_allclose(relative_rmse(y, mean), error / spread)
    np.testing.assert_allclose(coverage(y, mean, std), sum(inside) / len(y))
    np.testing.assert_allclose(log_score(y, mean, std), sum(densities) / len(y))


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_numbers_do_not_depend_on_units(predicted, factor):
    scaled = [factor * each for each in predicted]
    np.testing.assert_allclose(relative_rmse(*scaled[:2]), relative_rmse(*predicted[:2]))
    np.testing.assert_allclose(log_score(*scaled), log_score(*predicted))


def test_a_std_of_zero_has_a_finite_and_very_low_log_score(predicted):
    y, mean, std = predicted
    assert np.isfinite(log_score(y, mean, 0.0 * std))
    assert log_score(y, mean, 0.0 * std) < -1e6


def test_a_cell_holds_what_the_model_reaches():
    cell = run_cell(JOB)
    X, y, X_test, y_test = TABLES["friedman2"].parts(0, 60, 0)
    model = RelevanceVectorRegressor(random_state=0).fit(X, y)
    mean, std = model.predict(X_test, return_std=True)
    np.testing.assert_allclose(cell.rmse, relative_rmse(y_test, mean), rtol=1e-4)
    np.testing.assert_allclose(cell.coverage, coverage(y_test, mean, std), rtol=1e-4)
    np.testing.assert_allclose(cell.log_score, log_score(y_test, mean, std), rtol=1e-4)
    assert (cell.n_train, cell.n_test, cell.functions) == (60, 2000, len(model.active_))
    assert cell.failure is None


def test_a_cell_is_the_same_again():
    timeless = [replace(run_cell(JOB), fit_seconds=None, predict_seconds=None) for _ in range(2)]
    assert timeless[0] == timeless[1]


def test_what_has_no_std_has_no_coverage():
    cell = run_cell(JOB._replace(method="forest"))
    assert cell.rmse < 1.0
    assert (cell.coverage, cell.log_score) == (None, None)


class Failing(DummyRegressor):
    def fit(self, X, y):
        warnings.warn("steep\n  slope", stacklevel=2)
        raise ZeroDivisionError("by\nnothing")


class Lost(DummyRegressor):
    def predict(self, X):
        return np.full(len(X), np.nan)


def test_a_failure_and_warnings_are_part_of_the_cell(contend):
    contend(Failing)
    cell = run_cell(JOB)
    assert (cell.failure, cell.warnings, cell.rmse) == ("ZeroDivisionError: by nothing", ("steep slope",), None)
    contend(Lost)
    assert run_cell(JOB).failure == "FloatingPointError: a prediction is not finite"


def test_a_process_of_its_own_gives_the_same_cell_and_may_not_take_forever(monkeypatch):
    here, there = (replace(each, fit_seconds=None, predict_seconds=None) for each in (run_cell(JOB), run_isolated(JOB, 120.0)))
    assert here == there
    assert run_isolated(JOB, 0.01).failure == "it took longer than 0.01 seconds"
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    assert "its process ended with code 1" in run_isolated(JOB, 120.0).failure


def test_the_size_of_trees_is_their_leaves(rng):
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    assert size_of(forest) == sum((tree.tree_.children_left == -1).sum() for tree in forest.estimators_)
    stumps = HistGradientBoostingRegressor(max_iter=7, max_leaf_nodes=2, min_samples_leaf=1).fit(X, y)
    assert size_of(stumps) == 7 * 2


def test_every_class_of_the_registry_competes_with_its_defaults():
    ours = [contender.make(3, 5) for contender in CONTENDERS.values() if not contender.is_rival]
    assert {type(model) for model in ours} == {type(m.make()) for m in METHODS[REGRESSION].values() if not m.is_rival}
    for model in ours:
        seeded = {"random_state": 5} if "random_state" in model.get_params() else {}
        assert repr(model) == repr(type(model)(**seeded))


def test_other_parameters_are_other_settings(contend):
    before = CONTENDERS["frvm"].settings()
    contend(lambda: RelevanceVectorRegressor(random_state=0))
    assert CONTENDERS["frvm"].settings() == before
    contend(lambda: RelevanceVectorRegressor(random_state=0, tol=0.5))
    assert CONTENDERS["frvm"].settings() != before
