"""The data of the paper on variational least squares: its generated data, and stand-ins for what is not public."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skarce._typing import Floats
from skarce.reproduce.runner.splits import Parts

N_RELEVANT = 10
N_ITEMS, N_USERS, N_RATINGS, N_TRAIN = 355, 1412, 7249, 6524
N_NEURONS, N_MUSCLES = 71, 11

MIXTURES = ((0, 90), (30, 60), (60, 30), (90, 0))  # numbers of redundant and of irrelevant inputs
NOISES = (0.9, 0.8)  # r2, the share of the variance that the signal explains
NEURON_NOISES = (0.3, 0.6, 0.9)


def synthetic_name(n_redundant: int, n_irrelevant: int, r2: float) -> str:
    return f"mixed-{n_redundant}-{n_irrelevant}-{r2:g}"


def neurons_name(r2: float) -> str:
    return f"neurons-{r2:g}"


def mixed_inputs(n_redundant: int, n_irrelevant: int, r2: float) -> Callable[[np.random.Generator], Parts]:
    """Section 6.1: ten relevant inputs, then convex combinations of them, then noise. Test targets are exact."""

    def draw(rng: np.random.Generator) -> Parts:
        n_train, n_test = 1000, 2000
        n = n_train + n_test
        relevant = rng.normal(size=(n, N_RELEVANT))
        shares = rng.random((N_RELEVANT, n_redundant))
        X = np.hstack([relevant, relevant @ (shares / shares.sum(axis=0)), rng.normal(size=(n, n_irrelevant))])
        signal = relevant @ rng.normal(0.0, 10.0, N_RELEVANT)
        y = signal[:n_train] + signal.std() * np.sqrt(1.0 / r2 - 1.0) * rng.normal(size=n_train)
        return X[:n_train], y, X[n_train:], signal[n_train:]

    return draw


def sinc(rng: np.random.Generator) -> Parts:
    """100 equidistant points with uniform noise for training, exact targets at 1000 others for testing."""
    X, X_test = np.linspace(-10.0, 10.0, 100)[:, None], rng.uniform(-10.0, 10.0, (1000, 1))
    return X, exact_sinc(X) + rng.uniform(-0.2, 0.2, 100), X_test, exact_sinc(X_test)


def exact_sinc(X: Floats) -> Floats:
    """sin(x) / x."""
    return np.sinc(X[:, 0] / np.pi)


def ratings(rng: np.random.Generator) -> Parts:
    """A stand-in for the sample of ratings: low-rank preferences, 1 to 5 stars, known for about 7200 pairs of user and item.

    The inputs of a rating are all other ratings of the same item (by 1412 users) and all other ratings by the same user (of 355
    items). An unknown rating is 0. So there are 1767 inputs, and nearly all of them are zero.
    """
    taste, style = rng.normal(size=(N_USERS, 4)), rng.normal(size=(N_ITEMS, 4))
    opinion = 3.5 + 0.5 * rng.normal(size=(N_USERS, 1)) + 0.6 * rng.normal(size=(1, N_ITEMS)) + 0.35 * taste @ style.T
    stars = np.clip(np.rint(opinion + 0.7 * rng.normal(size=opinion.shape)), 1.0, 5.0)
    # Some users and items have far more ratings than others.
    chances = np.multiply.outer(rng.gamma(0.5, size=N_USERS), rng.gamma(0.7, size=N_ITEMS)).ravel()
    pairs = rng.choice(chances.size, N_RATINGS, replace=False, p=chances / chances.sum())
    users, items = np.unravel_index(pairs, stars.shape)
    known = np.zeros(stars.shape)
    known[users, items] = stars[users, items]
    X, y = np.hstack([known[:, items].T, known[users]]), stars[users, items]
    rows = np.arange(N_RATINGS)
    X[rows, users] = X[rows, N_USERS + items] = 0.0  # the rating to predict
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]


def neurons(r2: float) -> Callable[[np.random.Generator, int], Parts]:
    """A stand-in for the recordings: 71 correlated firing rates, and a muscle that is driven by the first ten of them."""

    def draw(rng: np.random.Generator, muscle: int) -> Parts:
        n_train, n_test = 1160, 1160
        direction = rng.uniform(0.0, 2.0 * np.pi, n_train + n_test)
        speed = rng.gamma(4.0, 0.25, n_train + n_test)
        drive = np.column_stack([np.cos(direction) * speed, np.sin(direction) * speed, speed, np.ones_like(speed)])
        own = np.random.default_rng([muscle, N_MUSCLES])  # each muscle has its own neurons
        rates = drive @ own.normal(size=(4, N_NEURONS)) + rng.normal(size=(len(drive), N_NEURONS))
        X = np.maximum(rates + 1.0, 0.0)
        signal = X[:, :N_RELEVANT] @ own.normal(0.0, 1.0, N_RELEVANT)
        y = signal + signal.std() * np.sqrt(1.0 / r2 - 1.0) * rng.normal(size=len(signal))
        return X[:n_train], y[:n_train], X[n_train:], y[n_train:]

    return draw
