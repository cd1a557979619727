"""Equations of a Lorenz system by pysindy, with our models as its optimizers, beside its own.

``python -m benchmarks.sindy [--out FOLDER] [--seeds 3]``, in an environment with pysindy (``make test-clients`` makes one). The
trajectories and their smoothing are those of `benchmarks.dependent_rows`, and the candidates are all products of x, y and z up to
degree 3. Thresholds of pysindy's optimizers are half of the smallest true coefficient, which a user would not know, or their
defaults. FROLS gets the true number of terms of the largest equation. Our models are told nothing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.linear_model import ARDRegression

from benchmarks.dependent_rows import DEGREE, N_ROWS, NOISES, STEP, THRESHOLD, WINDOW, Problem, drawn, report
from skarce import FastGCVRegressor, RelevanceVectorRegressor, StepwiseRegressor, VBLSRegressor

COEFFICIENTS = ({"x": -10.0, "y": 10.0}, {"x": 28.0, "y": -1.0, "x z": -1.0}, {"z": -8.0 / 3.0, "x y": 1.0})
OURS = {
    "skarce VBLSRegressor": VBLSRegressor,
    "skarce RelevanceVectorRegressor": RelevanceVectorRegressor,
    "skarce FastGCVRegressor": FastGCVRegressor,
    "skarce StepwiseRegressor": StepwiseRegressor,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sindy", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for sindy.txt and sindy.json")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = [row for noise in NOISES for row in compared(noise, arguments.seeds)]
    report("sindy", rows, table_of(rows), arguments.out)


def optimizers() -> dict[str, Callable[[], Any]]:
    """Return what makes each optimizer. Our models scale their columns themselves."""
    import pysindy as ps

    def wrapped(make: Callable[..., Any], **options: Any) -> Callable[[], Any]:
        return lambda: ps.WrappedOptimizer(make(**options), unbias=False)

    ours = {
        f"{name}, {given}": wrapped(make, basis="passthrough", fit_intercept=False, effective_samples=given, calibrate_std=False)
        for name, make in OURS.items()
        for given in (None, "auto")
    }
    return {
        "STLSQ, threshold known": lambda: ps.STLSQ(threshold=THRESHOLD),
        "STLSQ, default": ps.STLSQ,
        "SR3, threshold known": lambda: ps.SR3(
            reg_weight_lam=0.5 * THRESHOLD**2, regularizer="L0", relax_coeff_nu=1.0, max_iter=1000
        ),
        "FROLS, 3 terms": lambda: ps.FROLS(max_iter=3),
        "scikit-learn ARDRegression": wrapped(ARDRegression, fit_intercept=False),
        **ours,
    }


def compared(noise: float, n_seeds: int) -> list[dict[str, Any]]:
    """One row for each optimizer: means over the seeds."""
    problems = [drawn(noise, seed) for seed in range(n_seeds)]
    return [{"noise": noise, "optimizer": name, **summary(make, problems)} for name, make in optimizers().items()]


def summary(make: Callable[[], Any], problems: list[Problem]) -> dict[str, float]:
    import pysindy as ps

    n_true, n_false, errors, began = [], [], [], time.process_time()
    for library, derivatives in problems:
        states = np.ascontiguousarray(library[:, :3])  # the products of degree one come first
        model = ps.SINDy(optimizer=make(), feature_library=ps.PolynomialLibrary(DEGREE))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(states, t=STEP, x_dot=derivatives, feature_names=["x", "y", "z"])
        found, names = model.coefficients(), model.get_feature_names()
        true = np.array([[own.get(name, 0.0) for name in names] for own in COEFFICIENTS])
        n_true.append(np.count_nonzero(found[true != 0.0]))
        n_false.append(np.count_nonzero(found[true == 0.0]))
        errors.append(np.linalg.norm(found - true) / np.linalg.norm(true))
    seconds = (time.process_time() - began) / len(problems)
    means = {"true": n_true, "false": n_false, "error": errors}
    return {**{name: float(np.mean(values)) for name, values in means.items()}, "worst_false": int(max(n_false)), "cpu_s": seconds}


def table_of(rows: list[dict[str, Any]]) -> Table:
    title = f"pysindy on a Lorenz system, 7 true terms of 60; {N_ROWS:,} rows smoothed over {WINDOW}, means over trajectories"
    table = Table(title=title)
    for name in ("noise", "optimizer", "true", "false", "most false", "coefficient error", "CPU s"):
        table.add_column(name, justify="left" if name == "optimizer" else "right")
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        table.add_row(
            f"{100 * row['noise']:.0f} %",
            row["optimizer"],
            f"{row['true']:.1f}",
            f"{row['false']:.1f}",
            f"{row['worst_false']:.0f}",
            f"{row['error']:.4f}",
            f"{row['cpu_s']:.2f}",
            end_section=after is not None and after["noise"] != row["noise"],
        )
    return table


if __name__ == "__main__":
    main()
