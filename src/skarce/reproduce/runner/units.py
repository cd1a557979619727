"""The smallest piece of work: one method on one repeat of one experiment, on one thread."""

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
from skarce.comparison import Fold, count_functions
from skarce.reproduce.runner.measures import NMSE, Measure
from skarce.reproduce.runner.paper import Choice, Contender
from skarce.reproduce.runner.splits import Span

ADDED = {"size_prior": None, "calibrate_std": False, "calibrate_proba": False}  # to the papers, and how it is left out
QUICK_FIT = 0.1  # seconds; a faster fit is timed several times, and the best time counts
FITS_TIMED = 3


@dataclass(frozen=True)
class Unit:
    """One method on one repeat. `choice` is the one of the contender's choices to use; None means that it is tuned."""

    experiment: str
    repeat: int
    method: str
    settings: str  # a digest; results under other settings do not count
    choice: Choice | None = None


@dataclass(frozen=True)
class Record:
    """The result of a unit. `error` is the test error; `failure` says why there is none. Times are CPU times, except `seconds`."""

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
    seconds: float = 0.0  # wall time of the whole unit
    warnings: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        return self.experiment, self.repeat, self.method


@dataclass(frozen=True)
class Work:
    """What all units of one repeat share: the split, and how methods are tuned and judged on it.

    `fold_seed` seeds the folds on which choices are compared. The folds are made of the first `tuning_rows` training rows, or of
    all training rows if it is None.
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
    """Run units of one repeat in this order. `learned` holds the numbers that methods pass on, and grows with every unit."""
    known, records = dict(learned), []
    for unit in units:
        record = run_unit(unit, contenders[unit.method], work, known.get(contenders[unit.method].follows or ""))
        if record.learned is not None:
            known[unit.method] = record.learned
        records.append(record)
    return records


def run_unit(unit: Unit, contender: Contender, work: Work, given: tuple[float, ...] | None = None) -> Record:
    """Tune if no choice is given, fit, and compute the test error. An exception becomes part of the record."""
    started = time.perf_counter()
    record = Record(unit.experiment, unit.repeat, unit.method, unit.settings, tuned=unit.choice is None, choice=unit.choice)
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            maker = Maker(contender, work.target_range, given)
            record = _fitted(_tuned(record, maker, work), maker, work)
        except Exception as error:
            record = replace(record, failure=f"{type(error).__name__}: {error}")
    messages = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(record, warnings=messages, seconds=time.perf_counter() - started)


@dataclass(frozen=True)
class Maker:
    """Builds the estimators of a contender on one split. `given` are the numbers learned by the contender that this one follows.

    If there is a `target_range`, the estimator scales its targets, so that it can be used with targets in their own units.
    """

    contender: Contender
    target_range: Span | None = None
    given: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.contender.follows is not None and self.given is None:
            raise LookupError(f"{self.contender.follows} learned nothing that {self.contender.name} could start from")

    def __call__(self, choice: Choice | None) -> Any:
        given = () if self.contender.follows is None else (self.given,)
        model = as_published(self.contender.make(choice, *given))
        if self.target_range is None:
            return model
        return TransformedTargetRegressor(model, transformer=MinMaxScaler(self.target_range))


def as_published(model: Any) -> Any:
    """Return the model without what our defaults add to the methods of the papers, also inside a pipeline or a search."""
    added = {path: ADDED[name] for path in model.get_params() if (name := path.split("__")[-1]) in ADDED}
    return model.set_params(**added)


def best_choice(make: Maker, work: Work) -> Choice:
    """The choice with the best mean score over folds of the training rows. All methods and choices use the same folds."""
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
    """The model and the CPU time of its fit. A quick fit is repeated, so that warming up is not part of the time."""
    times: list[float] = []
    while not times or (times[0] < QUICK_FIT and len(times) < FITS_TIMED):
        with _cpu_time() as spent:
            model = make(choice).fit(fold.X_train, fold.y_train)
        times += spent
    return model, min(times)


@contextmanager
def _cpu_time() -> Iterator[list[float]]:
    """A list that will contain the CPU seconds of the body, once it has ended."""
    spent: list[float] = []
    started = time.process_time()
    yield spent
    spent.append(time.process_time() - started)
