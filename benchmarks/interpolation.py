"""More candidates than rows: ``python -m benchmarks.interpolation``.

A few of many inputs are true. Each method is fitted with its default and with ``size_prior=None``, the paper's model. The table has
means over draws: inputs kept, true inputs found, the share of 2000 new targets inside 95 % intervals, and the error divided by that
of VBLS on the same rows. With noise 0 the errors themselves are compared: they are rounding.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from skarce import (
    FastGCVRegressor,
    JeffreysPriorRegressor,
    LaplacePriorRegressor,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)

N_TEST, N_DRAWS = 2000, 10
RULER = "VBLS"
COVERED = 1.959964  # standard deviations on each side of a 95 % interval
METHODS = {
    "RVM": RelevanceVectorRegressor,
    "FGCV": FastGCVRegressor,
    "OLS": OrthogonalLeastSquaresRegressor,
    "RFS": RegularizedForwardRegressor,
    "AS": JeffreysPriorRegressor,
    "Laplace": LaplacePriorRegressor,
}
COLUMNS = ("case", "method", "prior", "inputs", "true", "cover", "error / VBLS", "warned", "CPU s", "outcomes")


@dataclass(frozen=True)
class Case:
    """Normal inputs, the first of which have weights of 1 to 2 with random signs. `shared` is the correlation of all inputs."""

    name: str
    n_rows: int = 150
    n_inputs: int = 220
    n_true: int = 5
    noise: float = 1.0
    shared: float = 0.0

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rng, n = np.random.default_rng(seed), self.n_rows
        X = np.sqrt(1.0 - self.shared) * rng.normal(size=(n + N_TEST, self.n_inputs))
        X += np.sqrt(self.shared) * rng.normal(size=(n + N_TEST, 1))
        weights = rng.uniform(1.0, 2.0, self.n_true) * rng.choice([-1.0, 1.0], self.n_true)
        y = X[:, : self.n_true] @ weights + self.noise * rng.normal(size=n + N_TEST)
        return X[:n], y[:n], X[n:], y[n:]


CASES = [
    Case("150 x 220, 5 true"),
    Case("100 x 300, 5 true", 100, 300),
    Case("200 x 200, 5 true", 200, 200),
    Case("80 x 500, 5 true", 80, 500),
    Case("200 x 120, 5 true", 200, 120),
    Case("correlation 0.5", shared=0.5),
    Case("correlation 0.9", shared=0.9),
    Case("none true", n_true=0),
    Case("20 true", n_true=20),
    Case("100 x 300, 20 true", 100, 300, 20),
    Case("noise 0.01", noise=0.01),
    Case("no noise", noise=0.0),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interpolation", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="number of draws (default: %(default)s)")
    parser.add_argument("--cases", type=int, default=len(CASES), help="run only the first cases")
    arguments = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=150)
    record: dict[str, Any] = {"machine": machine(), "draws": arguments.draws, "rows": []}
    with threadpool_limits(1):
        for case in CASES[: arguments.cases]:
            console.print(f"{case.name} ...", style="dim")
            record["rows"] += measure(case, arguments.draws)
    console.print(table_of(record["rows"]))
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "interpolation.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "interpolation.txt", "w") as file:
        Console(file=file, width=150).print(table_of(record["rows"]))
    console.print(f"written to {folder}")


def measure(case: Case, n_draws: int) -> list[dict[str, Any]]:
    """Return one row for VBLS, and two for every other method: by default and without the prior on sizes."""
    models = {(RULER, "auto"): lambda: VBLSRegressor()}
    for name, make in METHODS.items():
        for prior in ("auto", None):
            models[name, str(prior)] = lambda make=make, prior=prior: make("passthrough", size_prior=prior)
    fits = {key: [fitted(model(), *case.draw(seed), case.n_true) for seed in range(n_draws)] for key, model in models.items()}
    ruler = np.array([fit["error"] for fit in fits[RULER, "auto"]])
    return [summary(case, key, each, ruler) for key, each in fits.items()]


def fitted(model: Any, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray, n_true: int) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    mean, std = model.predict(X_new, return_std=True)
    return {
        "inputs": len(model.active_),
        "true": int(np.count_nonzero(model.active_ < n_true)),
        "cover": float(np.mean(np.abs(y_new - mean) <= COVERED * std)),
        "error": float(np.sqrt(np.mean((y_new - mean) ** 2))),
        "warned": bool(caught),
        "cpu_s": seconds,
        "outcome": model.outcome_.name,
    }


def summary(case: Case, key: tuple[str, str], fits: list[dict[str, Any]], ruler: np.ndarray) -> dict[str, Any]:
    means = {name: float(np.mean([fit[name] for fit in fits])) for name in ("inputs", "true", "cover", "error", "warned", "cpu_s")}
    relative = means["error"] if case.noise == 0.0 else means["error"] / float(ruler.mean())
    outcomes = dict(Counter(fit["outcome"] for fit in fits))
    return {"case": asdict(case), "method": key[0], "prior": key[1], **means, "relative_error": relative, "outcomes": outcomes}


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Inputs kept, coverage and error if there are many inputs for the rows; means over draws")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in (*COLUMNS[:3], "outcomes") else "right")
    last = ""
    for row in rows:
        if last not in ("", row["case"]["name"]):
            table.add_section()
        last = row["case"]["name"]
        table.add_row(
            last,
            row["method"],
            row["prior"],
            f"{row['inputs']:.1f}",
            f"{row['true']:.1f}",
            f"{100 * row['cover']:.1f} %",
            f"{row['relative_error']:.3g}",
            f"{100 * row['warned']:.0f} %",
            f"{row['cpu_s']:.3f}",
            ", ".join(f"{name} {count}" for name, count in row["outcomes"].items()),
        )
    return table


if __name__ == "__main__":
    main()
