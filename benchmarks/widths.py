"""Compare learned kernel widths with scikit-learn's Gaussian process, with the same number of starts.

Run ``python -m benchmarks.widths``. The data are Friedman 1 with ten inputs, of which five do not matter. There is one width for
each input. Everything runs on one BLAS thread. CPU seconds of a whole fit are the best of several. Errors are for new noisy
targets, as means over several data sets. Run nothing else at the same time.
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
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.timing import cpu_seconds
from skarce import EvidenceRegressor, FastGCVRegressor, KernelBasis, ProcessBasis, RelevanceVectorRegressor
from skarce.comparison import count_functions

N_STARTS = 3
N_TEST = 2000
RIVAL = "GaussianProcessRegressor"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.widths", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--rows", type=int, nargs="+", default=[240, 500, 1000], help="numbers of rows (default: %(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=3, help="number of data sets, and of fits to the first one (default: %(default)s)"
    )
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine(), "starts": N_STARTS, "problems": {}}
    for n_rows in arguments.rows:
        console.print(f"{n_rows} rows ...", style="dim")
        with threadpool_limits(1):
            record["problems"][f"friedman1-{n_rows}"] = compare(n_rows, arguments.repeats)
    console.print(table_of(record["problems"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "widths.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "widths.txt", "w") as file:
        Console(file=file, width=130).print(table_of(record["problems"]))
    console.print(f"written to {folder}")


def gaussian_process() -> Any:
    kernel = 1.0 * RBF(np.ones(10), (1e-3, 1e3)) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=N_STARTS - 1, random_state=0)


OF_PROCESS = KernelBasis(gamma="ard", width_params={"covariance": "kernel"})

METHODS: dict[str, Callable[[], Any]] = {
    RIVAL: gaussian_process,
    "EvidenceRegressor, ProcessBasis": lambda: EvidenceRegressor(ProcessBasis(gamma="ard")),
    "EvidenceRegressor": lambda: EvidenceRegressor(KernelBasis(gamma="ard")),
    "RelevanceVectorRegressor": lambda: RelevanceVectorRegressor(KernelBasis(gamma="ard")),
    "FastGCVRegressor": lambda: FastGCVRegressor(KernelBasis(gamma="ard")),
    'RelevanceVectorRegressor, covariance="kernel"': lambda: RelevanceVectorRegressor(OF_PROCESS),
    'FastGCVRegressor, covariance="kernel"': lambda: FastGCVRegressor(OF_PROCESS),
}


def compare(n_rows: int, repeats: int) -> dict[str, Any]:
    """Return mean errors over `repeats` data sets, and the least CPU seconds of as many fits to the first data set."""
    rows: dict[str, Any] = {name: {"cpu_s": np.inf, "mse": 0.0, "functions": 0.0} for name in METHODS}
    for seed in range(repeats):
        X, y = make_friedman1(n_rows + N_TEST, noise=1.0, random_state=seed)
        X = (X - X[:n_rows].mean(axis=0)) / X[:n_rows].std(axis=0)
        train = X[:n_rows], y[:n_rows]
        for name, make in METHODS.items():
            row = rows[name]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                if seed == 0:
                    row["cpu_s"] = min(cpu_seconds(lambda make=make, train=train: make().fit(*train)) for _ in range(repeats))
                model = make().fit(*train)
            row["mse"] += error(model, X[n_rows:], y[n_rows:]) / repeats
            row["functions"] += count_functions(model) / repeats
    return rows


def error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((model.predict(X) - y) ** 2))


def table_of(problems: dict[str, Any]) -> Table:
    table = Table(title=f"Widths learned from {N_STARTS} starts; ratio: the Gaussian process's CPU over ours")
    for name in ("problem", "method", "CPU s", "ratio", "functions", "test error", "relative"):
        table.add_column(name, justify="left" if name in ("problem", "method") else "right")
    for problem, rows in problems.items():
        rival = rows[RIVAL]
        for name, row in rows.items():
            table.add_row(
                problem,
                name,
                f"{row['cpu_s']:.2f}",
                f"{rival['cpu_s'] / row['cpu_s']:.1f}",
                f"{row['functions']:.0f}",
                f"{row['mse']:.4f}",
                f"{row['mse'] / rival['mse']:.3f}",
            )
        table.add_section()
    return table


if __name__ == "__main__":
    main()
