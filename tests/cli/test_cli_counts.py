"""Counts on the command line: compare, fit, predict, explain."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance

from skarce import RelevanceVectorPoissonRegressor
from skarce.comparison import COUNTS, METHODS, Fold
from skarce.comparison.scores import count_score
from tests.cli.commands import assert_one_line, run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"hour": rng.uniform(0, 24, 150), "kind": rng.choice(["work", "rest"], 150)})
    frame["rides"] = rng.poisson(np.exp(1.0 + np.sin(frame["hour"] / 24 * 2 * np.pi)))
    frame.to_csv("rides.csv", index=False)
    return frame


def test_compare_ranks_by_the_poisson_deviance(table):
    result = run("compare", "rides.csv", "--target", "rides", "--task", "counts", "--cv", "3", "--json", "out.json")
    assert result.exit_code == 0
    assert "deviance" in result.stdout
    stored = json.loads(Path("out.json").read_text())
    assert {method["name"] for method in stored["methods"]} == set(METHODS[COUNTS])
    means = [np.mean([fold["deviance"] for fold in method["folds"]]) for method in stored["methods"]]
    assert means == sorted(means)


def test_counts_are_never_guessed(table):
    result = run("compare", "rides.csv", "--target", "rides", "--cv", "2", "--methods", "frvm")
    assert "deviance" not in result.stdout


def test_small_numbers_that_are_taken_for_classes_get_a_hint(table):
    table.assign(rides=table["rides"] % 3).to_csv("small.csv", index=False)
    result = run("compare", "small.csv", "--target", "rides", "--cv", "2", "--methods", "logistic")
    assert "use --task regression or --task counts" in " ".join(result.stderr.split())
    table.assign(rides=np.r_[[4], table["rides"][1:] % 3]).to_csv("rare.csv", index=False)
    assert_one_line(run("compare", "rare.csv", "--target", "rides"), "holds counts or other numbers, use --task")


def test_fit_predict_and_explain_speak_of_counts(table):
    fitted = run("fit", "rides.csv", "--target", "rides", "--task", "counts", "--out", "model.skops")
    assert "D2" in fitted.stdout
    assert "log rate" in run("explain", "model.skops").stdout
    assert run("predict", "model.skops", "rides.csv", "--out", "new.csv").exit_code == 0
    predicted = pd.read_csv("new.csv")
    assert (predicted["rides_mean"] > 0.0).all()
    assert (predicted["rides_std"] > np.sqrt(predicted["rides_mean"])).all()  # the rate is uncertain too
    assert_one_line(run("predict", "model.skops", "rides.csv", "--std", "augmented", "--out", "other.csv"), "predicts counts")


def test_counts_that_cannot_be_are_named(table):
    table.assign(rides=table["rides"] - 3).to_csv("negative.csv", index=False)
    first = int(np.flatnonzero(table["rides"] < 3)[0])
    result = run("fit", "negative.csv", "--target", "rides", "--task", "counts", "--out", "model.skops")
    assert_one_line(result, "counts must not be negative", f"{table['rides'][first] - 3:g}")
    table.assign(rides=0).to_csv("zero.csv", index=False)
    assert_one_line(run("fit", "zero.csv", "--target", "rides", "--task", "counts", "--out", "model.skops"), "are zero")


def test_methods_of_other_tasks_are_refused(table):
    result = run("compare", "rides.csv", "--target", "rides", "--task", "counts", "--methods", "svr")
    assert_one_line(result, "svr", "frvm, rvm, poisson, splines")


@pytest.mark.parametrize("fit", [RelevanceVectorPoissonRegressor("rbf").fit, PoissonRegressor().fit])
def test_a_score_is_that_of_the_predictions(fit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = rng.poisson(np.exp(1.0 + 0.5 * X[:, 0]))
    score = count_score(fit, Fold(X[:60], y[:60], X[60:], y[60:]))
    expected = fit(X[:60], y[:60]).predict(X[60:])
    assert score.deviance == pytest.approx(mean_poisson_deviance(y[60:], expected))
    assert score.d2 == pytest.approx(d2_tweedie_score(y[60:], expected, power=1))
    assert (score.coverage is None) == (fit.__self__.__class__ is PoissonRegressor)


def test_the_coverage_of_counts_is_that_of_predict_interval():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = rng.poisson(np.exp(-0.5 + 0.9 * X[:, 0]))
    fold = Fold(X[:150], y[:150], X[150:], y[150:])
    model = RelevanceVectorPoissonRegressor("rbf").fit(fold.X_train, fold.y_train)
    lower, upper = model.predict_interval(fold.X_test)
    expected = np.mean((lower <= fold.y_test) & (fold.y_test <= upper))
    mean, std = model.predict(fold.X_test, return_std=True)
    assert np.mean(np.abs(fold.y_test - mean) <= 1.96 * std) != expected  # so this test can tell the two apart
    assert count_score(model.fit, fold).coverage == expected


def test_a_rate_of_zero_has_a_finite_deviance():
    class Zero:
        coef_ = np.zeros(1)

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    score = count_score(Zero().fit, Fold(np.zeros((2, 1)), np.ones(2), np.zeros((2, 1)), np.ones(2)))
    assert np.isfinite(score.deviance)
    assert score.d2 is None
