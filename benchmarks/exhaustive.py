"""How often do searches find the best set of at most four functions? ``python -m benchmarks.exhaustive``.

`Exhaustive` says which set is best, by the same criterion. The shortfall is the mean difference in the score: nats of evidence, or
n/2 log(V / best V) for generalized cross validation. No search may find a better set than `Exhaustive`: if one does, the benchmark
says by how much, and fails.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import scale

from benchmarks.__main__ import machine
from skarce import KernelBasis, SparseRegressor
from skarce.criteria import GCV, Criterion, ExplainedVariance, IndividualEvidence, SharedEvidence, SharedGCV
from skarce.searches import (
    Backward,
    BestAction,
    Exhaustive,
    Floating,
    Forward,
    GreedyBatches,
    Oscillating,
    PlusTakeAway,
    Search,
)

MAX_SIZE, N_ROWS, N_PROBLEMS = 4, 80, 20
ROUNDING = 1e-6  # of a score: a search that is better by more has beaten `Exhaustive`
CRITERIA: tuple[Criterion, ...] = (IndividualEvidence(), SharedEvidence(), GCV(), SharedGCV(), ExplainedVariance())
SEARCHES: tuple[Search, ...] = (
    Forward(16, 0.0, share=0.3),
    BestAction(),
    GreedyBatches(),
    PlusTakeAway(2, 1),
    Floating(),
    Oscillating(5),
    Backward(),
)


class Problem(NamedTuple):
    """Rows, targets and candidates."""

    X: Any
    y: Any
    basis: Any


def correlated_inputs(seed: int) -> Problem:
    """16 inputs that resemble their neighbors (0.9), six of which matter."""
    rng = np.random.default_rng(seed)
    distance = np.abs(np.subtract.outer(np.arange(16), np.arange(16)))
    X = rng.multivariate_normal(np.zeros(16), 0.9**distance, N_ROWS)
    weights = np.zeros(16)
    weights[rng.choice(16, 6, replace=False)] = rng.choice([-1.0, 1.0], 6)
    return Problem(X, X @ weights + 0.5 * rng.normal(size=N_ROWS), "passthrough")


def kernels(seed: int) -> Problem:
    """20 Gaussian kernels in one input."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10.0, 10.0, (N_ROWS, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=N_ROWS)
    return Problem(X, y, KernelBasis(gamma=0.1, centers=np.linspace(-10.0, 10.0, 20)[:, None]))


def friedman(seed: int) -> Problem:
    """24 Gaussian kernels at rows of Friedman's first function."""
    X, y = make_friedman1(N_ROWS, noise=1.0, random_state=seed)
    return Problem(scale(X), y, KernelBasis(gamma=0.1, centers=scale(X)[:24]))


PROBLEMS = {"correlated inputs": correlated_inputs, "kernels in one input": kernels, "kernels in ten inputs": friedman}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exhaustive", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--problems", type=int, default=N_PROBLEMS, help="problems of each kind (default: %(default)s)")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=170)
    record: dict[str, Any] = {"machine": machine(), "kinds": {}}
    for kind, make in PROBLEMS.items():
        console.print(f"{kind} ...", style="dim")
        record["kinds"][kind] = [compare([make(seed) for seed in range(arguments.problems)], c) for c in CRITERIA]
    console.print(table_of(record["kinds"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "exhaustive.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "exhaustive.txt", "w") as file:
        Console(file=file, width=170).print(table_of(record["kinds"]))
    console.print(f"written to {folder}")
    beaten = beaten_by(record["kinds"])
    if beaten:
        sys.exit("better than Exhaustive: " + "; ".join(beaten))


def beaten_by(kinds: dict[str, Any]) -> list[str]:
    """Return the searches that were better than `Exhaustive` on some problem, and by how much."""
    return [
        f"{name} by {measured['surplus']:.2g} ({kind}, {row['criterion']})"
        for kind, rows in kinds.items()
        for row in rows
        for name, measured in row["searches"].items()
        if measured["surplus"] > ROUNDING
    ]


def compare(problems: list[Problem], criterion: Criterion) -> dict[str, Any]:
    """Return how often each search has found the best set, how much it lacks on average, and how much more it has at most."""
    begin = time.perf_counter()
    best = [fitted(problem, criterion, Exhaustive(MAX_SIZE)) for problem in problems]
    seconds = (time.perf_counter() - begin) / len(problems)
    searches = {}
    for search in SEARCHES:
        try:
            search.check(criterion)
        except TypeError:
            continue
        models = [fitted(problem, criterion, search) for problem in problems]
        pairs = list(zip(models, best, strict=True))
        shortfalls = [score(other) - score(model) for model, other in pairs]
        searches[type(search).__name__] = {
            "found": float(np.mean([np.array_equal(model.active_, other.active_) for model, other in pairs])),
            "shortfall": float(np.mean(np.maximum(shortfalls, 0.0))),
            "surplus": max(0.0, -float(min(shortfalls))),
        }
    n_sets = Exhaustive(MAX_SIZE).n_sets(len(best[0].relevance_))
    return {"criterion": type(criterion).__name__, "n_sets": n_sets, "seconds": seconds, "searches": searches}


def fitted(problem: Problem, criterion: Criterion, search: Search) -> SparseRegressor:
    model = SparseRegressor(problem.basis, criterion, search, max_active=MAX_SIZE, calibrate_std=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(problem.X, problem.y)


def score(model: SparseRegressor) -> float:
    """Return the log evidence, or -(n/2) log V."""
    return model.criterion_ if model.criterion_sense_ > 0 else -0.5 * N_ROWS * float(np.log(model.criterion_))


def table_of(kinds: dict[str, Any]) -> Table:
    table = Table(title=f"The best set of at most {MAX_SIZE} functions: found (mean shortfall of the score)")
    names = [type(search).__name__ for search in SEARCHES]
    for name in ("candidates", "criterion", "sets", "seconds", *names):
        table.add_column(name, justify="left" if name in ("candidates", "criterion") else "right")
    for kind, rows in kinds.items():
        for row in rows:
            cells = [_cell(row["searches"].get(name)) for name in names]
            table.add_row(kind, row["criterion"], f"{row['n_sets']:,}", f"{row['seconds']:.2f}", *cells)
        table.add_section()
    return table


def _cell(measured: dict[str, float] | None) -> str:
    return "" if measured is None else f"{measured['found']:.0%} ({measured['shortfall']:.1f})"


if __name__ == "__main__":
    main()
