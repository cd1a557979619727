"""What the cells say: means over splits, ranks, ratios to the best, and one row for each contender and role."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.tables import TABLES


@dataclass(frozen=True)
class Grid:
    """One number for every table and contender: the mean over splits, or NaN if there is none or if any split failed."""

    tables: tuple[str, ...]
    methods: tuple[str, ...]
    values: np.ndarray  # tables x methods

    def row(self, table: str) -> dict[str, float]:
        return dict(zip(self.methods, self.values[self.tables.index(table)].tolist(), strict=True))

    def column(self, method: str) -> np.ndarray:
        return self.values[:, self.methods.index(method)]


@dataclass(frozen=True)
class Standing:
    """A contender over the tables of one role. Numbers are NaN if there are none."""

    method: str
    mean_rank: float
    median_ratio: float
    mean_ratio: float
    n_best: int
    functions: float
    coverage: float
    least_coverage: float
    log_score: float
    fit_seconds: float
    predict_seconds: float
    n_warned: int  # cells with warnings
    n_failed: int


def grid_of(cells: Iterable[Cell], name: str) -> Grid:
    """The means of one number over splits, in the order of the board."""
    cells = list(cells)
    tables = tuple(table for table in TABLES if any(cell.table == table for cell in cells))
    methods = tuple(method for method in CONTENDERS if any(cell.method == method for cell in cells))
    found: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        value = getattr(cell, name)
        found.setdefault((cell.table, cell.method), []).append(np.nan if value is None else value)
    return Grid(tables, methods, np.array([[np.mean(found.get((t, m), [np.nan])) for m in methods] for t in tables]))


def ranks(errors: np.ndarray) -> np.ndarray:
    """Ranks in every row from 1 for the least, means for ties. Those without an error share the last places."""
    return rankdata(np.where(np.isnan(errors), np.inf, errors), axis=1)


def ratios(errors: np.ndarray) -> np.ndarray:
    """Errors over the least one of their row; NaN stays NaN."""
    return errors / np.fmin.reduce(errors, axis=1, keepdims=True)


def geometric_mean(values: np.ndarray) -> float:
    """The geometric mean of the numbers that are not NaN."""
    return float(np.exp(np.mean(np.log(known)))) if len(known := values[~np.isnan(values)]) else float("nan")


def standings(cells: Sequence[Cell]) -> list[Standing]:
    """One row for each contender, by mean rank."""
    errors = grid_of(cells, "rmse")
    places, shares = ranks(errors.values), ratios(errors.values)
    means = {name: grid_of(cells, name) for name in ("functions", "coverage", "log_score", "fit_seconds", "predict_seconds")}
    rows = [
        Standing(
            method,
            mean_rank=float(places[:, place].mean()),
            median_ratio=_over(np.median, shares[:, place]),
            mean_ratio=geometric_mean(shares[:, place]),
            n_best=int(np.sum(shares[:, place] == 1.0)),
            functions=_over(np.median, means["functions"].column(method)),
            coverage=_over(np.mean, means["coverage"].column(method)),
            least_coverage=_over(np.min, means["coverage"].column(method)),
            log_score=_over(np.median, means["log_score"].column(method)),
            fit_seconds=_over(np.median, means["fit_seconds"].column(method)),
            predict_seconds=_over(np.median, means["predict_seconds"].column(method)),
            n_warned=sum(cell.method == method and bool(cell.warnings) for cell in cells),
            n_failed=sum(cell.method == method and cell.failure is not None for cell in cells),
        )
        for place, method in enumerate(errors.methods)
    ]
    return sorted(rows, key=lambda row: row.mean_rank)


def of_role(cells: Iterable[Cell], role: str) -> list[Cell]:
    return [cell for cell in cells if TABLES[cell.table].role == role]


def best_of(row: dict[str, float], *, rivals: bool) -> tuple[str, float] | None:
    """The contender with the least error of a table, among rivals or among ours."""
    found = {name: value for name, value in row.items() if CONTENDERS[name].is_rival is rivals and not np.isnan(value)}
    return min(found.items(), key=lambda item: item[1]) if found else None


def _over(statistic: Callable[[np.ndarray], Any], values: np.ndarray) -> float:
    """A statistic of the numbers that are not NaN, or NaN if there are none."""
    known = values[~np.isnan(values)]
    return float(statistic(known)) if len(known) else float("nan")
