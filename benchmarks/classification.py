"""Compare classifiers with fastrvm and SVC on two moons, and fit MNIST zero against the rest.

Run ``python -m benchmarks.classification``. MNIST needs the folder that SKARCE_DATA names. CPU times are on one BLAS thread, and
fits are interleaved. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from benchmarks.__main__ import machine
from benchmarks.timing import cpu_seconds, peak_in_own_process, peak_megabytes, wall_seconds
from skarce import RelevanceVectorClassifier, datasets

OURS = "skarce rvc"
DEFAULT = "skarce rvc, learned kernel"
REPEATS = {500: 10, 1000: 5, 2000: 3, 4000: 3}
TEST_ROWS = 20_000


def _fastrvm() -> Any:
    from fastrvm import RVC

    return RVC(kernel="rbf", gamma="scale", fit_intercept=True)


def _ours() -> RelevanceVectorClassifier:
    """Return a classifier with the same kernel as the others, one width by rule, and no refits for a temperature."""
    return RelevanceVectorClassifier("rbf", calibrate_proba=False)


def _methods() -> dict[str, Callable[[], Any]]:
    methods: dict[str, Callable[[], Any]] = {OURS: _ours, DEFAULT: RelevanceVectorClassifier, "SVC": SVC}
    if importlib.util.find_spec("fastrvm") is not None:
        methods["fastrvm"] = _fastrvm
    return methods


def _size(model: Any) -> int:
    return len(next(getattr(model, name) for name in ("active_", "relevance_", "support_") if hasattr(model, name)))


def moons(n_rows: int) -> dict[str, Any]:
    """Return CPU seconds, test error and number of functions, as means over some draws of the training rows."""
    X_test, y_test = make_moons(TEST_ROWS, noise=0.3, random_state=10**6)
    rows: dict[str, Any] = {name: {"cpu_s": [], "error": [], "functions": []} for name in _methods()}
    for seed in range(REPEATS[n_rows]):
        X, y = make_moons(n_rows, noise=0.3, random_state=seed)
        for name, make in _methods().items():
            model = make()
            rows[name]["cpu_s"].append(cpu_seconds(lambda model=model, X=X, y=y: model.fit(X, y)))
            rows[name]["error"].append(1.0 - model.score(X_test, y_test))
            rows[name]["functions"].append(_size(model))
    return {
        name: {
            "cpu_s": float(np.mean(row["cpu_s"])),
            "error": float(np.mean(row["error"])),
            "functions": float(np.mean(row["functions"])),
        }
        for name, row in rows.items()
    }


def mnist(n_rows: int) -> dict[str, Any]:
    """Fit zero against the rest in this process. Return the error, and the error of a classifier that never says zero."""
    digits = datasets.mnist()
    X, y, X_test, y_test = digits.X_train, digits.y_train == 0, digits.X_test, digits.y_test == 0
    model = RelevanceVectorClassifier("rbf")
    seconds, _ = wall_seconds(lambda: model.fit(X[:n_rows], y[:n_rows]))
    return {
        "wall_s": seconds,
        "peak_mb": peak_megabytes(),
        "functions": len(model.active_),
        "error": 1.0 - model.score(X_test, y_test),
        "never_zero": float(y_test.mean()),
    }


def table_of(moon_rows: dict[int, Any]) -> Table:
    table = Table(title="Two moons, noise 0.3: mean of several draws, CPU seconds on one BLAS thread, error on 20,000 rows")
    for name in ("rows", "method", "CPU s", "over skarce", "error %", "functions"):
        table.add_column(name, justify="left" if name == "method" else "right")
    for n_rows, rows in moon_rows.items():
        for name, row in rows.items():
            ratio = row["cpu_s"] / rows[OURS]["cpu_s"]
            table.add_row(
                str(n_rows), name, f"{row['cpu_s']:.3f}", f"{ratio:.1f}", f"{100 * row['error']:.2f}", f"{row['functions']:.1f}"
            )
        table.add_section()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classification", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, default=4000, help="skip moons with more rows (default: %(default)s)")
    parser.add_argument("--mnist", type=int, help="only fit this many rows of MNIST in this process, and print JSON")
    arguments = parser.parse_args()
    if arguments.mnist:
        print(json.dumps(mnist(arguments.mnist)))
        return
    console = Console() if sys.stdout.isatty() else Console(width=110)
    record: dict[str, Any] = {"machine": machine(), "moons": {}}
    for n_rows in (n for n in REPEATS if n <= arguments.max_rows):
        console.print(f"moons {n_rows} ...", style="dim")
        record["moons"][n_rows] = moons(n_rows)
    lines = []
    if datasets.data_folder() is not None:
        record["mnist"] = {n: peak_in_own_process("benchmarks.classification", "--mnist", str(n)) for n in (3000, 10_000)}
        lines = [
            f"MNIST zero against the rest, {n} rows: {row['wall_s']:.1f} s, {row['peak_mb']:.0f} MB, {row['functions']} functions, "
            f"error {100 * row['error']:.2f} % ('never zero': {100 * row['never_zero']:.2f} %)"
            for n, row in record["mnist"].items()
        ]
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "classification.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "classification.txt", "w") as file:
        for out in (console, Console(file=file, width=110)):
            out.print(table_of(record["moons"]))
            for line in lines:
                out.print(line)
    console.print(f"written to {folder}")


if __name__ == "__main__":
    main()
