"""Losses of rows against the textbook functions of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import mean_poisson_deviance, root_mean_squared_error, zero_one_loss

from skarce.datasets import TargetKind
from skarce.report.losses import error_of_rows, row_losses, without_inputs


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (TargetKind.NUMBERS, root_mean_squared_error),
        (TargetKind.CLASSES, zero_one_loss),
        (TargetKind.COUNTS, mean_poisson_deviance),
    ],
)
def test_the_error_of_rows_is_that_of_the_textbook(rng, kind, expected):
    targets = rng.poisson(2.0, 60)
    predicted = rng.poisson(2.0, 60) if kind is TargetKind.CLASSES else rng.uniform(0.5, 4.0, 60)
    assert error_of_rows(kind, row_losses(kind, targets, predicted)) == pytest.approx(expected(targets, predicted))


def test_without_inputs_the_mean_or_the_most_frequent_class_is_predicted():
    assert without_inputs(TargetKind.NUMBERS, np.array([1.0, 2.0, 6.0])) == 3.0
    assert without_inputs(TargetKind.CLASSES, np.array(["a", "b", "b"])) == "b"
    assert np.isfinite(row_losses(TargetKind.COUNTS, np.array([0, 3]), 0.0)).all()
