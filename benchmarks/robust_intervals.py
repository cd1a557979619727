"""Do intervals of weights cover under Student's t noise? ``python -m benchmarks.robust_intervals [--out FOLDER] [--runs 300]``.

Linear data of three inputs, with noise of several kinds. Coverage of 95 % intervals of the weights, and their std divided by the
standard deviation of the estimates over all runs: as the library makes them, and with other shares of the information that
weighted rows seem to have (all of it; the Fisher information of Student's t; the observed information).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy import stats

from skarce import VBLSRegressor

WEIGHTS = np.array([1.0, -0.7, 0.5])
COVERAGE = 0.95
Noise = Callable[[np.random.Generator], np.ndarray]


def with_outliers(n: int, n_outliers: int) -> Noise:
    """Normal noise, and some rows far off."""

    def noise(rng: np.random.Generator) -> np.ndarray:
        values, rows = 0.5 * rng.normal(size=n), rng.choice(n, n_outliers, replace=False)
        values[rows] += rng.choice([-1, 1], n_outliers) * rng.uniform(10, 30, n_outliers)
        return values

    return noise


NOISES: dict[str, Noise] = {
    "normal, 200 rows": lambda rng: 0.5 * rng.normal(size=200),
    "t3, 200 rows": lambda rng: 0.4 * rng.standard_t(3, 200),
    "t3, 30 rows": lambda rng: 0.3 * rng.standard_t(3, 30),
    "t1.5, 200 rows": lambda rng: 0.3 * rng.standard_t(1.5, 200),
    "5 outliers, 200 rows": with_outliers(200, 5),
    "2 % outliers, 1000 rows": with_outliers(1000, 20),
}


def shares(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Shares of the information that weighted rows seem to have."""
    posterior = model.posterior_
    nu, z = posterior.noise_freedom, (y - model.predict(X)) / np.sqrt(posterior.noise_variance)
    tau = (nu + 1) / (nu + z**2)
    observed = np.mean(tau * (nu - z**2) / (nu + z**2)) / np.mean(tau)
    return {"built": posterior.information, "all of it": 1.0, "Fisher": (nu + 1) / (nu + 3), "observed": max(observed, 1e-3)}


def stds(posterior: Any, share: float) -> np.ndarray:
    """Standard deviations of the weights for a share of the information."""
    penalty = np.diag(posterior.ridges)
    gram = (posterior.factor @ posterior.factor.T - penalty) / posterior.information
    return np.sqrt(posterior.noise_variance * np.linalg.inv(share * gram + penalty).diagonal())


def run(noise: Noise, n_runs: int, label: str) -> dict[str, dict[str, float]]:
    errors: list[np.ndarray] = []
    found: dict[str, list[np.ndarray]] = {}
    inside: dict[str, list[np.ndarray]] = {}
    for seed in track(range(n_runs), label, transient=True):
        rng = np.random.default_rng(seed)
        residuals = noise(rng)
        X = rng.normal(size=(len(residuals), len(WEIGHTS)))
        y = 1.0 + X @ WEIGHTS + residuals
        model = VBLSRegressor(noise="student-t", calibrate_std=False).fit(X, y)
        if len(model.active_) < len(WEIGHTS):
            continue
        errors.append(model.coef_ - WEIGHTS)
        quantile = stats.t.ppf(0.5 + 0.5 * COVERAGE, model.posterior_.degrees_of_freedom)
        for name, share in shares(model, X, y).items():
            std = stds(model.posterior_, share)
            found.setdefault(name, []).append(std)
            inside.setdefault(name, []).append(np.abs(errors[-1]) < quantile * std)
    true = np.std(errors, axis=0)
    ratio = {name: float(np.mean(np.sqrt(np.mean(np.square(values), axis=0)) / true)) for name, values in found.items()}
    return {name: {"coverage": float(np.mean(inside[name])), "std / true std": ratio[name]} for name in found}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robust_intervals", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for robust_intervals.txt and robust_intervals.json")
    parser.add_argument("--runs", type=int, default=300, help="simulations of each kind of noise (default: %(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {name: run(noise, options.runs, name) for name, noise in NOISES.items()}
    table = Table(title=f"95 % intervals of weights, {options.runs} simulations: coverage, and std / true std")
    table.add_column("noise")
    for name in next(iter(results.values())):
        table.add_column(name, justify="right")
    for noise_name, result in results.items():
        table.add_row(noise_name, *(f"{one['coverage']:.3f}  {one['std / true std']:.2f}" for one in result.values()))
    console = Console(width=110, record=True)
    console.print(table)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "robust_intervals.txt").write_text(console.export_text())
        (options.out / "robust_intervals.json").write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
