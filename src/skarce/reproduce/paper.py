"""What an experiment of a paper is: data that can be drawn again and again, methods in competition, and printed numbers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from skarce import datasets
from skarce._typing import Floats
from skarce.comparison import Fold

Parts = tuple[Floats, Floats, Floats, Floats]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Experiment:
    """Data to be split `n_repeats` times. `draw` gives X, y for training and X, y for testing; `note` is for the tables."""

    name: str
    title: str
    n_repeats: int
    draw: Callable[[np.random.Generator], Parts]
    note: str = ""

    def split(self, repeat: int, seed: int) -> Fold:
        """The split of one repeat, inputs scaled to [0, 1] by the training rows; the same whatever ran before."""
        return scaled(*self.draw(self.rng(repeat, seed)))

    def rng(self, repeat: int, seed: int) -> np.random.Generator:
        """Random numbers of one repeat of this experiment and of no other."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode()), repeat])


@dataclass(frozen=True)
class Contender:
    """A method: `make(gamma)` gives an estimator for a kernel width. Without `widths` it learns its own, and gamma is None."""

    name: str
    title: str
    make: Callable[[float | None], Any]
    widths: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        return self.name.upper()


@dataclass(frozen=True)
class Claim:
    """What a paper says of a pair of methods on one data set: the p-value, and which is better where the text tells."""

    pair: Pair
    p_value: float
    better: str | None = None


@dataclass(frozen=True)
class Paper:
    """Experiments and contenders of a paper, and what it printed.

    `repeats` says how often to repeat an experiment where that is not as often as the paper did. `claims` holds the paper's
    comparisons by experiment, `time_ratios` the range it gives for the fit time of a method over that of the `baseline`, and
    `more_functions` pairs of methods of which the first is said to need more functions than the second.
    """

    name: str
    title: str
    reference: str
    experiments: tuple[Experiment, ...]
    contenders: tuple[Contender, ...]
    repeats: Mapping[str, int] = field(default_factory=dict)
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    baseline: str | None = None
    time_ratios: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    more_functions: tuple[Pair, ...] = ()
    notes: tuple[str, ...] = ()


def scaled(X_train: Floats, y_train: Floats, X_test: Floats, y_test: Floats) -> Fold:
    """Inputs scaled so that those of the training rows span [0, 1]; targets stay in their own units."""
    scaler = MinMaxScaler().fit(X_train)
    return Fold(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def random_rows(name: str, n_train: int) -> Callable[[np.random.Generator], Parts]:
    """Draws `n_train` rows of a real table for training; the others are for testing."""

    def draw(rng: np.random.Generator) -> Parts:
        X, y, *_ = datasets.load(name)
        order = rng.permutation(len(y))
        train, test = order[:n_train], order[n_train:]
        return X[train], y[train], X[test], y[test]

    return draw
