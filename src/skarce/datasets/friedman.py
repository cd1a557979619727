"""Friedman's three functions (Friedman 1991): training targets have noise, test targets are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from skarce._typing import Floats

Parts = tuple[Floats, Floats, Floats, Floats]
NOISE_1, NOISE_2, NOISE_3 = 1.0, 125.0, 0.1  # standard deviations; in 2 and 3 a third of that of the signal (Friedman)
N_SEEDS = 2**31  # seeds are drawn from 0 to N_SEEDS - 1


def friedman1(rng: np.random.Generator, n_train: int = 240, n_test: int = 5000, noise: float = NOISE_1) -> Parts:
    """Ten inputs, five of which have no effect: X, y for training and X, y without noise for testing."""
    return _parts(make_friedman1, rng, n_train, n_test, noise)


def friedman2(rng: np.random.Generator, n_train: int = 200, n_test: int = 1000, noise: float = NOISE_2) -> Parts:
    """Impedance of a circuit, four inputs: X, y for training and X, y without noise for testing.

    >>> X, y, X_test, y_test = friedman2(np.random.default_rng(0))
    >>> X.shape, y_test.shape
    ((200, 4), (1000,))
    """
    return _parts(make_friedman2, rng, n_train, n_test, noise)


def friedman3(rng: np.random.Generator, n_train: int = 200, n_test: int = 1000, noise: float = NOISE_3) -> Parts:
    """Phase shift of a circuit, four inputs: X, y for training and X, y without noise for testing."""
    return _parts(make_friedman3, rng, n_train, n_test, noise)


def _parts(make: Callable[..., Any], rng: np.random.Generator, n_train: int, n_test: int, noise: float) -> Parts:
    train_seed, test_seed = (int(seed) for seed in rng.choice(N_SEEDS, size=2, replace=False))
    return (*make(n_train, noise=noise, random_state=train_seed), *make(n_test, random_state=test_seed))
