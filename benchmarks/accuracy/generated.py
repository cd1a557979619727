"""Generated tables: each function draws training and test rows. Test rows have noise, too, so that intervals can be judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from benchmarks.traps import DEPTHS, LEAK, SITES, TARGET, traps
from skarce.datasets.friedman import N_SEEDS, NOISE_1, NOISE_2, NOISE_3

N_TEST = 2000
Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator, int], Parts]
N_GRID, GRID_REPEATS = 14, 4  # values of the gridded input, and rows at each setting
OUTLIER = 20.0  # standard deviations of the noise


def friedman(number: int) -> Draw:
    make, noise = {1: (make_friedman1, NOISE_1), 2: (make_friedman2, NOISE_2), 3: (make_friedman3, NOISE_3)}[number]

    def draw(rng: np.random.Generator, n_train: int) -> Parts:
        return cut(make(n_train + N_TEST, noise=noise, random_state=int(rng.integers(N_SEEDS))), n_train)

    return draw


def additive(rng: np.random.Generator, n_train: int) -> Parts:
    """Twenty inputs, five of which matter, each by itself."""
    X = rng.uniform(-1.0, 1.0, (n_train + N_TEST, 20))
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.8 * X[:, 3] + np.exp(X[:, 4]) / 2.0
    return cut((X, y + rng.normal(0.0, 0.3, len(y))), n_train)


def grid(rng: np.random.Generator, n_train: int) -> Parts:
    """A gridded input, one value of which is not in the training rows; repeated settings; one training target is an outlier."""
    left_out, noise = int(rng.integers(1, N_GRID - 1)), 0.1
    inside = np.delete(np.arange(N_GRID), left_out)
    settings = np.c_[rng.choice(inside, -(-n_train // GRID_REPEATS)), rng.uniform(size=(-(-n_train // GRID_REPEATS), 2))]
    X = np.repeat(settings, GRID_REPEATS, axis=0)[:n_train]
    X_test = np.c_[rng.choice(N_GRID, N_TEST), rng.uniform(size=(N_TEST, 2))]
    y, y_test = (_waves(each) + rng.normal(0.0, noise, len(each)) for each in (X, X_test))
    y[rng.integers(n_train)] += OUTLIER * noise
    return X, y, X_test, y_test


def _waves(X: np.ndarray) -> np.ndarray:
    return np.sin(X[:, 0] / 2.0) + X[:, 0] * X[:, 1] / N_GRID + np.cos(3.0 * X[:, 2])


def step(rng: np.random.Generator, n_train: int) -> Parts:
    """Two jumps and a corner: functions with a width are not made for them, trees are."""
    X = rng.uniform(-1.0, 1.0, (n_train + N_TEST, 4))
    y = (X[:, 0] > 0.2) + 0.5 * (X[:, 1] > -0.3) + ((X[:, 2] > 0.0) & (X[:, 3] > 0.0))
    return cut((X, y + rng.normal(0.0, 0.1, len(y))), n_train)


def heavy_tails(rng: np.random.Generator, n_train: int) -> Parts:
    """A smooth function with noise of Student's t, three degrees of freedom."""
    X = rng.uniform(-1.0, 1.0, (n_train + N_TEST, 5))
    y = np.sin(4.0 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    return cut((X, y + 0.3 * rng.standard_t(3, len(y))), n_train)


def trapped(with_leak: bool) -> Draw:
    """The table of `benchmarks.traps`; one depth is not in the training rows, and the outlier is there only."""

    def draw(rng: np.random.Generator, n_train: int) -> Parts:
        known = np.delete(DEPTHS, rng.integers(1, len(DEPTHS) - 1))
        frames = traps(rng, n_train, depths=known), traps(rng, N_TEST, n_outliers=0)
        (X, y), (X_test, y_test) = (_numbers(frame, with_leak) for frame in frames)
        return X, y, X_test, y_test

    return draw


def _numbers(frame: Any, with_leak: bool) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, with one column of zeros and ones per site, and the target."""
    inputs = frame.drop(columns=["site", TARGET] + ([] if with_leak else [LEAK])).to_numpy(dtype=float)
    return np.c_[inputs, frame["site"].to_numpy()[:, None] == list(SITES)], frame[TARGET].to_numpy(dtype=float)


def cut(table: tuple[np.ndarray, np.ndarray], n_train: int) -> Parts:
    """The first rows for training, the others for testing."""
    X, y = table
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]
