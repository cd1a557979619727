"""Compare variational least squares with LassoCV and ARDRegression, and streams with SGDRegressor; count how often intervals cover.

Run ``python -m benchmarks.variational``. Times are wall seconds on all cores, with every method in the same process. Run nothing
else at the same time.
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
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ARDRegression, LassoCV, SGDRegressor

from benchmarks.__main__ import machine
from benchmarks.timing import wall_seconds
from skarce import VBLSRegressor
from skarce.comparison import count_functions

SIZES = ((1000, 100), (2000, 200), (500, 500), (200, 1000), (6524, 1767))
N_TEST = 2000
MOST_FOR_ARD = 1000  # with more inputs, scikit-learn's ARDRegression takes an hour, so it gets a few of its 300 iterations
FEW_ITERATIONS = 2
COVERED = ((1000, 100), (150, 100), (60, 40), (60, 100), (100, 300))
STREAMS = ((100, 1), (100, 100), (1000, 1), (1000, 100))
STREAM_REPEATS = 3


def problem(n: int, d: int, seed: int) -> tuple[np.ndarray, ...]:
    """Draw correlated inputs, ten of which matter, with as much noise as signal. Test targets have no noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + N_TEST, d)) + 0.5 * rng.normal(size=(n + N_TEST, 1))
    signal = X[:, rng.choice(d, 10, replace=False)] @ rng.normal(0, 2, 10)
    y = signal[:n] + signal.std() * rng.normal(size=n)
    return X[:n], y, X[n:], signal[n:]


def methods(d: int) -> dict[str, Callable[[], Any]]:
    named: dict[str, Callable[[], Any]] = {
        "VBLSRegressor": VBLSRegressor,
        'VBLSRegressor, start="all"': lambda: VBLSRegressor(start="all"),
        "LassoCV": LassoCV,
    }
    if d <= MOST_FOR_ARD:
        return named | {"ARDRegression": ARDRegression}
    return named | {f"ARDRegression, {FEW_ITERATIONS} iterations only": lambda: ARDRegression(max_iter=FEW_ITERATIONS)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.variational", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="data sets of each size, one for the largest (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="run only the first two sizes, and no coverage")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine()}
    sizes = SIZES[:2] if arguments.quick else SIZES
    record["fits"] = {f"{n} x {d}": compare(n, d, arguments.repeats) for n, d in sizes}
    record["streams"] = {f"d = {d}, batches of {size}": stream(d, size) for d, size in STREAMS}
    record["coverage"] = {}
    for n, d in () if arguments.quick else COVERED:
        record["coverage"] |= {f"N = {n}, d = {d}, {name}": coverage(n, d, k) for name, k in (("10 matter", 10), ("noise", 0))}
    tables = tables_of(record)
    for table in tables:
        console.print(table)
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "variational.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "variational.txt", "w") as file:
        for table in tables:
            Console(file=file, width=130).print(table)


def compare(n: int, d: int, repeats: int) -> dict[str, Any]:
    """Return the least wall seconds of a fit, and the mean number of inputs and mean relative test error over data sets."""
    rows: dict[str, Any] = {}
    for name, make in methods(d).items():
        seconds, errors, kept = [], [], []
        for seed in range(repeats if n * d < 1e6 else 1):
            X, y, X_test, truth = problem(n, d, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                took, model = wall_seconds(lambda make=make, X=X, y=y: make().fit(X, y))
            seconds.append(took)
            errors.append(float(np.mean((model.predict(X_test) - truth) ** 2) / truth.var()))
            kept.append(count_functions(model))
        rows[name] = {"seconds": min(seconds), "nmse": float(np.mean(errors)), "inputs": float(np.mean(kept))}
    return rows


def stream(d: int, size: int) -> dict[str, Any]:
    """Count updates per second in the best of a few streams."""
    runs = [one_stream(d, size) for _ in range(STREAM_REPEATS)]
    return {name: max((run[name] for run in runs), key=lambda row: row["updates_per_second"]) for name in runs[0]}


def one_stream(d: int, size: int) -> dict[str, Any]:
    """Count updates per second, after twice as many rows as inputs have come."""
    rng = np.random.default_rng(0)
    weights = np.zeros(d)
    weights[:10] = rng.normal(0, 2, 10)
    X = rng.normal(size=(2 * d + 200 * size, d))
    y = X @ weights + rng.normal(size=len(X))
    rates = {}
    for name, model in (("VBLSRegressor", VBLSRegressor()), ("SGDRegressor", SGDRegressor())):
        model.partial_fit(X[: 2 * d], y[: 2 * d])
        batches = [slice(start, start + size) for start in range(2 * d, len(X), size)]

        def run(model: Any = model, batches: list[slice] = batches) -> None:
            for rows in batches:
                model.partial_fit(X[rows], y[rows])

        seconds, _ = wall_seconds(run)
        error = float(np.linalg.norm(model.coef_ - weights) / np.linalg.norm(weights))
        rates[name] = {"updates_per_second": len(batches) / seconds, "weight_error": error}
    return rates


def coverage(n: int, d: int, n_relevant: int, draws: int = 40) -> dict[str, float]:
    """Return the share of 95 % intervals that contain a new target."""
    shares = {}
    for name, parameters in (("ard", {}), ("all", {"start": "all"}), ("shared", {"prior": "shared"})):
        inside = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(n + 500, d))
            y = X[:, :n_relevant] @ rng.normal(0, 1, n_relevant) + rng.normal(size=n + 500)
            mean, std = VBLSRegressor(**parameters).fit(X[:n], y[:n]).predict(X[n:], return_std=True)
            inside.append(np.abs(y[n:] - mean) < 1.96 * std)
        shares[name] = float(np.mean(inside))
    return shares


def tables_of(record: dict[str, Any]) -> list[Table]:
    fits = Table(title="Fits; ratio: seconds of a method over those of VBLSRegressor")
    for name in ("problem", "method", "seconds", "ratio", "inputs", "nMSE of the truth"):
        fits.add_column(name, justify="left" if name in ("problem", "method") else "right")
    for problem_name, rows in record["fits"].items():
        ours = rows["VBLSRegressor"]["seconds"]
        for name, row in rows.items():
            ratio = f"{row['seconds'] / ours:.1f}"
            fits.add_row(problem_name, name, f"{row['seconds']:.3f}", ratio, f"{row['inputs']:.0f}", f"{row['nmse']:.4f}")
        fits.add_section()
    streams = Table(title="Streams: updates per second, final error of the weights")
    for name in ("stream", "VBLSRegressor", "error", "SGDRegressor", "error"):
        streams.add_column(name, justify="left" if name == "stream" else "right")
    for name, row in record["streams"].items():
        cells = [f"{v:.0f}" if k == "updates_per_second" else f"{v:.3f}" for method in row.values() for k, v in method.items()]
        streams.add_row(name, *cells)
    covered = Table(title="New targets in 95 % intervals")
    for name in ("problem", 'prior="ard"', 'the same, start="all"', 'prior="shared"'):
        covered.add_column(name, justify="left" if name == "problem" else "right")
    for name, row in record["coverage"].items():
        covered.add_row(name, *(f"{100 * share:.1f} %" for share in row.values()))
    return [fits, streams, covered]


if __name__ == "__main__":
    main()
