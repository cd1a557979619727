"""Generated tables with the inputs that mislead a search for widths: grids, zeros, categories and heavy tails."""

from __future__ import annotations

import numpy as np

Table = tuple[np.ndarray, np.ndarray]


def hulls(n: int, seed: int) -> Table:
    """Drag of 22 hulls at 14 speeds on a grid: it grows steeply with the speed, and the five numbers of a hull matter little."""
    rng = np.random.default_rng(seed)
    shapes = rng.normal(size=(22, 5)).round(1)
    hull, speed = rng.integers(22, size=n), np.linspace(0.125, 0.45, 14)[rng.integers(14, size=n)]
    drag = 60.0 * np.exp(14.0 * (speed - 0.45)) * (1.0 + 0.1 * shapes[hull, 0] - 0.05 * shapes[hull, 1] * shapes[hull, 2])
    return np.column_stack([shapes[hull], speed]), drag + rng.normal(0.0, 0.2, n)


def wings(n: int, seed: int) -> Table:
    """Noise of a wing: a peak over 21 frequencies on a logarithmic grid that moves with three gridded inputs."""
    rng = np.random.default_rng(seed)
    frequency = 200.0 * 10.0 ** (0.1 * rng.integers(21, size=n))
    angle = rng.choice([0.0, 1.5, 2.0, 3.0, 4.0, 5.3, 7.3, 9.5, 12.6, 15.4], n)
    chord = rng.choice([2.5, 5.0, 10.0, 15.0, 23.0, 30.0], n)
    speed = rng.choice([31.7, 39.6, 55.5, 71.3], n)
    thickness = 0.02 * chord**0.5 * (1.0 + 0.2 * angle) + 1e-3 * rng.choice(100, n)
    peak = 3.4 - 0.6 * np.log10(chord / 2.5) - 0.03 * angle + 0.5 * np.log10(speed / 31.7)
    level = 130.0 - 12.0 * np.abs(np.log10(frequency) - peak) ** 1.5 + 20.0 * np.log10(speed / 71.3) - 4.0 * thickness
    return np.column_stack([frequency, angle, chord, speed, thickness]), level + rng.normal(0.0, 1.5, n)


def mixtures(n: int, seed: int) -> Table:
    """Strength of mixtures: three of seven parts are zero in about half of the rows, and the age is on a grid with a long tail."""
    rng = np.random.default_rng(seed)
    binder, water = rng.uniform(100, 540, n), rng.normal(182, 21, n)
    extras = rng.uniform([0, 0, 0], [360, 200, 32], (n, 3)) * (rng.random((n, 3)) < 0.5)
    rest = rng.normal([973, 774], [78, 80], (n, 2))
    days = [1, 3, 7, 14, 28, 56, 90, 91, 100, 120, 180, 270, 360, 365]
    often = np.array([1, 13, 12, 6, 41, 9, 5, 2, 5, 1, 2, 1, 1, 1], dtype=float)
    age = rng.choice(days, n, p=often / often.sum())
    ratio = (binder + 0.8 * extras[:, 0] + 0.4 * extras[:, 1]) / water
    strength = 14.0 * ratio * (np.log1p(age) / np.log(29.0)) ** 0.7 + 0.3 * extras[:, 2] - 0.01 * (rest[:, 1] - 774)
    X = np.column_stack([binder, extras[:, :2], water, extras[:, 2], rest, age])
    return X, strength + rng.normal(0.0, 4.0, n)


def rentals(n: int, seed: int) -> Table:
    """Rentals by hour: hour, month, weekday, two flags, a category in three columns, and three weather readings."""
    rng = np.random.default_rng(seed)
    hour, month, weekday = rng.integers(24, size=n), rng.integers(1, 13, size=n), rng.integers(7, size=n)
    holiday = (rng.random(n) < 0.03).astype(float)
    works = ((weekday < 5) & (holiday == 0.0)).astype(float)
    sky = np.eye(3)[rng.choice(3, n, p=[0.65, 0.27, 0.08])]
    warmth = 0.5 - 0.35 * np.cos(2 * np.pi * (month - 1) / 12) + 0.08 * rng.normal(size=n)
    wet, wind = rng.beta(4, 3, n), rng.gamma(2.0, 0.1, n)
    rush = np.exp(-0.5 * (hour - 8.0) ** 2) + 1.2 * np.exp(-0.5 * (hour - 17.5) ** 2 / 2.0)
    leisure = np.exp(-0.5 * (hour - 14.0) ** 2 / 12.0)
    level = 2.0 + 1.8 * np.where(works > 0.0, rush + 0.4 * leisure, 1.3 * leisure) + 2.0 * warmth - 0.8 * sky[:, 2] - 0.5 * wet
    X = np.column_stack([hour, month, weekday, holiday, works, sky, warmth, wet, wind])
    return X.astype(float), level + rng.normal(0.0, 0.35, n)


def tails(n: int, seed: int) -> Table:
    """Inputs with heavy tails, whole numbers, and one that does not matter; the target follows their logarithms."""
    rng = np.random.default_rng(seed)
    heavy = np.exp(1.5 * rng.normal(size=(n, 3)))
    counts = rng.geometric(0.2, size=(n, 2)).astype(float)
    far = rng.standard_t(2.0, n)
    level = np.log(heavy[:, 0]) + np.sin(np.log(heavy[:, 1])) + 0.5 * np.log(counts[:, 0]) * (counts[:, 1] > 4.0)
    return np.column_stack([heavy, counts, far]), level + rng.normal(0.0, 0.3, n)


TABLES = {"hulls": hulls, "wings": wings, "mixtures": mixtures, "rentals": rentals, "tails": tails}
