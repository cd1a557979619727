"""Fit every regression method at many kernel widths, to see where time, error or coverage falls off a cliff.

python -m benchmarks.cliffs [--tables cpu_act,kin8nm] [--methods rvm,fgcv] [--other ../before/.venv/bin/python] [--plain]

Tables come from the folder that SKARCE_DATA names; friedman1 and friedman2 are generated. Inputs and target are standardized by the
training rows, and the width is gamma in units of 1 / n_inputs. CPU seconds are for one BLAS thread, the best of up to three fits.
``--other`` names another version, as the interpreter of its environment or as the folder that holds its package; the criterion that
it reaches stands beside ours. ``--plain`` leaves out the refits that calibrate the std. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import make_friedman1, make_friedman2

import skarce
from benchmarks.__main__ import machine
from benchmarks.timing import cpu_seconds
from skarce import KernelBasis
from skarce.datasets.real import load

Row = dict[str, Any]
Key = tuple[str, str, str]  # table, width and method
TABLES = "abalone,cpu_act,kin8fh,kin8fm,kin8nh,kin8nm,puma8fh,puma8fm,puma8nh,puma8nm"
WIDTHS = {"1/256": 1 / 256, "1/64": 1 / 64, "1/16": 1 / 16, "1/4": 1 / 4, "1": 1.0, "4": 4.0, "16": 16.0}
REFERENCE = "rvm"
METHODS: dict[str, Callable[..., Any]] = {
    REFERENCE: skarce.RelevanceVectorRegressor,
    "fgcv": skarce.FastGCVRegressor,
    "orr": skarce.LocalRidgeRegressor,
    "rfs": skarce.RegularizedForwardRegressor,
    "ols": skarce.OrthogonalLeastSquaresRegressor,
    "ssge": skarce.EvidenceSearchRegressor,
    "abf": skarce.EvidenceRegressor,
    "be": skarce.BackwardEliminationRegressor,
    "laplace": skarce.LaplacePriorRegressor,
    "jeffreys": skarce.JeffreysPriorRegressor,
    "vbls": skarce.VBLSRegressor,
}
# What a method may cost: a multiple of the time of the reference, or these seconds if that is less.
LIMITS = {"fgcv": (5.0, 0.1), "rfs": (10.0, 0.3)}
N_TEST, REPEATS, LONG_SECONDS = 1000, 3, 0.5
GENERATED = {"friedman1": (make_friedman1, 1.0), "friedman2": (make_friedman2, 125.0)}


def main() -> None:
    arguments = parse_arguments()
    names = [name for name in METHODS if name in {REFERENCE, *arguments.methods.split(",")}]
    if arguments.measure:
        every = keys(arguments.tables.split(","), names)
        print(json.dumps([measured(arguments.rows, arguments.max_time, *key, plain=arguments.plain) for key in every]))
        return
    console = Console() if sys.stdout.isatty() else Console(width=145)
    rows: list[Row] = []
    for key in track(keys(arguments.tables.split(","), names), "fits", console=console, disable=not console.is_terminal):
        rows.append(measured(arguments.rows, arguments.max_time, *key, plain=arguments.plain))
    before = in_other_version(arguments) if arguments.other else []
    tables = [detail_table(rows, before), summary_table(rows)]
    for table in tables:
        console.print(table)
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    record = {"machine": machine(), "rows": arguments.rows, "fits": rows, "before": before}
    (folder / "cliffs.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "cliffs.txt", "w") as file:
        for table in tables:
            Console(file=file, width=145).print(table)
    console.print(f"written to {folder}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cliffs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--tables", default=TABLES, help="comma-separated names (default: %(default)s)")
    parser.add_argument("--methods", default=",".join(METHODS), help="comma-separated names (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=800, help="number of training rows (default: %(default)s)")
    parser.add_argument("--max-time", type=float, default=60.0, help="seconds after which a fit ends early (default: %(default)s)")
    parser.add_argument("--other", help="another version: an interpreter, or the folder that holds its package")
    parser.add_argument("--plain", action="store_true", help="without the refits that calibrate the predictive std")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def keys(tables: Iterable[str], methods: Iterable[str]) -> list[Key]:
    return [(table, width, method) for table in tables for width in WIDTHS for method in methods]


def standardized(table: str, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y for training and X, y for testing, scaled by the training rows, which are at most four fifths of the table."""
    if table in GENERATED:
        make, noise = GENERATED[table]
        X, y = make(n_rows + N_TEST, noise=noise, random_state=0)
    else:
        data = load(table)
        X, y = np.asarray(data.X, float), np.asarray(data.y, float)
    order = np.random.default_rng(0).permutation(len(X))
    n_train = min(n_rows, 4 * len(X) // 5)
    train, test = order[:n_train], order[n_train : n_train + N_TEST]
    spread = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    y = (y - y[train].mean()) / y[train].std()
    return X[train], y[train], X[test], y[test]


def measured(n_rows: int, max_time: float, table: str, width: str, method: str, *, plain: bool = False) -> Row:
    """Fit one method at one width, and measure it."""
    X, y, X_test, y_test = standardized(table, n_rows)
    basis = KernelBasis(gamma=WIDTHS[width] / X.shape[1])
    has_refits = "calibrate_std" in METHODS[method]().get_params()  # another version may have none
    parameters = {"max_time": max_time, **({"calibrate_std": False} if plain and has_refits else {})}
    models: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = best_of(lambda: models.append(METHODS[method](basis, **parameters).fit(X, y)))
        mean, std = models[-1].predict(X_test, return_std=True)
    return {
        "table": table,
        "width": width,
        "method": method,
        "cpu_s": seconds,
        "error": float(np.sqrt(np.mean((mean - y_test) ** 2)) / y_test.std()),
        "functions": len(models[-1].active_),
        "coverage": float(np.mean(np.abs(mean - y_test) <= 1.96 * std)),
        "criterion": float(getattr(models[-1], "criterion_", np.nan)),
        "sense": int(getattr(models[-1], "criterion_sense_", 1)),
        "outcome": getattr(getattr(models[-1], "outcome_", None), "name", ""),
    }


def best_of(work: Callable[[], Any]) -> float:
    """Return the least CPU seconds of three runs, or of one if it takes long."""
    best = np.inf
    for _ in range(REPEATS):
        best = min(best, cpu_seconds(work))
        if best > LONG_SECONDS:
            break
    return best


def in_other_version(arguments: argparse.Namespace) -> list[Row]:
    """Measure the same fits with another version, in a process of its own."""
    other = Path(arguments.other)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if other.is_dir():
        environment["PYTHONPATH"] = str(other.resolve())
    command = [sys.executable if other.is_dir() else str(other), "-m", "benchmarks.cliffs", "--measure"]
    for name in ("tables", "methods", "rows", "max_time"):
        command += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    command += ["--plain"] * arguments.plain
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=Path(__file__).parents[1])
    return json.loads(done.stdout.splitlines()[-1])


