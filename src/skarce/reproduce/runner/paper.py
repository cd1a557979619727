"""What an experiment of a paper is: data that can be drawn again and again, methods in competition, and printed numbers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from skarce import datasets
from skarce._typing import Floats
from skarce.comparison.cross_validation import Fold
from skarce.reproduce.runner.measures import NMSE, Measure
from skarce.reproduce.runner.pair_tests import SIGNED_RANK, PairTest

if TYPE_CHECKING:
    from skarce.reproduce.runner.findings import Finding

Parts = tuple[Floats, Floats, Floats, Floats]
Pair = tuple[str, str]
Span = tuple[float, float]
Choice = float | tuple[float, ...]
UNIT: Span = (0.0, 1.0)


@dataclass(frozen=True)
class Experiment:
    """Data to be split `n_repeats` times. `draw` gives X, y for training and X, y for testing; `note` is for the tables.

    `draw` is given random numbers of its own for every repeat. Repeats that must not share rows are `disjoint`: then it is given
    the same random numbers for all of them, and the number of the repeat. `methods` names the contenders that take part, where
    not all do. Inputs that are `commensurable` (all pixels of an image) are divided by one number, the root mean square length of
    the training rows, where others are scaled one by one.
    """

    name: str
    title: str
    n_repeats: int
    draw: Callable[..., Parts]
    note: str = ""
    disjoint: bool = False
    methods: tuple[str, ...] | None = None
    commensurable: bool = False

    def split(self, repeat: int, seed: int, input_range: Span = UNIT) -> Fold:
        """The split of one repeat, inputs scaled by the training rows; the same whatever ran before."""
        parts = self.draw(self.rng(0, seed), repeat) if self.disjoint else self.draw(self.rng(repeat, seed))
        return of_unit_length(*parts) if self.commensurable else scaled(*parts, input_range=input_range)

    def rng(self, repeat: int, seed: int) -> np.random.Generator:
        """Random numbers of one repeat of this experiment and of no other."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode()), repeat])


@dataclass(frozen=True)
class Contender:
    """A method: `make(choice)` gives an estimator for one of its `choices`: kernel widths, or tuples of several parameters.

    The choice is made by cross validation. Without `choices` the method finds all by itself, and `make` is given None.

    What a method has learned may serve others in the same repeat: `learned(model)` gives the numbers, and a contender that
    `follows` this one is made by `make(choice, numbers)`. `extras` are further numbers of a fitted model that are recorded by
    name; `printed_as` is the paper's name for the method.
    """

    name: str
    title: str
    make: Callable[..., Any]
    choices: tuple[Choice, ...] = ()
    learned: Callable[[Any], Sequence[float]] | None = None
    follows: str | None = None
    extras: Mapping[str, Callable[[Any], float]] = field(default_factory=dict)
    printed_as: str | None = None

    @property
    def label(self) -> str:
        return self.printed_as or self.name.upper()


@dataclass(frozen=True)
class Claim:
    """What a paper says of a pair of methods on one data set: the p-value, and which is better where the text tells."""

    pair: Pair
    p_value: float
    better: str | None = None


@dataclass(frozen=True)
class Printed:
    """The numbers that a paper prints for one method on one data set; `extras` by the names that the contender gives them."""

    error: float | None = None
    n_functions: float | None = None
    fit_seconds: float | None = None
    extras: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """Experiments and contenders of a paper, and what it printed.

    Inputs are scaled to `input_range` by the training rows, and so are targets where there is a `target_range`; predictions are
    scaled back, and the error, by the `measure` of the paper, is one in the units of the targets.

    `repeats` says how often to repeat an experiment where that is not as often as the paper did. `claims` holds the paper's
    comparisons by experiment, `printed` its numbers by experiment and method, `time_ratios` the range it gives for the fit time
    of a method over that of the `baseline`, and `more_functions` pairs of methods of which the first is said to need more
    functions than the second. `average` says what the numbers of the tables are over repeats, ``"median"`` or ``"mean"``;
    `choice_heading` is what the choices are called there. Choices are compared on `n_folds` folds of the training rows,
    or of the first `tuning_rows` of them.

    `overview` makes parts of the page from what was found on all experiments, and `pictures` draw into a folder, from the same,
    and give the names of their files. Where the experiments are not `in_detail`, they have no sections and pictures each, and what
    an overview `tells_p_values` of is explained.
    """

    name: str
    title: str
    reference: str
    experiments: tuple[Experiment, ...]
    contenders: tuple[Contender, ...]
    measure: Measure = NMSE
    pair_test: PairTest = SIGNED_RANK
    input_range: Span = UNIT
    target_range: Span | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    printed: Mapping[str, Mapping[str, Printed]] = field(default_factory=dict)
    baseline: str | None = None
    time_ratios: Mapping[str, Span] = field(default_factory=dict)
    more_functions: tuple[Pair, ...] = ()
    average: str = "median"
    choice_heading: str = "gamma"
    n_folds: int = 5
    tuning_rows: int | None = None
    notes: tuple[str, ...] = ()
    overview: Callable[[Sequence[Finding]], list[str]] | None = None
    pictures: tuple[Callable[[Sequence[Finding], Path], list[str]], ...] = ()
    in_detail: bool = True
    tells_p_values: bool = True

    def taking_part(self, experiment: Experiment) -> list[Contender]:
        """The contenders of one experiment."""
        return [c for c in self.contenders if experiment.methods is None or c.name in experiment.methods]

    def label(self, method: str) -> str:
        """What a method is called in tables."""
        return next(contender.label for contender in self.contenders if contender.name == method)


def scaled(X_train: Floats, y_train: Floats, X_test: Floats, y_test: Floats, input_range: Span = UNIT) -> Fold:
    """Inputs scaled so that those of the training rows span a range; targets stay in their own units."""
    scaler = MinMaxScaler(input_range).fit(X_train)
    return Fold(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def of_unit_length(X_train: Floats, y_train: Floats, X_test: Floats, y_test: Floats) -> Fold:
    """All inputs divided by one number, so that the squares of a training row sum to one in the mean."""
    length = np.sqrt(np.mean(np.einsum("ij,ij->i", X_train, X_train)))
    return Fold(X_train / length, y_train, X_test / length, y_test)


def random_rows(name: str, n_train: int) -> Callable[[np.random.Generator], Parts]:
    """Draws `n_train` rows of a real table for training; the others are for testing."""

    def draw(rng: np.random.Generator) -> Parts:
        X, y, *_ = datasets.load(name)
        order = rng.permutation(len(y))
        train, test = order[:n_train], order[n_train:]
        return X[train], y[train], X[test], y[test]

    return draw
