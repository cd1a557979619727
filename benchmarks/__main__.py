"""Compare regressors: print a table of times and ratios, and save all numbers as JSON. Run nothing else at the same time."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score

from benchmarks.methods import Competitor, available
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.quality import largest_single_gain, log_evidence
from benchmarks.timing import cpu_seconds, peak_in_own_process, product_rate, wall_seconds

OURS = "skarce frvm"


def main() -> None:
    arguments = parse_arguments()
    console = Console() if sys.stdout.isatty() else Console(width=150)
    record: dict[str, Any] = {"machine": machine(), "problems": {}}
    for problem in PROBLEMS:
        if problem.n_rows <= arguments.max_rows:
            console.print(f"{problem.name} ...", style="dim")
            record["problems"][problem.name] = compare(problem)
    console.print(table_of(record["problems"]))
    if arguments.max_rows >= 10_000:
        record["large fit"] = peak_in_own_process("benchmarks.large_fit")
        console.print(large_table(record["large fit"]))
    if arguments.out:
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "regression.json").write_text(json.dumps(record, indent=1) + "\n")
        with open(folder / "regression.txt", "w") as file:
            plain = Console(file=file, width=150)
            plain.print(table_of(record["problems"]))
            if "large fit" in record:
                plain.print(large_table(record["large fit"]))
        console.print(f"written to {folder}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--out", help="folder for regression.json and regression.txt")
    parser.add_argument("--max-rows", type=int, default=10_000, help="skip problems with more rows (default: %(default)s)")
    return parser.parse_args()


def machine() -> dict[str, Any]:
    import joblib

    return {
        "processor": platform.processor() or platform.machine(),
        "cores": joblib.cpu_count(),
        "product_gflops": product_rate() / 1e9,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def compare(problem: Problem) -> dict[str, Any]:
    """Run all methods on one problem, with their fits interleaved in random order. The shortest wall time of several counts."""
    X, y, X_test, y_test = problem.load()
    chosen = [m for m in available() if problem.n_rows <= m.max_rows]
    rows: dict[str, Any] = {m.name: {"wall_s": np.inf, "fits": 0} for m in chosen}
    order = np.random.default_rng(0)
    for repeat in range(problem.repeats):
        for method in order.permutation(np.array(chosen, dtype=object)):
            row = rows[method.name]
            seconds, model = wall_seconds(lambda method=method: quiet_fit(method, X, y))
            row["wall_s"], row["fits"] = min(row["wall_s"], seconds), repeat + 1
            row["model"] = model
    for method in chosen:
        finish(rows[method.name], method, problem, X, y, X_test, y_test)
    return rows


def quiet_fit(method: Competitor, X: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        if not method.name.startswith("skarce"):
            warnings.simplefilter("ignore", ConvergenceWarning)
        return method.make().fit(X, y)


def finish(row: dict[str, Any], method: Competitor, problem: Problem, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    """Add what does not need interleaved fits: CPU seconds, quality and memory."""
    model = row.pop("model")
    row["cpu_s"] = min(cpu_seconds(lambda: quiet_fit(method, X, y)) for _ in range(1 if row["wall_s"] > 1.0 else 3))
    row["functions"] = method.size(model)
    row["test_r2"] = r2_score(y_test, model.predict(X_test))
    if getattr(model, "criterion_sense_", 1) < 0:
        row["gcv"] = model.criterion_
    elif hasattr(model, "relevance_vectors_"):
        row["log_evidence"] = log_evidence(model, X, y)
    if method.name.startswith("skarce"):
        row["largest_single_gain"] = largest_single_gain(model, X, y)
        row["outcome"] = model.outcome_.name
    row.update(peak_in_own_process("benchmarks.memory", problem.name, method.name))


def table_of(problems: dict[str, Any]) -> Table:
    table = Table(title="Fit times side by side; ratio is the rival's wall time over ours")
    for name in (
        "problem",
        "method",
        "wall s",
        "ratio",
        "CPU s",
        "functions",
        "test R2",
        "log evidence",
        "GCV",
        "single gain",
        "MB",
    ):
        table.add_column(name, justify="left" if name in ("problem", "method") else "right")
    for problem, rows in problems.items():
        ours = rows[OURS]["wall_s"]
        for name, row in rows.items():
            table.add_row(
                problem,
                name,
                f"{row['wall_s']:.4f}",
                "" if name == OURS else f"{row['wall_s'] / ours:.1f}",
                f"{row['cpu_s']:.4f}",
                str(row["functions"]),
                f"{row['test_r2']:.4f}",
                f"{row['log_evidence']:.1f}" if "log_evidence" in row else "",
                f"{row['gcv']:.5f}" if "gcv" in row else "",
                f"{row['largest_single_gain']:.1e}" if "largest_single_gain" in row else "",
                f"{row['peak_mb']:.0f}",
            )
        table.add_section()
    return table


def large_table(report: dict[str, Any]) -> Table:
    table = Table(title="One large fit from row blocks")
    table.add_column("what")
    table.add_column("value", justify="right")
    for name, value in report.items():
        table.add_row(
            name.replace("_", " "),
            f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value,
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
