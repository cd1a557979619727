"""How far predictions are from the test targets: the error that a paper prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats


@dataclass(frozen=True)
class Measure:
    """An error by name; `note` explains it below the tables, `spec` is how its numbers are written."""

    name: str
    of: Callable[[Floats, Floats], float]
    note: str
    spec: str = ".4f"


def mse(targets: Floats, predicted: Floats) -> float:
    """Mean squared error, in the squared units of the targets."""
    return float(np.mean((targets - predicted) ** 2))


def nmse(targets: Floats, predicted: Floats) -> float:
    """Mean squared error over the variance of the test targets."""
    return mse(targets, predicted) / float(np.var(targets))


NMSE = Measure("NMSE", nmse, "NMSE is the mean squared test error over the variance of the test targets")
MSE = Measure("MSE", mse, "MSE is the mean squared test error")