def key_of(row: Row) -> Key:
    return row["table"], row["width"], row["method"]


def ratios(rows: list[Row]) -> dict[Key, float]:
    """Return the time of each fit over that of the reference at the same table and width."""
    reference = {key_of(row)[:2]: row["cpu_s"] for row in rows if row["method"] == REFERENCE}
    return {key_of(row): row["cpu_s"] / reference[key_of(row)[:2]] for row in rows}


def is_too_slow(row: Row, ratio: float) -> bool:
    """Tell whether a fit takes more than its method may."""
    most, seconds = LIMITS.get(row["method"], (np.inf, np.inf))
    return bool(ratio > most and row["cpu_s"] > seconds)


def is_worse(row: Row, before: Row, tolerance: float = 1e-3) -> bool:
    """Tell whether the criterion is worse than that of the other version, by more than a share of its size."""
    return bool(row["sense"] * (row["criterion"] - before["criterion"]) < -tolerance * abs(before["criterion"]))


def detail_table(rows: list[Row], before: list[Row]) -> Table:
    ratio, known = ratios(rows), {key_of(row): row for row in before}
    table = Table(title="ratio: CPU over that of the relevance vector machine; *: over the limit; !: worse than before")
    for name in ("table", "gamma", "method"):
        table.add_column(name)
    for name in ("CPU s", "ratio", "error", "functions", "coverage", "criterion", "before", "CPU before"):
        table.add_column(name, justify="right")
    table.add_column("outcome", no_wrap=True)
    last = None
    for row in rows:
        key = key_of(row)
        other = known.get(key)
        if last is not None and last != key[:2]:
            table.add_section()
        last = key[:2]
        table.add_row(
            *key,
            f"{row['cpu_s']:.3f}",
            f"{ratio[key]:.1f}{'*' if is_too_slow(row, ratio[key]) else ' '}",
            f"{row['error']:.3f}",
            str(row["functions"]),
            f"{row['coverage']:.3f}",
            f"{row['criterion']:.6g}{'!' if other and is_worse(row, other) else ' '}",
            f"{other['criterion']:.6g}" if other else "",
            f"{other['cpu_s']:.3f}" if other else "",
            row["outcome"].lower().replace("_", " "),
        )
    return table


def summary_table(rows: list[Row]) -> Table:
    """Return the extremes of each method over all tables and widths."""
    ratio = ratios(rows)
    table = Table(title="Extremes over tables and widths")
    table.add_column("method")
    for name in ("fits", "slowest CPU s", "largest ratio", "over the limit", "worst error", "most functions", "least coverage"):
        table.add_column(name, justify="right")
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        table.add_row(
            method,
            str(len(own)),
            f"{max(row['cpu_s'] for row in own):.2f}",
            f"{max(ratio[key_of(row)] for row in own):.1f}",
            str(sum(is_too_slow(row, ratio[key_of(row)]) for row in own)),
            f"{max(row['error'] for row in own):.3f}",
            str(max(row["functions"] for row in own)),
            f"{min(row['coverage'] for row in own):.3f}",
        )
    return table


if __name__ == "__main__":
    main()
