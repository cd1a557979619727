"""Cross-validation of several methods on one table."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import RepeatedKFold
from sklearn.preprocessing import StandardScaler

from skarce import RelevanceVectorRegressor, _width_learner
from skarce.comparison import METHODS, REGRESSION, Method, MethodResult, cross_validate
from skarce.comparison.scores import RegressionScore
from skarce.model_selection import learn_widths

LINEAR = Method("linear", REGRESSION, "least squares", LinearRegression)
RIDGE = Method("ridge", REGRESSION, "ridge", lambda: Ridge(alpha=50.0))


class Constant(DummyRegressor):
    """A mean that warns, and counts as no function."""

    active_ = ()
    category = ConvergenceWarning

    def fit(self, X, y):
        warnings.warn("far from settled", self.category, stacklevel=2)
        return super().fit(X, y)


class Failing(LinearRegression):
    """Fails from its second fit on."""

    n_fits = 0

    def fit(self, X, y):
        Failing.n_fits += 1
        if Failing.n_fits > 1:
            raise FloatingPointError("the bridge is out")
        return super().fit(X, y)


class Fixed(DummyRegressor):
    """A normal prediction of mean 0 and standard deviation 1, whatever the data."""

    active_ = ()

    def predict(self, X, return_std=False):
        mean = np.zeros(len(X))
        return (mean, np.ones(len(X))) if return_std else mean


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    return X, (2.0 * X["a"] - X["b"] + 0.2 * rng.normal(size=60)).to_numpy()


def run(table, *methods, cv=4, repeats=1, on_start=lambda method: None):
    splitter = RepeatedKFold(n_splits=cv, n_repeats=repeats, random_state=0)
    return cross_validate(*table, methods, StandardScaler(), splitter, on_start)


def test_scores_are_those_of_a_plain_loop_over_the_folds(table):
    X, y = table
    (result,) = run(table, RIDGE, repeats=2)
    expected = []
    for train, test in RepeatedKFold(n_splits=4, n_repeats=2, random_state=0).split(X):
        scaler = StandardScaler().fit(X.iloc[train])
        model = Ridge(alpha=50.0).fit(scaler.transform(X.iloc[train]), y[train])
        predicted = model.predict(scaler.transform(X.iloc[test]))
        expected.append((root_mean_squared_error(y[test], predicted), r2_score(y[test], predicted)))
    np.testing.assert_allclose([(score.rmse, score.r2) for score in result.scores], expected)
    np.testing.assert_allclose(result.mean("rmse"), np.mean(expected, axis=0)[0])
    np.testing.assert_allclose(result.std("r2"), np.std(expected, axis=0)[1])


def test_methods_come_back_best_first(table):
    results = run(table, Method("constant", REGRESSION, "", lambda: DummyFunctions()), RIDGE, LINEAR)
    assert [result.method.name for result in results] == ["linear", "ridge", "constant"]


class DummyFunctions(DummyRegressor):
    active_ = ()


def test_all_methods_see_the_same_folds(table):
    first, second = run(table, LINEAR, Method("again", REGRESSION, "", LinearRegression))
    assert [score.rmse for score in first.scores] == [score.rmse for score in second.scores]


def test_a_method_that_fails_comes_last_and_is_not_tried_again(table):
    Failing.n_fits = 0
    results = run(table, Method("failing", REGRESSION, "", Failing), LINEAR)
    assert [result.method.name for result in results] == ["linear", "failing"]
    assert results[1].error == "FloatingPointError: the bridge is out"
    assert len(results[1].scores) == 1
    assert Failing.n_fits == 2
    assert results[0].error is None
    assert len(results[0].scores) == 4


def test_an_interrupt_is_not_taken_for_a_failure(table):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(table, LINEAR, Method("slow", REGRESSION, "", interrupted))


def test_convergence_warnings_count_for_our_methods_only(table):
    ours, rival = Method("ours", REGRESSION, "", Constant), Method("rival", REGRESSION, "", Constant, is_rival=True)
    warned = {result.method.name: result.warnings for result in run(table, ours, rival)}
    assert warned == {"ours": ["far from settled"] * 4, "rival": []}


def test_other_warnings_of_rivals_are_kept(table, monkeypatch):
    monkeypatch.setattr(Constant, "category", RuntimeWarning)
    (result,) = run(table, Method("rival", REGRESSION, "", Constant, is_rival=True))
    assert len(result.warnings) == 4


def test_a_real_fit_that_stops_early_is_counted(table):
    (result,) = run(table, Method("short", REGRESSION, "", lambda: RelevanceVectorRegressor("rbf", max_iter=1)))
    assert len(result.warnings) == 4
    assert "step limit" in result.warnings[0]


def test_coverage_is_the_share_within_the_interval():
    y = np.array([0.0, 1.95, -1.97, 5.0] * 5)
    X = pd.DataFrame({"a": np.arange(20.0)})
    (result,) = run((X, y), Method("fixed", REGRESSION, "", Fixed), cv=2)
    np.testing.assert_allclose(np.average([score.coverage for score in result.scores]), 0.5)


def test_methods_without_std_have_no_coverage(table):
    (result,) = run(table, LINEAR)
    assert result.mean("coverage") is None
    assert result.mean("n_functions") == 3.0


def test_one_test_row_has_an_error_but_no_r2(table):
    X, y = table
    (result,) = run((X.iloc[:10], y[:10]), LINEAR, cv=10)
    assert result.mean("r2") is None
    assert result.mean("rmse") > 0.0
    assert not result.warnings


def test_every_fit_is_announced_also_those_skipped(table):
    Failing.n_fits = 0
    names = []
    run(table, Method("failing", REGRESSION, "", Failing), LINEAR, on_start=lambda method: names.append(method.name))
    assert names == ["failing", "linear"] * 4


def test_times_are_measured(table):
    (result,) = run(table, Method("frvm", REGRESSION, "", RelevanceVectorRegressor))
    assert 0.0 < result.median("predict_seconds") < 10.0
    assert 0.0 < result.median("fit_seconds") < 10.0


def test_a_result_is_ready_for_json():
    score = RegressionScore(rmse=1.0, r2=None, n_functions=3, fit_seconds=0.1, predict_seconds=0.2, coverage=None)
    result = MethodResult(LINEAR, [score], ["oh"], None)
    content = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert content["folds"] == [
        {"rmse": 1.0, "r2": None, "n_functions": 3, "fit_seconds": 0.1, "predict_seconds": 0.2, "coverage": None}
    ]
    assert (content["name"], content["is_rival"], content["warnings"], content["error"]) == ("linear", False, ["oh"], None)


def test_methods_share_widths_that_are_learned_once_for_each_fold(table, monkeypatch):
    calls = []

    def counted(X, y, **options):
        calls.append(len(X))
        return learn_widths(X, y, **options)

    monkeypatch.setattr(_width_learner, "_learner", counted)
    methods = [METHODS[REGRESSION][name] for name in ("frvm", "fgcv", "abf", "gps-be")]
    together = {result.method.name: result for result in run(table, *methods, cv=3)}
    assert calls == [40, 40, 40]
    (alone,) = run(table, methods[2], cv=3)
    assert [score.rmse for score in alone.scores] == [score.rmse for score in together["abf"].scores]
