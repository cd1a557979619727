"""Compare forward selection with orthogonal matching pursuit, for a given number of functions: ``python -m benchmarks.forward``.

Orthogonal matching pursuit is timed twice: with a kernel matrix that is free, and with the time to evaluate it. Our methods always
evaluate it within their time. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import OrthogonalMatchingPursuit
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.problems import GAMMA, Problem
from benchmarks.timing import cpu_seconds, wall_seconds
from skarce import KernelBasis, OrthogonalLeastSquaresRegressor, RegularizedForwardRegressor

OURS = "skarce ols"
Data = dict[str, np.ndarray]  # X, y, X_test, y_test, and the kernel matrix of the training rows


@dataclass(frozen=True)
class Rival:
    """A method: how to fit it, how it predicts, and how many functions its model has."""

    name: str
    fit: Callable[[Data, int], Any]
    predict: Callable[[Any, Data], np.ndarray]
    size: Callable[[Any], int]


def _ours(name: str, make: Callable[..., Any]) -> Rival:
    return Rival(
        name,
        lambda data, size: make(KernelBasis(gamma=GAMMA), n_basis=size).fit(data["X"], data["y"]),
        lambda model, data: model.predict(data["X_test"]),
        lambda model: len(model.active_),
    )


def _pursuit(name: str, kernel: Callable[[Data], np.ndarray]) -> Rival:
    return Rival(
        name,
        lambda data, size: OrthogonalMatchingPursuit(n_nonzero_coefs=size).fit(kernel(data), data["y"]),
        lambda model, data: model.predict(rbf_kernel(data["X_test"], data["X"], gamma=GAMMA)),
        lambda model: int(np.count_nonzero(model.coef_)),
    )


RIVALS = [
    _ours(OURS, OrthogonalLeastSquaresRegressor),
    _ours("skarce rfs", RegularizedForwardRegressor),
    _ours("skarce rfs, orthogonal", lambda *a, **k: RegularizedForwardRegressor(*a, penalize="orthogonal", **k)),
    _pursuit("OMP, kernel for nothing", lambda data: data["kernel"]),
    _pursuit("OMP and its kernel", lambda data: rbf_kernel(data["X"], gamma=GAMMA)),
]
NONE_KNOWN = (np.nan, np.nan)
PROBLEMS = [
    (Problem(1, 500, 50, NONE_KNOWN), 50),
    (Problem(1, 2000, 20, NONE_KNOWN), 100),
    (Problem(2, 2000, 20, NONE_KNOWN), 20),
    (Problem(1, 4000, 10, NONE_KNOWN), 200),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forward", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, default=4000, help="skip problems with more rows (default: %(default)s)")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine(), "problems": {}}
    for problem, size in PROBLEMS:
        if problem.n_rows <= arguments.max_rows:
            console.print(f"{problem.name} ...", style="dim")
            record["problems"][f"{problem.name}, {size} functions"] = compare(problem, size)
    console.print(table_of(record["problems"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "forward.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "forward.txt", "w") as file:
        Console(file=file, width=130).print(table_of(record["problems"]))
    console.print(f"written to {folder}")


def compare(problem: Problem, size: int) -> dict[str, Any]:
    """Measure the best wall time, then the best CPU time. All methods have the same number of fits, interleaved in random order.

    CPU times come from a separate loop on one BLAS thread: a second thread that waits for work would count as busy.
    """
    data = dict(zip(("X", "y", "X_test", "y_test"), problem.load(), strict=True))
    data["kernel"] = rbf_kernel(data["X"], gamma=GAMMA)
    rows: dict[str, Any] = {rival.name: {"wall_s": np.inf, "cpu_s": np.inf, "fits": 0} for rival in RIVALS}
    order = np.random.default_rng(0)
    for _ in range(problem.repeats):
        for rival in order.permutation(np.array(RIVALS, dtype=object)):
            row = rows[rival.name]
            seconds, model = wall_seconds(lambda rival=rival: rival.fit(data, size))
            row["wall_s"], row["fits"], row["model"] = min(row["wall_s"], seconds), row["fits"] + 1, model
    with threadpool_limits(1):
        time.sleep(0.5)
        for _ in range(problem.repeats):
            for rival in order.permutation(np.array(RIVALS, dtype=object)):
                row = rows[rival.name]
                row["cpu_s"] = min(row["cpu_s"], cpu_seconds(lambda rival=rival: rival.fit(data, size)))
    for rival in RIVALS:
        row = rows[rival.name]
        model = row.pop("model")
        row["functions"] = rival.size(model)
        row["test_r2"] = r2_score(data["y_test"], rival.predict(model, data))
    return rows


def table_of(problems: dict[str, Any]) -> Table:
    table = Table(title="Forward selection of a given number of functions; ratios are the time of each over that of skarce ols")
    for name in ("problem", "method", "wall s", "ratio", "CPU s, one BLAS thread", "ratio", "functions", "test R2", "fits"):
        table.add_column(name, justify="left" if name in ("problem", "method") else "right")
    for problem, rows in problems.items():
        wall, cpu = rows[OURS]["wall_s"], rows[OURS]["cpu_s"]
        for name, row in rows.items():
            table.add_row(
                problem,
                name,
                f"{row['wall_s']:.4f}",
                f"{row['wall_s'] / wall:.2f}",
                f"{row['cpu_s']:.4f}",
                f"{row['cpu_s'] / cpu:.2f}",
                str(row["functions"]),
                f"{row['test_r2']:.4f}",
                str(row["fits"]),
            )
        table.add_section()
    return table


if __name__ == "__main__":
    main()
