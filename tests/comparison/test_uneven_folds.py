"""Folds whose error is far above that of the others."""

import numpy as np
import pytest

from skarce.comparison import METHODS, REGRESSION, MethodResult
from skarce.comparison.scores import RegressionScore
from skarce.comparison.tasks import CLASSIFICATION
from skarce.comparison.uneven_folds import FAR_ABOVE, FEWEST_ROWS, uneven_fold

ROWS = [np.arange(start, start + 12) for start in range(0, 60, 12)]


def result_of(errors, error=None, task=REGRESSION):
    costs = {"n_functions": 1, "fit_seconds": 0.0, "predict_seconds": 0.0}
    scores = [RegressionScore(rmse=30.0 * rmse, r2=None, coverage=None, **costs) for rmse in errors]
    return MethodResult(METHODS[task]["frvm"], scores, error=error)


def test_the_fold_its_factor_and_its_farthest_target_are_named():
    y = np.arange(60.0)
    y[40] = 500.0
    found = uneven_fold(result_of([1.0, 2.0, 3.0, 40.0, 4.0]), y, ROWS)
    assert found == (3, 5, 40.0 / 2.5, 40)


@pytest.mark.parametrize(("worst", "is_noted"), [(1.01 * FAR_ABOVE, True), (0.99 * FAR_ABOVE, False), (0.0, False)])
def test_only_what_is_far_above_the_others_is_noted(worst, is_noted):
    assert (uneven_fold(result_of([1.0, worst, 1.0, 1.0, 1.0]), np.arange(60.0), ROWS) is not None) == is_noted


def test_small_folds_classes_failures_and_perfect_fits_are_not_noted():
    assert uneven_fold(result_of([1e-9, 1e-7, 1e-9, 1e-9, 1e-9]), np.arange(60.0), ROWS) is None
    errors, y = [1.0, 100.0, 1.0, 1.0, 1.0], np.arange(60.0)
    assert uneven_fold(result_of(errors), y, [rows[: FEWEST_ROWS - 1] for rows in ROWS]) is None
    assert uneven_fold(result_of(errors, error="it failed"), y, ROWS) is None
    assert uneven_fold(result_of(errors, task=CLASSIFICATION), y, ROWS) is None
    assert uneven_fold(result_of([0.0, 0.1, 0.0, 0.0, 0.0]), y, ROWS) is None
