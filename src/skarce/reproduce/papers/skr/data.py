"""The simulated example of the paper on sparse kernel regression."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats
from skarce.reproduce.runner.splits import Parts


def true_mean(x: Floats) -> Floats:
    """1 + x + sin(2 pi x)."""
    return 1.0 + x + np.sin(2.0 * np.pi * x)


def simulated(rng: np.random.Generator) -> Parts:
    """100 rows with noise of unit variance for training, 100 others with their true mean for testing."""
    X, X_test = rng.uniform(size=(100, 1)), rng.uniform(size=(100, 1))
    return X, true_mean(X[:, 0]) + rng.normal(size=100), X_test, true_mean(X_test[:, 0])
