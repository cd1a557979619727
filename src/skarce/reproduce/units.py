"""The least piece of work: one method on one repeat of one experiment, on one thread."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, cross_val_score

from skarce._parallel import one_thread
from skarce._typing import Floats
from skarce.comparison import Fold
from skarce.registry import count_functions
from skarce.reproduce.paper import Contender

N_FOLDS = 5
QUICK_FIT = 0.1  # seconds; a fit that takes less is timed as the best of several
FITS_TIMED = 3


@dataclass(frozen=True)
class Unit:
    """One method on one repeat. `gamma` is the width to use; None says that the method looks for it."""

    experiment: str
    repeat: int
    method: str
    settings: str  # a digest: what was computed under other settings is another result
    gamma: float | None = None


@dataclass(frozen=True)
class Record:
    """What came out. `error` is the test error, `failure` says why there is none; times but `seconds` are CPU time."""

    experiment: str
    repeat: int
    method: str
    settings: str
    tuned: bool
    gamma: float | None = None
    error: float | None = None
    n_functions: int | None = None
    tuning_seconds: float = 0.0
    fit_seconds: float | None = None
    seconds: float = 0.0  # wall time of all of it
    warnings: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        return self.experiment, self.repeat, self.method


def nmse(targets: Floats, predicted: Floats) -> float:
    """Mean squared error over the variance of the test targets."""
    return float(np.mean((targets - predicted) ** 2) / np.var(targets))


def run_unit(unit: Unit, contender: Contender, fold: Fold, fold_seed: int) -> Record:
    """Tune where no width is given, fit, and judge on the test rows; an exception is part of the record."""
    started = time.perf_counter()
    record = Record(unit.experiment, unit.repeat, unit.method, unit.settings, tuned=unit.gamma is None, gamma=unit.gamma)
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = _fitted(_tuned(record, contender, fold, fold_seed), contender, fold)
        except Exception as error:
            record = replace(record, failure=f"{type(error).__name__}: {error}")
    said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(record, warnings=said, seconds=time.perf_counter() - started)


def best_width(contender: Contender, X: Floats, y: Floats, fold_seed: int) -> float:
    """The width with the least error over five folds of the training rows, the same folds for every method and width."""
    folds = KFold(N_FOLDS, shuffle=True, random_state=fold_seed)
    scores = [
        cross_val_score(contender.make(width), X, y, cv=folds, scoring="neg_mean_squared_error").mean()
        for width in contender.widths
    ]
    return contender.widths[int(np.nanargmax(scores))]


def _tuned(record: Record, contender: Contender, fold: Fold, fold_seed: int) -> Record:
    if not record.tuned or not contender.widths:
        return record
    with _cpu_time() as spent:
        gamma = best_width(contender, fold.X_train, fold.y_train, fold_seed)
    return replace(record, gamma=gamma, tuning_seconds=spent[0])


def _fitted(record: Record, contender: Contender, fold: Fold) -> Record:
    model, seconds = _timed_fit(contender, record.gamma, fold)
    error = nmse(fold.y_test, model.predict(fold.X_test))
    if not np.isfinite(error):
        raise FloatingPointError("the test error is not finite")
    return replace(record, error=error, n_functions=count_functions(model), fit_seconds=seconds)


def _timed_fit(contender: Contender, gamma: float | None, fold: Fold) -> tuple[Any, float]:
    """The model and its CPU time; quick fits are made several times, so that the first does not pay for warming up."""
    times: list[float] = []
    while not times or (times[0] < QUICK_FIT and len(times) < FITS_TIMED):
        with _cpu_time() as spent:
            model = contender.make(gamma).fit(fold.X_train, fold.y_train)
        times += spent
    return model, min(times)


@contextmanager
def _cpu_time() -> Iterator[list[float]]:
    """A list that holds the CPU seconds of the body when it has ended."""
    spent: list[float] = []
    started = time.process_time()
    yield spent
    spent.append(time.process_time() - started)
