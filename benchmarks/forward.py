"""Compare forward selection with orthogonal matching pursuit, for a given number of functions: ``python -m benchmarks.forward``.

Orthogonal matching pursuit is timed twice: with a kernel matrix that is free, and with the time to evaluate it. Our methods always
evaluate it within their time. A second table has kernel matching pursuit with all variants and losses (``--only pursuit``). Run
nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import Lars, OrthogonalMatchingPursuit
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.problems import GAMMA, Problem
from benchmarks.timing import cpu_seconds, wall_seconds
from skarce import (
    KernelBasis,
    KernelMatchingPursuitClassifier,
    KernelMatchingPursuitRegressor,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
)

OURS = "skarce ols"
VARIANTS = ("back-fitting", "pre-fitting", "basic")
Data = dict[str, np.ndarray]  # X, y, X_test, y_test, and the kernel matrix of the training rows


@dataclass(frozen=True)
class Rival:
    """A method: how to fit it, how well it predicts, and how many functions its model has."""

    name: str
    fit: Callable[[Data, int], Any]
    score: Callable[[Any, Data], float]
    size: Callable[[Any], int]


def _ours(name: str, make: Callable[..., Any]) -> Rival:
    return Rival(
        name,
        lambda data, size: make(KernelBasis(gamma=GAMMA), n_basis=size).fit(data["X"], data["y"]),
        lambda model, data: r2_score(data["y_test"], model.predict(data["X_test"])),
        lambda model: len(model.active_),
    )


def _labels(name: str) -> Rival:
    """The classifier, for the question whether the target is positive. Its score is the share of right labels."""
    return Rival(
        name,
        lambda data, size: KernelMatchingPursuitClassifier(KernelBasis(gamma=GAMMA), n_basis=size, calibrate_proba=False).fit(
            data["X"], data["y"] > 0.0
        ),
        lambda model, data: model.score(data["X_test"], data["y_test"] > 0.0),
        lambda model: len(model.active_),
    )


def _evaluated(data: Data) -> np.ndarray:
    return rbf_kernel(data["X"], gamma=GAMMA)


def _theirs(name: str, make: Callable[..., Any], kernel: Callable[[Data], np.ndarray]) -> Rival:
    return Rival(
        name,
        lambda data, size: make(n_nonzero_coefs=size).fit(kernel(data), data["y"]),
        lambda model, data: r2_score(data["y_test"], model.predict(rbf_kernel(data["X_test"], data["X"], gamma=GAMMA))),
        lambda model: int(np.count_nonzero(model.coef_)),
    )


RIVALS = [
    _ours(OURS, OrthogonalLeastSquaresRegressor),
    _ours("skarce rfs", RegularizedForwardRegressor),
    _ours("skarce rfs, orthogonal", lambda *a, **k: RegularizedForwardRegressor(*a, penalize="orthogonal", **k)),
    _theirs("OMP, kernel for nothing", OrthogonalMatchingPursuit, lambda data: data["kernel"]),
    _theirs("OMP and its kernel", OrthogonalMatchingPursuit, _evaluated),
]
PURSUITS = [
    *(_ours(f"skarce {name}", partial(KernelMatchingPursuitRegressor, variant=name)) for name in VARIANTS),
    *(_ours(f"Huber, {name}", partial(KernelMatchingPursuitRegressor, variant=name, loss="huber")) for name in VARIANTS),
    _labels("logistic, labels"),
    _theirs("OMP and its kernel", OrthogonalMatchingPursuit, _evaluated),
    _theirs("lars and its kernel", Lars, _evaluated),
]
NONE_KNOWN = (np.nan, np.nan)
PROBLEMS = [
    (Problem(1, 500, 50, NONE_KNOWN), 50),
    (Problem(1, 2000, 20, NONE_KNOWN), 100),
    (Problem(2, 2000, 20, NONE_KNOWN), 20),
    (Problem(1, 4000, 10, NONE_KNOWN), 200),
]


@dataclass(frozen=True)
class Part:
    """A table: its methods, of which the first is what others are compared with, and its problems with numbers of functions."""

    title: str
    rivals: Sequence[Rival]
    problems: Sequence[tuple[Problem, int]]


PARTS = {
    "forward": Part("Forward selection of a given number of functions", RIVALS, PROBLEMS),
    "pursuit": Part(
        "Kernel matching pursuit with a given number of functions", PURSUITS, [(replace(p, repeats=5), k) for p, k in PROBLEMS[:3]]
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forward", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--max-rows", type=int, default=4000, help="skip problems with more rows (default: %(default)s)")
    parser.add_argument("--only", choices=list(PARTS), help="one of the tables (default: both)")
    arguments = parser.parse_args()
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name in PARTS if arguments.only is None else (arguments.only,):
        measure(name, arguments.max_rows, folder)


def measure(name: str, max_rows: int, folder: Path) -> None:
    """Run one part, print its table, and write it."""
    part, console = PARTS[name], Console() if sys.stdout.isatty() else Console(width=130)
    record: dict[str, Any] = {"machine": machine(), "problems": {}}
    for problem, size in part.problems:
        if problem.n_rows <= max_rows:
            console.print(f"{problem.name} ...", style="dim")
            record["problems"][f"{problem.name}, {size} functions"] = compare(part.rivals, problem, size)
    table = table_of(part, record["problems"])
    console.print(table)
    (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / f"{name}.txt", "w") as file:
        Console(file=file, width=130).print(table)
    console.print(f"written to {folder}")


def compare(rivals: Sequence[Rival], problem: Problem, size: int) -> dict[str, Any]:
    """Measure the best wall time, then the best CPU time. All methods have the same number of fits, interleaved in random order.

    CPU times come from a separate loop on one BLAS thread: a second thread that waits for work would count as busy.
    """
    data = dict(zip(("X", "y", "X_test", "y_test"), problem.load(), strict=True))
    data["kernel"] = rbf_kernel(data["X"], gamma=GAMMA)
    rows: dict[str, Any] = {rival.name: {"wall_s": np.inf, "cpu_s": np.inf, "fits": 0} for rival in rivals}
    order = np.random.default_rng(0)
    for _ in range(problem.repeats):
        for rival in order.permutation(np.array(rivals, dtype=object)):
            row = rows[rival.name]
            seconds, model = wall_seconds(lambda rival=rival: rival.fit(data, size))
            row["wall_s"], row["fits"], row["model"] = min(row["wall_s"], seconds), row["fits"] + 1, model
    with threadpool_limits(1):
        time.sleep(0.5)
        for _ in range(problem.repeats):
            for rival in order.permutation(np.array(rivals, dtype=object)):
                row = rows[rival.name]
                row["cpu_s"] = min(row["cpu_s"], cpu_seconds(lambda rival=rival: rival.fit(data, size)))
    for rival in rivals:
        row = rows[rival.name]
        model = row.pop("model")
        row["functions"] = rival.size(model)
        row["test_r2"] = rival.score(model, data)
    return rows


def table_of(part: Part, problems: dict[str, Any]) -> Table:
    first = part.rivals[0].name
    table = Table(title=f"{part.title}; ratios are the time of each over that of {first}")
    for name in ("problem", "method", "wall s", "ratio", "CPU s, one BLAS thread", "ratio", "functions", "test R2", "fits"):
        table.add_column(name, justify="left" if name in ("problem", "method") else "right")
    for problem, rows in problems.items():
        wall, cpu = rows[first]["wall_s"], rows[first]["cpu_s"]
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
