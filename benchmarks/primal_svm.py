"""Error against number of functions: PrimalSVMClassifier, RelevanceVectorClassifier and SVC. ``python -m benchmarks.primal_svm``.

Width and C are those of an SVC by five folds, the same for all. The data need the folder that SKARCE_DATA names. The last table has
wall times on two moons. From 100,000 rows on, the rows of PrimalSVMClassifier come in blocks with 500 landmarks. SVC, whose time
grows nearly with the square of the rows, ends there. Run nothing else at the same time.
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
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.__main__ import machine
from benchmarks.timing import wall_seconds
from skarce import KernelBasis, PrimalSVMClassifier, RelevanceVectorClassifier, datasets
from skarce.designs import RowBlocks

SIZES = (5, 10, 20, 50, 100)
MOON_ROWS, MOON_FUNCTIONS, TEST_ROWS = (1000, 10_000, 100_000, 1_000_000), 50, 20_000
IN_BLOCKS, LANDMARKS, MOST_OF_SVC = 100_000, 500, 100_000
MNIST_ROWS, BANANA_ROWS = 3000, 400

Parts = tuple[Any, Any, Any, Any]


def banana() -> Parts:
    table = datasets.load("banana")
    return table.X[:BANANA_ROWS], table.y[:BANANA_ROWS], table.X[BANANA_ROWS:], table.y[BANANA_ROWS:]


def pair(train: str, test: str) -> Parts:
    first, second = datasets.load(train), datasets.load(test)
    return first.X, first.y, second.X, second.y


def zeros() -> Parts:
    digits = datasets.mnist()
    return digits.X_train[:MNIST_ROWS], digits.y_train[:MNIST_ROWS] == 0, digits.X_test, digits.y_test == 0


PROBLEMS = {
    "Banana": banana,
    "Pima": lambda: pair("pima_tr", "pima_te"),
    "Ripley": lambda: pair("synth_tr", "synth_te"),
    "MNIST, zeros": zeros,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.primal_svm", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine(), "problems": {}, "moons": []}
    for name, load in PROBLEMS.items():
        console.print(f"{name} ...", style="dim")
        record["problems"][name] = compare(load())
    record["moons"] = [times(n_rows) for n_rows in MOON_ROWS]
    tables = table_of(record["problems"]), times_table(record["moons"])
    console.print(*tables)
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "primal_svm.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "primal_svm.txt", "w") as file:
        Console(file=file, width=130).print(*tables)
    console.print(f"written to {folder}")


def compare(parts: Parts) -> dict[str, Any]:
    """Return errors and numbers of functions."""
    X, y, X_test, y_test = parts
    scaler = StandardScaler(with_std=X.shape[1] < 100).fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    widths = np.array([0.25, 1.0, 4.0]) / (X.shape[1] * X.var())
    search = GridSearchCV(SVC(), {"gamma": list(widths), "C": [0.1, 1.0, 10.0, 100.0]}, cv=5).fit(X, y)
    gamma, C = search.best_params_["gamma"], search.best_params_["C"]
    basis = KernelBasis(gamma=gamma)
    primal = [PrimalSVMClassifier(basis, C=C, max_active=size, calibrate_proba=False, random_state=0) for size in SIZES]
    relevance = RelevanceVectorClassifier(basis, calibrate_proba=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [error_of(model.fit(X, y), X_test, y_test) for model in (*primal, relevance)]
    svc = {"functions": len(search.best_estimator_.support_), "error": 1.0 - search.score(X_test, y_test)}
    return {"gamma": gamma, "C": C, "rows": len(y), "primal": rows[:-1], "relevance": rows[-1], "svc": svc}


def error_of(model: Any, X: Any, y: Any) -> dict[str, Any]:
    return {"functions": len(model.active_), "error": 1.0 - model.score(X, y)}


def times(n_rows: int) -> dict[str, Any]:
    """Return wall seconds and errors on two moons."""
    X, y = make_moons(n_rows, noise=0.3, random_state=0)
    X_test, y_test = make_moons(TEST_ROWS, noise=0.3, random_state=1)
    basis = KernelBasis(gamma=1.0, centers=LANDMARKS if n_rows >= IN_BLOCKS else "auto", random_state=0)
    primal = PrimalSVMClassifier(basis, max_active=MOON_FUNCTIONS, calibrate_proba=False, random_state=0)
    data = (RowBlocks.from_arrays(X, y),) if n_rows >= IN_BLOCKS else (X, y)
    found = {"rows": n_rows, "primal": timed(primal, lambda: primal.fit(*data), X_test, y_test)}
    if n_rows <= MOST_OF_SVC:
        other = SVC(gamma=1.0)
        found["SVC"] = timed(other, lambda: other.fit(X, y), X_test, y_test)
    return found


def timed(model: Any, fit: Callable[[], Any], X_test: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    seconds, _ = wall_seconds(fit)
    functions = len(model.support_ if isinstance(model, SVC) else model.active_)
    return {"seconds": seconds, "functions": functions, "error": 1.0 - model.score(X_test, y_test)}


def table_of(problems: dict[str, Any]) -> Table:
    table = Table(title="Test error in percent (number of functions)")
    for name in ("data", "rows", "C", *(f"primal, {size}" for size in SIZES), "relevance vectors", "SVC"):
        table.add_column(name, justify="left" if name == "data" else "right")
    for name, found in problems.items():
        cells = [f"{100.0 * row['error']:.1f} ({row['functions']})" for row in (*found["primal"], found["relevance"], found["svc"])]
        table.add_row(name, str(found["rows"]), f"{found['C']:g}", *cells)
    return table


def times_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Two moons: wall seconds, functions, test error in percent")
    for name in ("rows", "primal", "SVC"):
        table.add_column(name, justify="right")
    for row in rows:
        found = [row[name] for name in ("primal", "SVC") if name in row]
        cells = [f"{r['seconds']:.2f} s, {r['functions']}, {100.0 * r['error']:.2f}" for r in found]
        table.add_row(f"{row['rows']:,}", *cells)
    return table


if __name__ == "__main__":
    main()
