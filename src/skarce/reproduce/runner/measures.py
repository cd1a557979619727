"""How far predictions are from the test targets: the error that a paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from skarce._typing import Floats


@dataclass(frozen=True)
class Measure:
    """An error by name; `note` explains it below the tables, `spec` is how its numbers are written.

    `scoring` is scikit-learn's name for what decides between choices; `others` are further numbers from the same test targets and
    predictions that are recorded by name.
    """

    name: str
    of: Callable[[Floats, Floats], float]
    note: str
    spec: str = ".4f"
    scoring: str = "neg_mean_squared_error"
    others: Mapping[str, Callable[[Floats, Floats], float]] = field(default_factory=dict)


def mse(targets: Floats, predicted: Floats) -> float:
    """Mean squared error, in the squared units of the targets."""
    return float(np.mean((targets - predicted) ** 2))


def nmse(targets: Floats, predicted: Floats) -> float:
    """Mean squared error over the variance of the test targets."""
    return mse(targets, predicted) / float(np.var(targets))


def error_rate(labels: Floats, predicted: Floats) -> float:
    """The share of rows for which another class was predicted, in per cent."""
    return 100.0 * float(np.mean(labels != predicted))


NMSE = Measure("NMSE", nmse, "NMSE is the mean squared test error over the variance of the test targets")
MSE = Measure("MSE", mse, "MSE is the mean squared test error")
