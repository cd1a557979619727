"""Passes in tiles of rows and near centers beside plain passes: ``python -m benchmarks.tree_sums``.

Rows are uniform in a cube of 1 to 6 inputs, and 1000 of them are centers of narrow kernels. A projection is Phi'[1 t] with the
squares of all candidates, and whole sums are Phi'Phi about the mean. Seconds with tiles include those that find the tiles.
Projections are the best of two. Differences are relative to the norms of the columns. ``--inputs 2 --rows 100000`` measures one
part, and the table is made from all parts measured so far. The time of plain whole sums does not depend on the width, so at a
million rows one width is measured. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import machine
from benchmarks.timing import wall_seconds
from skarce import KernelBasis
from skarce._parallel import blas_threads, free_threads
from skarce.basis.candidates import KernelEvaluation, project_near
from skarce.basis.near import NearTiles
from skarce.moments import Sums
from skarce.moments.near_sums import near_sums, tiles_for_sums
from skarce.moments.passes import Block, absorbed

INPUTS, ROWS, N_CENTERS = (1, 2, 3, 4, 5, 6), (100_000, 1_000_000), 1000
WIDTHS = (0.01, 0.03, 0.1)  # standard deviations of the Gaussian, as shares of the side of the cube; the last not for most rows
KERNELS = ("rbf", "matern32", "laplacian")  # the others have longer tails, so they are measured at the least width only
MEASURED = 0.03  # the width at which plain sums of a million rows are measured


def basis_of(kernel: str, width: float, X: np.ndarray) -> KernelBasis:
    gamma = 1.0 / width if kernel == "laplacian" else 0.5 / width**2
    return KernelBasis(kernel, gamma=gamma, centers=X[:N_CENTERS]).fit(X[:1])


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    return min((wall_seconds(work) for _ in range(2)), key=lambda timed: timed[0])


def plain(basis: KernelBasis, X: np.ndarray) -> KernelEvaluation:
    """Return the kernels at the rows. They never take tiles."""
    evaluation = basis.on(X)
    evaluation._near = None
    return evaluation


def tiles_of(evaluation: KernelEvaluation) -> NearTiles:
    return NearTiles(evaluation._kernel, evaluation._rows, evaluation._centers)


def projections(basis: KernelBasis, X: np.ndarray, t: np.ndarray) -> dict[str, Any]:
    """Return seconds of Phi'[1 t] and of all squares: plain, with new tiles, and with tiles from the pass before."""
    right, ones = np.column_stack([np.ones(len(X)), t]), np.ones(len(X))
    whole, evaluation = plain(basis, X), basis.on(X)
    near = tiles_of(evaluation)
    plain_s, (product, squares) = best(lambda: whole.project(right, ones))
    tiles_s, (found, _) = best(lambda: project_near(evaluation, tiles_of(evaluation).tiles, right, ones))
    again_s, _ = best(lambda: project_near(evaluation, near.tiles, right, ones))
    scales = np.multiply.outer(np.sqrt(squares), np.linalg.norm(right, axis=0))
    return {
        "evaluated": float(near.shape.rows @ near.shape.near) / len(X) / N_CENTERS,
        "tiles": len(near.tiles),
        "plain_s": plain_s,
        "tiles_s": tiles_s,
        "again_s": again_s,
        "chosen": basis.on(X).tiles_for_projections() is not None,
        "difference": float((np.abs(found - product) / scales).max()),
    }


def sums(basis: KernelBasis, X: np.ndarray, t: np.ndarray, *, with_plain: bool) -> dict[str, Any]:
    """Return seconds of whole sums, plain and with new tiles."""
    evaluation, targets, empty = basis.on(X), t[:, None], Sums.empty(N_CENTERS, 1)
    with blas_threads(1):
        seconds, found = wall_seconds(lambda: near_sums(evaluation, tiles_of(evaluation).tiles, targets, None, free_threads()))
        row = {"tiles_s": seconds, "chosen": tiles_for_sums(basis.on(X), None) is not None}
        if with_plain:
            row["plain_s"], whole = wall_seconds(lambda: absorbed(empty, Block(plain(basis, X), targets)))
            scales = np.sqrt(whole.raw_squares)
            row["difference"] = float((np.abs(found.gram - whole.gram) / np.multiply.outer(scales, scales)).max())
    return row


