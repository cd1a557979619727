"""Justify each part of the default basis: ``python -m benchmarks.defaults``.

``basis="auto"`` learns the kernel function and one width for each input, from at most 500 rows, by the evidence of a Gaussian
process with a prior against flat kernels. Here each of these parts is changed by itself. The first table averages over data sets:
the root mean squared error over the standard deviation of the test targets, the number of functions, and CPU seconds of one fit on
one BLAS thread. The second method takes over the widths of the first, so its seconds do not include learning. What was chosen was
chosen on the tables of TUNE; those of REPORT were only looked at afterwards. The second table adds inputs that are noise to
Friedman's first function, to see where one width for each input stops to pay. `benchmarks.probabilities` compares classes and
counts with the quick rule.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.timing import cpu_seconds
from skarce import FastGCVRegressor, KernelBasis, RelevanceVectorRegressor
from skarce.basis.learners import remembering
from skarce.datasets import load

Split = tuple[Any, Any, Any, Any]  # X and y to train, X and y to test
N_TEST = 1000
TUNE = ("boston", "cpu_act", "puma8fh", "puma8fm", "puma8nh", "puma8nm", "friedman1", "friedman2")
REPORT = ("abalone", "kin8fh", "kin8fm", "kin8nh", "kin8nm", "friedman3")
GENERATED = {"friedman1": (make_friedman1, 1.0), "friedman2": (make_friedman2, 125.0), "friedman3": (make_friedman3, 0.1)}
METHODS: dict[str, Callable[[Any], Any]] = {"rvm": RelevanceVectorRegressor, "fgcv": FastGCVRegressor}
VARIANTS: dict[str, Callable[[], Any]] = {
    "rbf, width by rule": lambda: "rbf",
    "rbf, one width": lambda: KernelBasis(gamma="evidence"),
    "rbf, a width per input": lambda: KernelBasis(gamma="ard"),
    "auto, one width": lambda: KernelBasis("auto", gamma="evidence"),
    "auto, a width per input": lambda: KernelBasis("auto", gamma="ard"),
    "the default": lambda: "auto",
    "default, rbf only": lambda: KernelBasis(gamma="learned"),
    "default, 250 rows": lambda: changed(max_rows=250),
    "default, 1000 rows": lambda: changed(max_rows=1000),
    "default, weights": lambda: changed(covariance="weights"),
    "default, flatness 0": lambda: changed(flatness=0.0),
    "default, flatness 10": lambda: changed(flatness=10.0),
}
N_INPUTS = (10, 30, 60, 100, 200)


def changed(**options: Any) -> KernelBasis:
    """Return the default with one of its parts changed."""
    return KernelBasis("auto", gamma="learned", width_params=options)


def split_of(name: str, n_train: int, seed: int) -> Split:
    """Return this many training rows of a table and its test rows, in a random order; inputs are not scaled."""
    if name in GENERATED:
        make, noise = GENERATED[name]
        X, y = make(n_train + N_TEST, noise=noise, random_state=seed)
    else:
        table = load(name)
        X, y = np.asarray(table.X), np.asarray(table.y)
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(n_train, (2 * len(y)) // 3)
    train, test = order[:n_train], order[n_train : n_train + N_TEST]
    return X[train], y[train], X[test], y[test]


def measured(make: Callable[[], Any], split: Split, score: Callable[[Any, Any, Any], float]) -> dict[str, Any]:
    """Fit a model; return its score, its size, and what it took."""
    X, y, X_test, y_test = split
    models: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = cpu_seconds(lambda: models.append(make().fit(X, y)))
        error = score(models[0], X_test, y_test)
    kernel = str(getattr(models[0].basis_, "kernel_", ""))
    return {"error": error, "functions": len(models[0].active_), "cpu_s": seconds, "kernel": kernel}


def relative_error(model: Any, X: Any, y: Any) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)) / y.std())


def compare_parts(names: tuple[str, ...], n_train: int, n_splits: int, console: Console) -> dict[str, Any]:
    """Return the numbers of every variant, method, table and split."""
    found: dict[str, Any] = {}
    for name in names:
        console.print(f"{name} ...", style="dim")
        for seed in range(n_splits):
            split = split_of(name, n_train, seed)
            for label, basis in VARIANTS.items():
                with remembering():
                    for method, make in METHODS.items():
                        result = measured(lambda make=make, basis=basis: make(basis()), split, relative_error)
                        found.setdefault(label, {}).setdefault(method, {}).setdefault(name, []).append(result)
    return found


def compare_numbers_of_inputs(n_splits: int) -> dict[str, Any]:
    """Return the errors of one width per input and of one for all, for more and more inputs that do not matter."""
    found: dict[str, Any] = {}
    for n_inputs in N_INPUTS:
        for seed in range(n_splits):
            X, y = make_friedman1(500 + N_TEST, n_inputs, noise=1.0, random_state=seed)
            split = X[:500], y[:500], X[500:], y[500:]
            for rule in ("ard", "evidence"):
                basis = KernelBasis("auto", gamma=rule, width_params={"covariance": "kernel", "max_rows": 500, "flatness": 5.0})
                result = measured(lambda basis=basis: RelevanceVectorRegressor(basis), split, relative_error)
                found.setdefault(str(n_inputs), {}).setdefault(rule, []).append(result)
    return found


def mean(results: list[dict[str, Any]], what: str) -> float:
    return float(np.mean([result[what] for result in results]))


def parts_table(record: dict[str, Any]) -> Table:
    table = Table(title="Parts of the default: means over tables and splits")
    table.add_column("basis")
    sides = [side for side in ("tune", "report") if side in record]
    for side in sides:
        for method in METHODS:
            for what in ("error", "functions", "CPU s"):
                table.add_column(f"{side}: {method} {what}", justify="right")
    for label in VARIANTS:
        cells = []
        for side in sides:
            for method in METHODS:
                results = [one for split in record[side][label][method].values() for one in split]
                cells += [f"{mean(results, 'error'):.4f}", f"{mean(results, 'functions'):.0f}", f"{mean(results, 'cpu_s'):.2f}"]
        table.add_row(label, *cells)
    return table


def pairs_table(title: str, first: str, found: dict[str, Any]) -> Table:
    table = Table(title=title)
    names = list(next(iter(found.values())))
    table.add_column(first)
    for name in names:
        for what in ("error", "functions", "CPU s"):
            table.add_column(f"{name} {what}", justify="right")
    for row, by_name in found.items():
        cells = ((mean(by_name[name], "error"), mean(by_name[name], "functions"), mean(by_name[name], "cpu_s")) for name in names)
        table.add_row(row, *(text for error, size, s in cells for text in (f"{error:.4f}", f"{size:.0f}", f"{s:.2f}")))
    return table


def tables_of(record: dict[str, Any]) -> list[Table]:
    return [
        parts_table(record),
        pairs_table("Friedman 1, 500 rows: one width per input, or one for all", "inputs", record["inputs"]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=3, help="number of splits of each table (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1000, help="number of training rows (default: %(default)s)")
    parser.add_argument("--tune-only", action="store_true", help="leave out the tables of the report")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=170)
    record: dict[str, Any] = {"machine": machine(), "rows": arguments.rows, "splits": arguments.splits}
    with threadpool_limits(1):
        record["tune"] = compare_parts(TUNE, arguments.rows, arguments.splits, console)
        if not arguments.tune_only:
            record["report"] = compare_parts(REPORT, arguments.rows, arguments.splits, console)
        record["inputs"] = compare_numbers_of_inputs(arguments.splits)
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "defaults.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "defaults.txt", "w") as file:
        for table in tables_of(record):
            Console(file=file, width=170).print(table)
            console.print(table)
    console.print(f"written to {folder}")


if __name__ == "__main__":
    main()
