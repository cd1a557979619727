"""Compare the searches by the evidence with one precision: ``python -m benchmarks.searches``.

Operations are additions and removals, including those that were undone. The refits that calibrate the std are left out. Run nothing
else at the same time.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import r2_score

from benchmarks.__main__ import machine
from benchmarks.problems import GAMMA, Problem
from benchmarks.timing import cpu_seconds, wall_seconds
from skarce import EvidenceSearchRegressor, KernelBasis

SEARCHES = ("forward", "plus-take-away", "floating", "oscillating", "best-action", "backward")
N_ROWS = 1024
PROBLEMS = [Problem(2, N_ROWS, 2, (np.nan, np.nan)), Problem(1, N_ROWS, 1, (np.nan, np.nan))]
COLUMNS = ("problem", "search", "precisions", "wall s", "operations", "operations per s", "functions", "log evidence", "test R2")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searches", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--searches", nargs="+", default=SEARCHES, choices=SEARCHES, help="run only these searches")
    parser.add_argument("--rows", type=int, default=N_ROWS, help="number of training rows and of candidates (default: %(default)s)")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine(), "problems": {}}
    for problem in PROBLEMS:
        problem = Problem(problem.generator, arguments.rows, problem.repeats, problem.evidence)
        console.print(f"{problem.name} ...", style="dim")
        record["problems"][problem.name] = [measure(problem, s, r) for s in arguments.searches for r in ("tight", "paper")]
    console.print(table_of(record["problems"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "searches.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "searches.txt", "w") as file:
        Console(file=file, width=130).print(table_of(record["problems"]))
    console.print(f"written to {folder}")


def measure(problem: Problem, search: str, reestimate: str) -> dict[str, Any]:
    """Return the best wall time of a few fits, including the kernel and the Gram matrix."""
    X, y, X_test, y_test = problem.load()

    def fit() -> EvidenceSearchRegressor:
        basis = KernelBasis(gamma=GAMMA)
        return EvidenceSearchRegressor(basis, search=search, reestimate=reestimate, calibrate_std=False).fit(X, y)

    seconds, model = min((wall_seconds(fit) for _ in range(problem.repeats)), key=lambda timed: timed[0])
    operations = int(np.isin(model.trace_["action"], ["add", "delete"]).sum())
    return {
        "search": search,
        "reestimate": reestimate,
        "wall_s": seconds,
        "cpu_s": cpu_seconds(fit) if problem.repeats > 1 else None,
        "operations": operations,
        "operations_per_s": operations / seconds,
        "functions": len(model.active_),
        "log_evidence": model.criterion_,
        "test_r2": r2_score(y_test, model.predict(X_test)),
    }


def table_of(problems: dict[str, Any]) -> Table:
    table = Table(title="Searches guided by the evidence; as many candidates as rows, rbf kernels")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in COLUMNS[:3] else "right")
    for problem, rows in problems.items():
        for row in rows:
            table.add_row(
                problem,
                row["search"],
                row["reestimate"],
                f"{row['wall_s']:.2f}",
                str(row["operations"]),
                f"{row['operations_per_s']:.0f}",
                str(row["functions"]),
                f"{row['log_evidence']:.1f}",
                f"{row['test_r2']:.4f}",
            )
        table.add_section()
    return table


if __name__ == "__main__":
    main()