def measured(n_inputs: int, n_rows: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X, t = rng.uniform(size=(n_rows, n_inputs)), rng.normal(size=n_rows)
    rows = []
    for kernel in KERNELS if n_rows < ROWS[-1] else KERNELS[:1]:
        for width in WIDTHS[: 1 if kernel != "rbf" else 2 if n_rows == ROWS[-1] else 3]:
            print(f"{n_inputs} inputs, {n_rows:,} rows, {kernel}, width {width} ...", file=sys.stderr)
            basis = basis_of(kernel, width, X)
            with_plain = n_rows < ROWS[-1] or width == MEASURED
            rows.append(
                {"inputs": n_inputs, "rows": n_rows, "kernel": kernel, "width": width}
                | {"projections": projections(basis, X, t), "sums": sums(basis, X, t, with_plain=with_plain)}
            )
    return rows


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title=f"Wall seconds with {N_CENTERS} narrow kernels: plain / tiles / tiles found before. * is what the library chooses"
    )
    for name in (
        "inputs",
        "rows",
        "kernel",
        "width",
        "evaluated",
        "projections",
        "times faster",
        "difference",
        "sums",
        "times faster",
        "difference",
    ):
        table.add_column(name, justify="left" if name == "kernel" else "right")
    for row in rows:
        once, whole = row["projections"], row["sums"]
        plain_s = whole.get("plain_s") or _plain_of_another_width(rows, row)
        table.add_row(
            *(str(row["inputs"]), f"{row['rows']:,}", row["kernel"], f"{row['width']:g}", f"{100 * once['evaluated']:.1f} %"),
            _starred((once["plain_s"], once["tiles_s"], once["again_s"]), once["chosen"]),
            *(f"{once['plain_s'] / once['tiles_s']:.1f}", f"{once['difference']:.0e}"),
            _starred((plain_s, whole["tiles_s"]), whole["chosen"]),
            *(f"{plain_s / whole['tiles_s']:.1f}", f"{whole['difference']:.0e}" if "difference" in whole else ""),
        )
    return table


def _starred(seconds: tuple[float, ...], takes_tiles: bool) -> str:
    """Return the seconds, with a star at the pass that the library chooses."""
    cells = [f"{s:.3f}" for s in seconds]
    cells[int(takes_tiles)] += "*"
    return " / ".join(cells)


def _plain_of_another_width(rows: list[dict[str, Any]], row: dict[str, Any]) -> float:
    same = [other for other in rows if all(other[key] == row[key] for key in ("inputs", "rows", "kernel"))]
    return next(other["sums"]["plain_s"] for other in same if "plain_s" in other["sums"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tree_sums", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--inputs", type=int, nargs="*", default=INPUTS, help="numbers of inputs (default: %(default)s)")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS, help="numbers of rows (default: %(default)s)")
    arguments = parser.parse_args()
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tree_sums.json"
    kept = json.loads(path.read_text())["rows"] if path.exists() else []
    for n_rows in arguments.rows:
        for n_inputs in arguments.inputs:
            kept = [row for row in kept if (row["inputs"], row["rows"]) != (n_inputs, n_rows)] + measured(n_inputs, n_rows)
    kept.sort(key=lambda row: (row["rows"], KERNELS.index(row["kernel"]), row["inputs"], row["width"]))
    path.write_text(json.dumps({"machine": machine(), "rows": kept}, indent=1) + "\n")
    with open(folder / "tree_sums.txt", "w") as file:
        for console in (Console(width=170), Console(file=file, width=170)):
            console.print(table_of(kept))


if __name__ == "__main__":
    main()
