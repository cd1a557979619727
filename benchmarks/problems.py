"""The problems: Friedman's functions with standardized inputs, a target of unit variance, rbf gamma 0.1 and an intercept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2

GAMMA = 0.1
N_TEST = 2000


@dataclass(frozen=True)
class Problem:
    """A data set with a name like ``friedman2-1000``."""

    generator: int
    n_rows: int
    repeats: int  # the same for every method
    evidence: tuple[float, float]  # range of the profiled log evidence over the settings of a first prototype

    @property
    def name(self) -> str:
        return f"friedman{self.generator}-{self.n_rows}"

    def load(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return X, y for training and X, y for testing. All are scaled by the training rows."""
        make, noise = (make_friedman1, 1.0) if self.generator == 1 else (make_friedman2, 125.0)
        X, y = make(self.n_rows + N_TEST, noise=noise, random_state=0)
        train, test = slice(0, self.n_rows), slice(self.n_rows, None)
        X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        y = (y - y[train].mean()) / y[train].std()
        return X[train], y[train], X[test], y[test]


PROBLEMS = [
    Problem(2, 200, 100, (-302.4, -299.3)),
    Problem(2, 1000, 10, (-2333.0, -2322.0)),
    Problem(2, 3000, 5, (-8557.0, -8531.0)),
    Problem(2, 10000, 3, (-34576.0, -34557.0)),
    Problem(1, 500, 3, (-987.0, -974.0)),
    Problem(1, 1000, 3, (-2149.0, -2135.0)),
    Problem(1, 2000, 3, (-4904.0, -4874.0)),
]


def by_name(name: str) -> Problem:
    return next(p for p in PROBLEMS if p.name == name)
