"""Folds whose error is far above that of the others: a mean over the folds then says little about most rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skarce.comparison.cross_validation import MethodResult
from skarce.comparison.scores import CountScore, RegressionScore
from skarce.datasets import TargetKind

FAR_ABOVE = 2.5  # an RMSE of this many times the median of the other folds is worth a note; with normal noise, 1.5 is rare
FAR_OFF = 0.5  # ... if it is at least this share of the interquartile range of the target: tiny errors may differ by any factor
FEWEST_ROWS = 10  # errors of smaller folds differ by chance


class UnevenFold(NamedTuple):
    """A fold with a large error.

    Attributes
    ----------
    place : the number of the fold, from 0
    n_folds : the number of folds
    factor : its RMSE over the median of the other folds
    row : the row in it whose target is farthest from the median of all targets
    """

    place: int
    n_folds: int
    factor: float
    row: int


def uneven_fold(result: MethodResult, y: Any, tests: list[Any]) -> UnevenFold | None:
    """The worst fold of a method if its RMSE is far above the others; None for classes, which have no outliers in the target.

    `tests` are the test rows of each fold.
    """
    if result.error is not None or result.method.task.target is TargetKind.CLASSES or min(map(len, tests)) < FEWEST_ROWS:
        return None
    errors = np.array([score.rmse for score in result.scores if isinstance(score, (RegressionScore, CountScore))])
    worst = int(errors.argmax())
    usual = float(np.median(np.delete(errors, worst)))
    if usual <= 0.0 or errors[worst] < max(FAR_ABOVE * usual, FAR_OFF * float(np.subtract(*np.quantile(y, [0.75, 0.25])))):
        return None
    rows = np.asarray(tests[worst])
    return UnevenFold(worst, len(errors), float(errors[worst]) / usual, int(rows[np.abs(y[rows] - np.median(y)).argmax()]))
