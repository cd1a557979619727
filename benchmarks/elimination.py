"""Compare backward elimination with one evaluation of the evidence and its gradient: ``python -m benchmarks.elimination``.

The data are Friedman 1, with one kernel for each row. Elimination goes from all functions down to 50, once in blocks and once by
rank-one updates of the whole matrix. Its time includes everything after the full model: the inverse, the removals, and a new
inverse each time the size has halved. Operations are counted (only one half of each symmetric matrix), and their rate is compared
with the matrix product of this machine. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1

from benchmarks.__main__ import machine
from benchmarks.timing import wall_seconds
from skarce import KernelBasis
from skarce._parallel import blas_threads
from skarce.designs import InMemoryDesign, Rows
from skarce.methods.elimination.removals import BLOCK, removals
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.width_evidence import WeightedTargets, WidthEvidence
from skarce.moments import Moments

LEFT = 50
GAMMA, RIDGE, RATIO = 0.3, 0.01, 100.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elimination", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 2000], help="numbers of rows (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="number of runs; the best counts (default: %(default)s)")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine(), "left": LEFT, "sizes": {}}
    for size in arguments.rows:
        console.print(f"{size} functions ...", style="dim")
        record["sizes"][size] = measure(size, arguments.repeats, record["machine"]["product_gflops"])
    console.print(table_of(record["sizes"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "elimination.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "elimination.txt", "w") as file:
        Console(file=file, width=130).print(table_of(record["sizes"]))
    console.print(f"written to {folder}")


def measure(size: int, repeats: int, product_gflops: float) -> dict[str, Any]:
    """Return the best wall times. The methods take turns."""
    X, y = make_friedman1(size, noise=1.0, random_state=0)
    (moments,) = InMemoryDesign(KernelBasis(gamma=GAMMA, centers=None).fit(X), Rows(X, y[:, None])).moments("whole")
    evidence = WidthEvidence(KernelSlopes("rbf", X, X), WeightedTargets.of(y[:, None], None, fit_intercept=True))
    works: dict[str, Callable[[], Any]] = {
        "evidence_s": lambda: evidence.at(np.full(X.shape[1], GAMMA), RATIO),
        "elimination_s": lambda: eliminate(moments, BLOCK),
        "rank_one_s": lambda: eliminate(moments, 1),
    }
    row: dict[str, Any] = dict.fromkeys(works, np.inf)
    with blas_threads(1):
        for repeat in range(repeats):
            for name, work in works.items():
                if name != "rank_one_s" or repeat == 0:
                    row[name] = min(row[name], wall_seconds(work)[0])
    row["ratio"] = row["elimination_s"] / row["evidence_s"]
    row["gflops"] = n_operations(size) / row["elimination_s"] / 1e9
    row["share_of_product_rate"] = row["gflops"] / product_gflops
    return row


def eliminate(moments: Moments, block: int) -> None:
    n_steps = moments.n_candidates - LEFT
    for _ in islice(removals(moments.gram, np.arange(moments.n_candidates), moments.projections, RIDGE, block), n_steps):
        pass


def n_operations(size: int) -> float:
    """Count additions and multiplications: m^3 for an inverse, and for a removal m^2 (update) and 3 m (weights and diagonal)."""
    inverses, m = 0.0, size
    while m > LEFT:
        inverses += float(m) ** 3
        m //= 2
    sizes = np.arange(LEFT + 1, size + 1, dtype=np.float64)
    return inverses + float((sizes**2 + (BLOCK + 6.0) * sizes).sum())


def table_of(sizes: dict[int, Any]) -> Table:
    table = Table(title=f"Elimination down to {LEFT} functions, and one evaluation of the evidence with gradient; wall seconds")
    for name in ("functions", "evidence", "elimination", "ratio", "rank-one updates", "GFlop/s", "share of matrix product"):
        table.add_column(name, justify="right")
    for size, row in sizes.items():
        table.add_row(
            str(size),
            f"{row['evidence_s']:.3f}",
            f"{row['elimination_s']:.3f}",
            f"{row['ratio']:.2f}",
            f"{row['rank_one_s']:.2f}",
            f"{row['gflops']:.1f}",
            f"{row['share_of_product_rate']:.0%}",
        )
    return table


if __name__ == "__main__":
    main()
