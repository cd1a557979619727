"""Default fits on many rows, and landmarks beside all rows as centers: ``python -m benchmarks.many_rows``.

The first table has every estimator on kernels with default parameters, each fit in a fresh process: seconds, peak memory, error and
size. The second table compares ``KernelBasis(centers="auto")`` with ``centers=None`` on tables that are small enough for both, with
generated data, and with real data if SKARCE_DATA names their folder. Errors are shares of the variance of the test targets. Run
nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman2
from sklearn.preprocessing import StandardScaler

import skarce
from benchmarks.__main__ import machine
from benchmarks.timing import peak_in_own_process, peak_megabytes, wall_seconds
from skarce import KernelBasis, OrthogonalLeastSquaresRegressor, RelevanceVectorRegressor, datasets

ROWS, N_INPUTS, N_TEST = (20_000, 200_000), 20, 5000
BOTH_ROWS = 4000  # training rows of the second table, more than the 2000 up to which all rows are centers
REAL = ("kin8nm", "puma8nh", "cpu_act")
NAMES = (
    "RelevanceVectorRegressor",
    "FastGCVRegressor",
    "LocalRidgeRegressor",
    "RegularizedForwardRegressor",
    "OrthogonalLeastSquaresRegressor",
    "EvidenceSearchRegressor",
    "EvidenceRegressor",
    "BackwardEliminationRegressor",
    "LaplacePriorRegressor",
    "JeffreysPriorRegressor",
    "VBLSRegressor",
    "SparseRegressor",
    "RelevanceVectorClassifier",
    "VBLSClassifier",
    "RelevanceVectorPoissonRegressor",
)
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # X, y for training and X, y for testing


def friedman(n_rows: int, n_inputs: int = N_INPUTS) -> Split:
    """Return Friedman's first function of five inputs with unit noise; the other inputs do not matter."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows + N_TEST, n_inputs))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y += rng.normal(size=len(y))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def friedman2(n_rows: int) -> Split:
    X, y = make_friedman2(n_rows + N_TEST, noise=125.0, random_state=0)
    return _scaled(X, y, n_rows)


def real(name: str, n_rows: int) -> Split:
    """Return a real table with its rows in random order."""
    data = datasets.load(name)
    order = np.random.default_rng(0).permutation(len(data.X))
    return _scaled(data.X[order], data.y[order], n_rows)


def _scaled(X: np.ndarray, y: np.ndarray, n_rows: int) -> Split:
    X = StandardScaler().fit(X[:n_rows]).transform(X)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def measured(model: Any, split: Split) -> dict[str, Any]:
    X, y, X_test, y_test = split
    cpu = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall, _ = wall_seconds(lambda: model.fit(X, y))
    return {
        "wall_s": wall,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": peak_megabytes(),
        "error": 1.0 - model.score(X_test, y_test),  # share of the variance, of labels, or of the deviance of counts
        "functions": len(model.active_),
        "candidates": len(model.relevance_),
        "outcome": model.outcome_.name,
    }


def targets_for(name: str, y: np.ndarray) -> np.ndarray:
    """Return numbers, two classes, or counts that rise with the numbers."""
    if name.endswith("Classifier"):
        return y > 14.0
    return np.random.default_rng(1).poisson(np.exp(y / 10.0)) if "Poisson" in name else y


def default_fits() -> dict[str, Any]:
    """Fit every estimator in its own process."""
    return {f"{n:,} rows": {name: _in_own_process(name, n) for name in NAMES} for n in ROWS}


def _in_own_process(name: str, n_rows: int) -> dict[str, Any]:
    print(f"{name}, {n_rows:,} rows ...", file=sys.stderr)
    try:
        return peak_in_own_process("benchmarks.many_rows", "--one", name, "--rows", str(n_rows))
    except subprocess.CalledProcessError as failed:
        return {"outcome": failed.stderr.strip().splitlines()[-1]}


def both_choices() -> dict[str, Any]:
    """Compare landmarks with all rows as centers."""
    problems: dict[str, Callable[[], Split]] = {
        "Friedman 1, 10 inputs": lambda: friedman(BOTH_ROWS, 10),
        "Friedman 2": lambda: friedman2(BOTH_ROWS),
    }
    if datasets.data_folder() is not None:
        problems |= {name: lambda name=name: real(name, BOTH_ROWS) for name in REAL}  # type: ignore[misc]
    return {name: _both(load()) for name, load in problems.items()}


def _both(split: Split) -> dict[str, Any]:
    rows = {}
    for estimator in (RelevanceVectorRegressor, OrthogonalLeastSquaresRegressor):
        for centers in ("auto", None):
            rows[f"{estimator.__name__}, centers={centers!r}"] = measured(estimator(KernelBasis(centers=centers)), split)
    return rows


def table_of(title: str, problems: dict[str, Any]) -> Table:
    table = Table(title=title)
    for name in ("problem", "fit", "wall s", "CPU s", "MB", "error", "functions", "candidates", "outcome"):
        table.add_column(name, justify="left" if name in ("problem", "fit", "outcome") else "right")
    specs = {"wall_s": ".2f", "cpu_s": ".2f", "peak_mb": ".0f", "error": ".4f", "functions": "d", "candidates": "d", "outcome": "s"}
    for problem, rows in problems.items():
        for name, row in rows.items():
            table.add_row(problem, name, *(f"{row[key]:{spec}}" if key in row else "" for key, spec in specs.items()))
        table.add_section()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_rows", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--one", choices=NAMES, help="fit only this estimator in this process, and print its numbers as JSON")
    parser.add_argument("--rows", type=int, default=ROWS[0], help="number of rows for --one (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.one:
        X, y, X_test, y_test = friedman(arguments.rows)
        split = X, targets_for(arguments.one, y), X_test, targets_for(arguments.one, y_test)
        print(json.dumps(measured(getattr(skarce, arguments.one)("auto"), split)))
        return
    record = {"machine": machine(), "defaults": default_fits(), "centers": both_choices()}
    titles = {
        "defaults": f"Default parameters on Friedman 1 with {N_INPUTS} inputs, each fit in its own process",
        "centers": f"Landmarks and all rows as centers, {BOTH_ROWS:,} rows; memory is the peak of one process for all fits",
    }
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "many_rows.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "many_rows.txt", "w") as file:
        for console in (Console() if sys.stdout.isatty() else Console(width=150), Console(file=file, width=150)):
            for part, title in titles.items():
                console.print(table_of(title, record[part]))


if __name__ == "__main__":
    main()
