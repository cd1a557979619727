"""Searches by evidence from the empty model, and again from functions that span the others: ``python -m benchmarks.starts``.

If kernels are wide, no single one helps a small model, and a search from the empty model can stop far too early. The table compares
``start="empty"`` and ``start="auto"`` over tables and kernel widths: test error (in standard deviations of the target), functions,
log evidence and CPU seconds. The widths are gamma in units of 1 / n_inputs. Rows where the two differ are marked.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from skarce import EvidenceSearchRegressor, KernelBasis
from skarce.datasets import load

GENERATED = {"friedman1": make_friedman1, "friedman2": make_friedman2, "friedman3": make_friedman3}
TUNED = ("boston", "cpu_act", "puma8fh", "puma8fm", "puma8nh", "puma8nm", "friedman1", "friedman2")
REPORTED = ("abalone", "kin8fh", "kin8fm", "kin8nh", "kin8nm", "friedman3")
WIDTHS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)
N_ROWS, MOST_NEW = 300, 1000
NOISE_SHARE = 0.03  # of the standard deviation of a generated target
COLUMNS = ("table", "gamma", "search", "error", "then", "functions", "then", "log evidence", "then", "CPU s", "then", "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starts", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--tables", nargs="+", default=REPORTED, choices=(*TUNED, *REPORTED), help="default: those not tuned on")
    parser.add_argument("--searches", nargs="+", default=["forward"], help="default: forward")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=150)
    record: dict[str, Any] = {"machine": machine(), "rows": []}
    with threadpool_limits(1):
        for name in arguments.tables:
            console.print(f"{name} ...", style="dim")
            record["rows"] += [compared(name, width, search) for width in WIDTHS for search in arguments.searches]
    console.print(table_of(record["rows"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "starts.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "starts.txt", "w") as file:
        Console(file=file, width=150).print(table_of(record["rows"]))
    console.print(f"written to {folder}")


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y for training and for testing, standardized by the training rows."""
    rng = np.random.default_rng(0)
    if name in GENERATED:
        X, y = GENERATED[name](N_ROWS + MOST_NEW, noise=0.0, random_state=0)
        y = y + NOISE_SHARE * y.std() * rng.normal(size=len(y))
    else:
        X, y, *_ = load(name)
        chosen = rng.permutation(len(y))[: N_ROWS + MOST_NEW]
        X, y = X[chosen], y[chosen]
    scale = X[:N_ROWS].std(axis=0)
    X = (X - X[:N_ROWS].mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
    y = (y - y[:N_ROWS].mean()) / y[:N_ROWS].std()
    return X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:]


def compared(name: str, width: float, search: str) -> dict[str, Any]:
    X, y, X_new, y_new = rows_of(name)
    row: dict[str, Any] = {"table": name, "gamma": width, "search": search}
    for start in ("empty", "auto"):
        model = EvidenceSearchRegressor(KernelBasis(gamma=width / X.shape[1]), search=search, start=start)
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        row[start] = {
            "cpu_s": time.process_time() - began,
            "error": float(np.sqrt(np.mean((y_new - model.predict(X_new)) ** 2))),
            "functions": len(model.active_),
            "log_evidence": float(model.criterion_),
            "outcome": model.outcome_.name,
        }
    return row


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Evidence search from the empty model, then with a second start")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in COLUMNS[:3] else "right")
    for row in rows:
        shown = (("error", ".4f"), ("functions", "d"), ("log_evidence", ".1f"), ("cpu_s", ".2f"))
        values = [format(row[start][name], how) for name, how in shown for start in ("empty", "auto")]
        mark = "*" if row["empty"]["log_evidence"] != row["auto"]["log_evidence"] else ""
        table.add_row(row["table"], f"{row['gamma']:.4g}", row["search"], *values, mark)
    return table


if __name__ == "__main__":
    main()
