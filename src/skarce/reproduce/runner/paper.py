"""What describes a paper: its experiments, the methods that it compares, and the numbers that it prints."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skarce.comparison import Fold
from skarce.reproduce.runner.measures import NMSE, Measure
from skarce.reproduce.runner.pair_tests import SIGNED_RANK, PairTest
from skarce.reproduce.runner.splits import UNIT, Parts, Span, of_unit_length, scaled

if TYPE_CHECKING:
    from skarce.reproduce.runner.findings import Finding

Pair = tuple[str, str]
Choice = float | tuple[float, ...]


@dataclass(frozen=True)
class Experiment:
    """Data that are split `n_repeats` times. The page shows `note` above the table of the experiment.

    `draw(rng)` returns X and y for training, then X and y for testing. Every repeat gets its own random numbers. If the repeats
    are `disjoint`, they must not share rows: then `draw(rng, repeat)` gets the same random numbers in every repeat, and the number
    of the repeat. `methods` names the contenders that take part; None means all of them. Inputs are scaled one by one, unless they
    are `commensurable` (the pixels of an image): then all are divided by the root mean square length of the training rows.
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
        """The split of one repeat, inputs scaled by the training rows. It does not depend on what ran before."""
        parts = self.draw(self.rng(0, seed), repeat) if self.disjoint else self.draw(self.rng(repeat, seed))
        return of_unit_length(*parts) if self.commensurable else scaled(*parts, input_range=input_range)

    def rng(self, repeat: int, seed: int) -> np.random.Generator:
        """Random numbers for one repeat of this experiment. No other repeat or experiment shares them."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode()), repeat])


@dataclass(frozen=True)
class Contender:
    """A method in the comparison. `make(choice)` builds an estimator for one of its `choices`.

    A choice is a kernel width, or a tuple of several parameters. Cross validation picks the best one. A method without `choices`
    needs no tuning; its `make` gets None.

    One method can pass on what it learned: `learned(model)` returns numbers, and each contender that `follows` this one is built
    by `make(choice, numbers)` in the same repeat. `extras` computes more numbers from a fitted model; they are recorded by name.
    `printed_as` is the paper's name for the method.
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
    """The paper's comparison of two methods on one data set: its p-value, and which method is better if the text says so."""

    pair: Pair
    p_value: float
    better: str | None = None


@dataclass(frozen=True)
class Printed:
    """The numbers that a paper prints for one method on one data set. `extras` has the same names as those of the contender."""

    error: float | None = None
    n_functions: float | None = None
    fit_seconds: float | None = None
    extras: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """The experiments and contenders of a paper, the numbers that it prints, and what our page shows.

    Inputs are scaled to `input_range` by the training rows. Targets are scaled to `target_range` if there is one; predictions are
    then scaled back, so that the error (the `measure` of the paper) is in the units of the targets.

    Each experiment runs as often as in the paper, unless `repeats` gives another number for it. Choices are compared on `n_folds`
    folds of the training rows, or of the first `tuning_rows` of them.

    What the paper says: `claims` are its comparisons by experiment, `printed` its numbers by experiment and method, `time_ratios`
    the range of the fit time of a method over that of the `baseline`, and `more_functions` the pairs of methods of which the
    first needs more functions than the second.

    What the page shows: `average` (``"median"`` or ``"mean"``) summarizes the repeats, `choice_heading` names the choices, and
    `notes` end the page. `overview` writes parts of the page from the findings of all experiments. `pictures` draw files into a
    folder, also from all findings, and return the file names. Each experiment has its own section and picture only if `in_detail`
    is true. If it is false, p-values are explained only if the overview `shows_p_values`.
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
    shows_p_values: bool = True

    def taking_part(self, experiment: Experiment) -> list[Contender]:
        """The contenders of one experiment."""
        return [c for c in self.contenders if experiment.methods is None or c.name in experiment.methods]

    def label(self, method: str) -> str:
        """The name of a method in tables and pictures."""
        return next(contender.label for contender in self.contenders if contender.name == method)
