"""A cell of the board: one contender on one split of one table, on one thread.

``python -m benchmarks.accuracy.cells JOB`` runs a cell in a process of its own and prints it; both are JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.contenders import CONTENDERS, size_of
from benchmarks.accuracy.tables import TABLES
from skarce._parallel import one_thread
from skarce.comparison.scores import gives_std, normal_interval

ROOT = Path(__file__).parents[2]
DIGITS = 5  # of the numbers that are kept
LEAST_STD = 1e-9  # as a share of the std of the target; with a std of zero the log score is minus infinity


class Job(NamedTuple):
    """What names a cell, and what its result depends on."""

    table: str
    split: int
    method: str
    rows: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A result. Errors are in units of the standard deviation of the test targets; times are CPU seconds; None if there is none."""

    table: str
    split: int
    method: str
    settings: str
    n_train: int | None = None
    n_test: int | None = None
    rmse: float | None = None
    functions: int | None = None
    coverage: float | None = None
    log_score: float | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    warnings: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        return self.table, self.split, self.method


def relative_rmse(y: np.ndarray, mean: np.ndarray) -> float:
    """The root mean squared error over the standard deviation of the targets: 1 for their mean, 0 for a perfect prediction."""
    return float(np.sqrt(np.mean((y - mean) ** 2)) / y.std())


def coverage(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """The share of targets within the 95 % interval."""
    lower, upper = normal_interval(mean, std, 0.95)
    return float(np.mean((lower <= y) & (y <= upper)))


def log_score(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """The mean log density of the targets, in units of their standard deviation, under normal predictions. Larger is better."""
    scale = y.std()
    std = np.maximum(std / scale, LEAST_STD)
    return float(np.mean(-0.5 * ((y - mean) / scale / std) ** 2 - np.log(std) - 0.5 * np.log(2.0 * np.pi)))


def run_cell(job: Job) -> Cell:
    """Fit and judge. An exception becomes part of the cell, and so do warnings."""
    cell = Cell(table=job.table, split=job.split, method=job.method, settings=CONTENDERS[job.method].settings())
    with one_thread(), threadpool_limits(1, "openmp"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            cell = _judged(cell, job)
        except Exception as error:
            cell = replace(cell, failure=f"{type(error).__name__}: {' '.join(str(error).split())}")
    return replace(cell, warnings=tuple(dict.fromkeys(" ".join(str(each.message).split()) for each in caught)))


def _judged(cell: Cell, job: Job) -> Cell:
    X, y, X_test, y_test = TABLES[job.table].parts(job.split, job.rows, job.seed)
    made = CONTENDERS[job.method].make(X.shape[1], job.seed)
    fit_seconds, model = _timed(lambda: made.fit(X, y))
    predict_seconds, mean = _timed(lambda: model.predict(X_test))
    if not np.isfinite(mean).all():
        raise FloatingPointError("a prediction is not finite")
    found = {"rmse": relative_rmse(y_test, mean)}
    if gives_std(model):
        std = model.predict(X_test, return_std=True)[1]
        found |= {"coverage": coverage(y_test, mean, std), "log_score": log_score(y_test, mean, std)}
    found |= {"fit_seconds": fit_seconds, "predict_seconds": predict_seconds}
    rounded: dict[str, Any] = {name: float(f"{value:.{DIGITS}g}") for name, value in found.items()}
    return replace(cell, n_train=len(y), n_test=len(y_test), functions=size_of(model), **rounded)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def run_isolated(job: Job, limit: float) -> Cell:
    """The same in a process of its own: one that dies, or takes longer than `limit` seconds, is a failure of this cell alone."""
    command = [sys.executable, "-m", "benchmarks.accuracy.cells", json.dumps(job)]
    failed = Cell(table=job.table, split=job.split, method=job.method, settings=CONTENDERS[job.method].settings())
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return replace(failed, failure=f"it took longer than {limit:g} seconds")
    if done.returncode != 0:
        return replace(failed, failure=f"its process ended with code {done.returncode}: {done.stderr.strip()[-200:]}")
    return cell_of(json.loads(done.stdout.splitlines()[-1]))


def cell_of(content: dict[str, Any]) -> Cell:
    """A cell from parsed JSON."""
    return Cell(**{**content, "warnings": tuple(content["warnings"])})


if __name__ == "__main__":
    print(json.dumps(asdict(run_cell(Job(*json.loads(sys.argv[1]))))))
