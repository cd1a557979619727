"""The least piece of work: one method on one repeat of one experiment, on one thread."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import MinMaxScaler

from skarce._parallel import one_thread
from skarce.comparison.cross_validation import Fold
from skarce.comparison.registry import count_functions
from skarce.reproduce.runner.measures import NMSE, Measure
from skarce.reproduce.runner.paper import Choice, Contender, Span

QUICK_FIT = 0.1  # seconds; a fit that takes less is timed as the best of several
FITS_TIMED = 3


@dataclass(frozen=True)
class Unit:
    """One method on one repeat. `choice` is what to use of the contender's choices; None says that it looks for it."""

    experiment: str
    repeat: int
    method: str
    settings: str  # a digest: what was computed under other settings is another result
    choice: Choice | None = None


@dataclass(frozen=True)
class Record:
    """What came out. `error` is the test error, `failure` says why there is none; times but `seconds` are CPU time."""

    experiment: str
    repeat: int
    method: str
    settings: str
    tuned: bool
    choice: Choice | None = None
    error: float | None = None
    n_functions: int | None = None
    tuning_seconds: float = 0.0
    fit_seconds: float | None = None
    extras: Mapping[str, float] = field(default_factory=dict)
    learned: tuple[float, ...] | None = None
    seconds: float = 0.0  # wall time of all of it
    warnings: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        return self.experiment, self.repeat, self.method


@dataclass(frozen=True)
class Work:
    """One split, and how the methods on it are judged: what all units of one repeat share.

    `fold_seed` seeds the folds on which choices are compared; they are folds of the first `tuning_rows` training rows, or of all.
    """

    fold: Fold
    fold_seed: int
    measure: Measure = NMSE
    target_range: Span | None = None
    n_folds: int = 5
    tuning_rows: int | None = None


def run_units(
    units: Sequence[Unit], contenders: Mapping[str, Contender], work: Work, learned: Mapping[str, tuple[float, ...]]
) -> list[Record]:
    """Run units of one repeat in this order; `learned` is what earlier ones have learned, and later ones are given."""
    known, records = dict(learned), []
    for unit in units:
        record = run_unit(unit, contenders[unit.method], work, known.get(contenders[unit.method].follows or ""))
        if record.learned is not None:
            known[unit.method] = record.learned
        records.append(record)
    return records


def run_unit(unit: Unit, contender: Contender, work: Work, given: tuple[float, ...] | None = None) -> Record:
    """Tune where no choice is given, fit, and judge on the test rows; an exception is part of the record."""
    started = time.perf_counter()
    record = Record(unit.experiment, unit.repeat, unit.method, unit.settings, tuned=unit.choice is None, choice=unit.choice)
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            maker = Maker(contender, work.target_range, given)
            record = _fitted(_tuned(record, maker, work), maker, work)
        except Exception as error:
            record = replace(record, failure=f"{type(error).__name__}: {error}")
    said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(record, warnings=said, seconds=time.perf_counter() - started)


@dataclass(frozen=True)
class Maker:
    """Makes the estimators of a contender on one split: with what it is given to start from, and for targets in user units."""

    contender: Contender
    target_range: Span | None = None
    given: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.contender.follows is not None and self.given is None:
            raise LookupError(f"{self.contender.follows} has learned nothing that {self.contender.name} could start from")

    def __call__(self, choice: Choice | None) -> Any:
        given = () if self.contender.follows is None else (self.given,)
        model = self.contender.make(choice, *given)
        if self.target_range is None:
            return model
        return TransformedTargetRegressor(model, transformer=MinMaxScaler(self.target_range))


def best_choice(make: Maker, work: Work) -> Choice:
    """The choice with the least error over folds of the training rows, the same folds for every method and choice."""
    X, y = work.fold.X_train[: work.tuning_rows], work.fold.y_train[: work.tuning_rows]
    folds = KFold(work.n_folds, shuffle=True, random_state=work.fold_seed)
    choices = make.contender.choices
    scores = [cross_val_score(make(choice), X, y, cv=folds, scoring=work.measure.scoring).mean() for choice in choices]
    return choices[int(np.nanargmax(scores))]


def _tuned(record: Record, make: Maker, work: Work) -> Record:
    if not record.tuned or not make.contender.choices:
        return record
    with _cpu_time() as spent:
        choice = best_choice(make, work)
    return replace(record, choice=choice, tuning_seconds=spent[0])


def _fitted(record: Record, make: Maker, work: Work) -> Record:
    model, seconds = _timed_fit(make, record.choice, work.fold)
    predicted = model.predict(work.fold.X_test)
    error = work.measure.of(work.fold.y_test, predicted)
    if not np.isfinite(error):
        raise FloatingPointError("the test error is not finite")
    inner = model.regressor_ if isinstance(model, TransformedTargetRegressor) and make.target_range is not None else model
    learned = make.contender.learned
    return replace(
        record,
        error=error,
        n_functions=count_functions(model),
        fit_seconds=seconds,
        extras={name: float(number(inner)) for name, number in make.contender.extras.items()}
        | {name: float(number(work.fold.y_test, predicted)) for name, number in work.measure.others.items()},
        learned=None if learned is None else tuple(map(float, learned(inner))),
    )


def _timed_fit(make: Maker, choice: Choice | None, fold: Fold) -> tuple[Any, float]:
    """The model and its CPU time; quick fits are made several times, so that the first does not pay for warming up."""
    times: list[float] = []
    while not times or (times[0] < QUICK_FIT and len(times) < FITS_TIMED):
        with _cpu_time() as spent:
            model = make(choice).fit(fold.X_train, fold.y_train)
        times += spent
    return model, min(times)


@contextmanager
def _cpu_time() -> Iterator[list[float]]:
    """A list that holds the CPU seconds of the body when it has ended."""
    spent: list[float] = []
    started = time.process_time()
    yield spent
    spent.append(time.process_time() - started)
