"""How the rows of an experiment are drawn, and how their inputs are scaled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from skarce import datasets
from skarce._typing import Floats
from skarce.comparison import Fold

Parts = tuple[Floats, Floats, Floats, Floats]  # X and y for training, X and y for testing
Span = tuple[float, float]
UNIT: Span = (0.0, 1.0)


def scaled(X_train: Floats, y_train: Floats, X_test: Floats, y_test: Floats, input_range: Span = UNIT) -> Fold:
    """Scale inputs so that those of the training rows span `input_range`. Targets keep their units."""
    scaler = MinMaxScaler(input_range).fit(X_train)
    return Fold(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def of_unit_length(X_train: Floats, y_train: Floats, X_test: Floats, y_test: Floats) -> Fold:
    """Divide all inputs by one number, so that the mean squared length of the training rows is one."""
    length = np.sqrt(np.mean(np.einsum("ij,ij->i", X_train, X_train)))
    return Fold(X_train / length, y_train, X_test / length, y_test)


def random_rows(name: str, n_train: int) -> Callable[[np.random.Generator], Parts]:
    """A `draw` function: `n_train` random rows of a real table for training, all other rows for testing."""

    def draw(rng: np.random.Generator) -> Parts:
        X, y, *_ = datasets.load(name)
        order = rng.permutation(len(y))
        train, test = order[:n_train], order[n_train:]
        return X[train], y[train], X[test], y[test]

    return draw
