"""True and false terms in the equations of a Lorenz system, from derivatives of a smoothed noisy trajectory.

``python -m benchmarks.dependent_rows [--out FOLDER] [--seeds 3]``. The candidates are all products of x, y and z up to degree 3.
Noise is added to every coordinate, a Savitzky-Golay filter of 51 rows smooths it, and its derivatives are the targets. So the
errors of neighboring rows are alike. Methods run with every row as an observation (``None``), with ``effective_samples="auto"``,
and with the number of rows divided by the width of the filter. STLSQ is least squares with all terms of a coefficient below 0.5
taken out, again and again; its threshold is half of the smallest true coefficient, which a user would not know.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.integrate import solve_ivp
from scipy.signal import savgol_filter
from sklearn.linear_model import ARDRegression
from sklearn.preprocessing import PolynomialFeatures

from skarce import (
    FastGCVRegressor,
    JeffreysPriorRegressor,
    LaplacePriorRegressor,
    OrthogonalLeastSquaresRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)

N_ROWS, STEP, WINDOW, DEGREE = 10_000, 0.002, 51, 3
NOISES = (0.01, 0.05, 0.1)  # in standard deviations of each coordinate
THRESHOLD = 0.5  # of STLSQ
TERMS = list(PolynomialFeatures(DEGREE, include_bias=False).fit(np.zeros((1, 3))).get_feature_names_out(["x", "y", "z"]))
TRUE = ({"x", "y"}, {"x", "y", "x z"}, {"z", "x y"})
METHODS: dict[str, Callable[..., Any]] = {
    "RVM": RelevanceVectorRegressor,
    "FGCV": FastGCVRegressor,
    "VBLS": VBLSRegressor,
    "Jeffreys": JeffreysPriorRegressor,
    "Laplace": LaplacePriorRegressor,
    "OLS": OrthogonalLeastSquaresRegressor,
}


class Problem(NamedTuple):
    """The library of candidate terms, and the derivatives of x, y and z."""

    library: np.ndarray
    derivatives: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dependent_rows", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for dependent_rows.txt and dependent_rows.json")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = [row for noise in NOISES for row in compared(noise, arguments.seeds)]
    report("dependent_rows", rows, table_of(rows), arguments.out)


def report(name: str, rows: Any, table: Table, folder: Path | None) -> None:
    """Print the table. If there is a folder, also write it there as text, and the rows, or what they are in, as JSON."""
    console = Console(width=120, record=True)
    console.print(table)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_text(console.export_text())
        (folder / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")


def drawn(noise: float, seed: int) -> Problem:
    """A trajectory on the attractor, smoothed after noise was added. Rows at the ends, which the filter extrapolates, are cut."""
    rng = np.random.default_rng(seed)
    start = solve_ivp(lorenz, (0.0, 10.0), rng.normal([0.0, 0.0, 25.0]), rtol=1e-9, atol=1e-9).y[:, -1]
    times = STEP * np.arange(N_ROWS)
    path = solve_ivp(lorenz, (0.0, times[-1]), start, t_eval=times, rtol=1e-10, atol=1e-10).y.T
    measured = path + noise * path.std(axis=0) * rng.normal(size=path.shape)
    smooth, slopes = (savgol_filter(measured, WINDOW, 3, deriv=k, delta=STEP, axis=0)[WINDOW:-WINDOW] for k in (0, 1))
    return Problem(PolynomialFeatures(DEGREE, include_bias=False).fit_transform(smooth), slopes)


def lorenz(_: float, state: np.ndarray) -> list[float]:
    x, y, z = state
    return [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z]


def compared(noise: float, n_seeds: int) -> list[dict[str, Any]]:
    """One row for each method and kind of `effective_samples`: means over the seeds."""
    problems = [drawn(noise, seed) for seed in range(n_seeds)]
    n_good = len(problems[0].library) / WINDOW
    fits: dict[tuple[str, str], Callable[[np.ndarray, np.ndarray], tuple[list[int], float]]] = {
        ("STLSQ", "-"): thresholded,
        ("ARD (scikit-learn)", "-"): by_ard,
    }
    for name, make in METHODS.items():
        for label, given in (("None", None), ("auto", "auto"), ("rows / window", n_good)):
            fits[name, label] = lambda X, y, make=make, given=given: by_skarce(make, given, X, y)
    return [{"noise": noise, "method": key[0], "effective": key[1], **summary(fit, problems)} for key, fit in fits.items()]


def summary(fit: Callable[[np.ndarray, np.ndarray], tuple[list[int], float]], problems: list[Problem]) -> dict[str, float]:
    n_true, n_false, n_effective, began = [], [], [], time.process_time()
    for library, derivatives in problems:
        found = [fit(library, derivatives[:, equation]) for equation in range(3)]
        terms = [{TERMS[place] for place in active} for active, _ in found]
        n_true.append(sum(len(own & true) for own, true in zip(terms, TRUE, strict=True)))
        n_false.append(sum(len(own - true) for own, true in zip(terms, TRUE, strict=True)))
        n_effective += [n for _, n in found]
    seconds = (time.process_time() - began) / len(problems)
    means = {"true": n_true, "false": n_false, "n_effective": n_effective}
    return {**{name: float(np.mean(values)) for name, values in means.items()}, "worst_false": max(n_false), "cpu_s": seconds}


def by_skarce(make: Callable[..., Any], given: Any, X: np.ndarray, y: np.ndarray) -> tuple[list[int], float]:
    model = make("passthrough", effective_samples=given, calibrate_std=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X / X.std(axis=0), y)
    return list(model.active_), model.n_effective_


def by_ard(X: np.ndarray, y: np.ndarray) -> tuple[list[int], float]:
    return list(np.flatnonzero(ARDRegression().fit(X / X.std(axis=0), y).coef_)), float(len(X))


def thresholded(X: np.ndarray, y: np.ndarray) -> tuple[list[int], float]:
    """Sequentially thresholded least squares, with a constant that is always in."""
    X, y, kept = X - X.mean(axis=0), y - y.mean(), np.arange(X.shape[1])
    while len(kept):
        scale = X[:, kept].std(axis=0)
        weights = np.linalg.lstsq(X[:, kept] / scale, y, rcond=None)[0] / scale
        large = np.abs(weights) >= THRESHOLD
        if large.all():
            break
        kept = kept[large]
    return list(kept), float(len(X))


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(title=f"Terms of a Lorenz system from smoothed rows (7 are true); {N_ROWS:,} rows, means over trajectories")
    for name in ("noise", "method", "effective_samples", "N", "true", "false", "most false", "CPU s"):
        table.add_column(name, justify="left" if name in ("method", "effective_samples") else "right")
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        is_last = after is not None and after["noise"] != row["noise"]
        table.add_row(
            f"{100 * row['noise']:.0f} %",
            row["method"],
            row["effective"],
            f"{row['n_effective']:.0f}",
            f"{row['true']:.1f}",
            f"{row['false']:.1f}",
            f"{row['worst_false']:.0f}",
            f"{row['cpu_s']:.2f}",
            end_section=is_last,
        )
    return table


if __name__ == "__main__":
    main()
