"""The data of the part on classification: Ripley's mixture, Pima, and zeros among the digits of MNIST."""

from __future__ import annotations

import numpy as np

from skarce import datasets
from skarce.reproduce.runner.splits import Parts

MNIST_ROWS = (1000, 3000, 5000, 10_000)
N_FIRST = 500  # test images of the paper


def mnist_name(n_rows: int) -> str:
    return f"mnist-{n_rows}"


def ripley(rng: np.random.Generator) -> Parts:
    """100 random training rows, and all test rows."""
    train, test = datasets.load("synth_tr"), datasets.load("synth_te")
    rows = rng.permutation(len(train.y))[:100]
    return train.X[rows], train.y[rows], test.X, test.y


def pima(rng: np.random.Generator) -> Parts:
    """The given training and test rows. Nothing is random."""
    train, test = datasets.load("pima_tr"), datasets.load("pima_te")
    return train.X, train.y, test.X, test.y


def zeros(n_train: int, rng: np.random.Generator) -> Parts:
    """Images of zeros (class 1) and of other digits (class 0)."""
    digits = datasets.mnist()
    rows = rng.permutation(len(digits.y_train))[:n_train]
    labels, test_labels = (np.asarray(y == 0, dtype=np.float64) for y in (digits.y_train, digits.y_test))
    return digits.X_train[rows], labels[rows], digits.X_test, test_labels
