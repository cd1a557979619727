"""Errors that papers print: how far predictions are from the test targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from skarce._typing import Floats


@dataclass(frozen=True)
class Measure:
    """An error, its name, the `note` that explains it on the page, and the format `spec` of its numbers.

    `scoring` is scikit-learn's name of the score that decides between choices. `others` computes more numbers from the test
    targets and the predictions; they are recorded by name.
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
    """The percentage of rows whose predicted class is wrong."""
    return 100.0 * float(np.mean(labels != predicted))


NMSE = Measure("NMSE", nmse, "NMSE is the mean squared test error over the variance of the test targets")
MSE = Measure("MSE", mse, "MSE is the mean squared test error")
