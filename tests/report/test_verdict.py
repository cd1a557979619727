"""Verdicts over results made by hand."""

import numpy as np
import pytest

from skarce.comparison import CLASSIFICATION, REGRESSION, Method, MethodResult
from skarce.comparison.scores import ClassScore, RegressionScore
from skarce.report.verdict import optimism, standard_error, verdict


def result(name, errors, n_functions=10, *, is_rival=False, seconds=0.001, error=None):
    costs = {"n_functions": n_functions, "fit_seconds": 0.1, "predict_seconds": seconds}
    scores = [RegressionScore(rmse=each, r2=None, coverage=None, **costs) for each in errors]
    return MethodResult(Method(name, REGRESSION, name, object, is_rival=is_rival), scores, error=error)


STEADY = [1.0, 1.1, 0.9, 1.0, 1.0]
NEARLY = [1.02, 1.05, 0.98, 0.97, 1.03]  # its mean is 0.01 above, with differences of both signs
WORSE = [2.0, 2.1, 1.9, 2.0, 2.05]


def test_a_clear_winner():
    found = verdict([result("a", STEADY), result("b", WORSE, 2)], 5, 9.0)
    assert found.best == found.shown == "a"
    assert found.level == ("a",)
    assert "a predicts best (RMSE 1)" in found.sentence
    assert "beyond the spread" in found.sentence
    assert any("speak for b" in change for change in found.changes)


def test_a_smaller_model_within_the_spread_is_offered():
    found = verdict([result("a", STEADY, 20), result("b", NEARLY, 10), result("c", WORSE, 1)], 5, 9.0)
    assert found.level == ("a", "b")
    assert "b is within the spread of the folds with 10 functions in place of 20: choose it if size matters" in found.sentence


@pytest.mark.parametrize("n_functions", [17, 40])
def test_a_model_that_is_hardly_smaller_is_not_offered(n_functions):
    found = verdict([result("a", STEADY, 20), result("b", NEARLY, n_functions)], 5, 9.0)
    assert "if size matters" not in found.sentence
    assert "b is within the spread" in found.sentence


def test_a_faster_method_within_the_spread_is_mentioned():
    found = verdict([result("a", STEADY, seconds=0.1), result("b", NEARLY, seconds=0.01)], 5, 9.0)
    assert any("time to predict" in change and "b" in change for change in found.changes)


def test_a_rival_wins_and_ours_is_shown():
    found = verdict([result("gp", STEADY, 90, is_rival=True), result("frvm", WORSE, 5)], 5, 9.0)
    assert (found.best, found.shown) == ("gp", "frvm")
    assert any("must be sparse: frvm" in change for change in found.changes)


def test_no_method_beats_the_mean():
    found = verdict([result("a", STEADY), result("b", WORSE)], 5, 0.95)
    assert found.sentence.startswith("No method predicts better than the mean of the target")


def test_all_failed_and_all_others_failed():
    failed = result("b", [], error="ValueError: no")
    assert verdict([failed], 5, 1.0).best is None
    assert "all others failed" in verdict([result("a", STEADY), failed], 5, 9.0).sentence
    assert "nothing else was compared" in verdict([result("a", STEADY)], 5, 9.0).sentence


def test_the_levels_need_not_be_neighbors_in_the_ranking():
    wild = [0.2, 3.4, 0.3, 3.1, 3.2]  # worse on average, and too uneven to be told apart
    steadily = [1.5, 1.6, 1.4, 1.5, 1.5]
    found = verdict([result("a", STEADY), result("b", steadily), result("c", wild)], 5, 9.0)
    assert found.level == ("a", "c")
    assert any("speak for b:" in change for change in found.changes)


def test_errors_of_classes_are_percentages():
    costs = {"n_functions": 3, "fit_seconds": 0.1, "predict_seconds": 0.1}
    scores = [ClassScore(error=error, accuracy=1 - error, log_loss=1.0, brier=1.0, **costs) for error in (0.1, 0.2)]
    found = verdict([MethodResult(Method("a", CLASSIFICATION, "", object), scores)], 2, 0.5)
    assert "error rate 15.0 %" in found.sentence


def test_the_standard_error_allows_for_shared_training_rows():
    differences = np.array([0.1, -0.2, 0.3, 0.0, 0.05])
    n_train, n_test = 80, 20  # of five folds: Nadeau and Bengio add n_test / n_train to 1 / 5
    expected = np.sqrt((1 / 5 + n_test / n_train) * differences.var(ddof=1))
    assert standard_error(differences, 5) == pytest.approx(expected)


def test_optimism_is_how_far_the_winner_is_above_the_best_of_each_fold():
    results = [result("a", [1.0, 2.0]), result("b", [1.5, 1.9]), result("c", [3.0, 1.0])]
    assert optimism(results) == pytest.approx(((1.0 - 1.0) + (2.0 - 1.0)) / 2)
