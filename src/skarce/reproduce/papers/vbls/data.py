"""The data of the paper on variational least squares: what it generated, and stand-ins for what is not public."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skarce.reproduce.runner.paper import Parts

N_RELEVANT = 10
N_ITEMS, N_USERS, N_RATINGS, N_TRAIN = 355, 1412, 7249, 6524
N_NEURONS, N_MUSCLES = 71, 11


def mixed_inputs(n_redundant: int, n_irrelevant: int, r2: float) -> Callable[[np.random.Generator], Parts]:
    """Section 6.1: ten relevant inputs first, then convex combinations of them, then noise; test targets are exact."""

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
    """100 equidistant points with uniform noise; exact test targets at 1000 others."""
    X, X_test = np.linspace(-10.0, 10.0, 100)[:, None], rng.uniform(-10.0, 10.0, (1000, 1))
    return X, _sinc(X) + rng.uniform(-0.2, 0.2, 100), X_test, _sinc(X_test)


def _sinc(X: np.ndarray) -> np.ndarray:
    return np.sinc(X[:, 0] / np.pi)


def ratings(rng: np.random.Generator) -> Parts:
    """A stand-in for the sample of ratings: low-rank preferences, 1 to 5 stars, about 7200 of all pairs.

    The inputs of a rating are all other ratings of the same item by 1412 users and all others by the same user of 355 items, 0
    where there is none: 1767 numbers, nearly all of them zero.
    """
    taste, style = rng.normal(size=(N_USERS, 4)), rng.normal(size=(N_ITEMS, 4))
    opinion = 3.5 + 0.5 * rng.normal(size=(N_USERS, 1)) + 0.6 * rng.normal(size=(1, N_ITEMS)) + 0.35 * taste @ style.T
    stars = np.clip(np.rint(opinion + 0.7 * rng.normal(size=opinion.shape)), 1.0, 5.0)
    # Some users and items are in far more ratings than others.
    chances = np.multiply.outer(rng.gamma(0.5, size=N_USERS), rng.gamma(0.7, size=N_ITEMS)).ravel()
    pairs = rng.choice(chances.size, N_RATINGS, replace=False, p=chances / chances.sum())
    users, items = np.unravel_index(pairs, stars.shape)
    known = np.zeros(stars.shape)
    known[users, items] = stars[users, items]
    X, y = np.hstack([known[:, items].T, known[users]]), stars[users, items]
    rows = np.arange(N_RATINGS)
    X[rows, users] = X[rows, N_USERS + items] = 0.0  # the rating that is asked for
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]


def neurons(r2: float) -> Callable[[np.random.Generator, int], Parts]:
    """A stand-in for the recordings: 71 correlated firing rates, and a muscle that ten of them (the first ones) drive."""

    def draw(rng: np.random.Generator, muscle: int) -> Parts:
        n_train, n_test = 1160, 1160
        direction = rng.uniform(0.0, 2.0 * np.pi, n_train + n_test)
        speed = rng.gamma(4.0, 0.25, n_train + n_test)
        drive = np.column_stack([np.cos(direction) * speed, np.sin(direction) * speed, speed, np.ones_like(speed)])
        own = np.random.default_rng([muscle, N_MUSCLES])  # another set of neurons drives each muscle
        rates = drive @ own.normal(size=(4, N_NEURONS)) + rng.normal(size=(len(drive), N_NEURONS))
        X = np.maximum(rates + 1.0, 0.0)
        signal = X[:, :N_RELEVANT] @ own.normal(0.0, 1.0, N_RELEVANT)
        y = signal + signal.std() * np.sqrt(1.0 / r2 - 1.0) * rng.normal(size=len(signal))
        return X[:n_train], y[:n_train], X[n_train:], y[n_train:]

    return draw
