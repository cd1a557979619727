"""How good the choices by GCV and by the evidence are: ``python -m benchmarks.choices``.

Prints four tables of test errors, which are means over draws: how far the path of L1 penalties should go; degrees of freedom with
more inputs than rows; the inflation of GCV when kernel widths are compared; and widths by several kinds of evidence. Boston housing
and kin8nm come from `skarce.datasets`. No times are measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from skarce import (
    CriterionSearch,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    OrthogonalLeastSquaresRegressor,
    RelevanceVectorRegressor,
    datasets,
)
from skarce.methods.l1 import path as laplace_path

PROBLEMS = ("sinc", "Friedman 2", "Friedman 1", "Boston", "diabetes", "kin8nm")
WIDTHS = np.geomspace(1e-3, 3.0, 12)
SHARES = (1e-4, 1e-5, 1e-6)
INFLATIONS = (1.0, 1.4, 2.0, 3.0)
Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def parts(problem: str, seed: int) -> Parts:
    """Return training rows and test rows, with standardized inputs."""
    rng, n = np.random.default_rng(seed), 300
    if problem == "sinc":
        n, X = 100, rng.uniform(-10, 10, (1100, 1))
        y = np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 1100)
    elif problem == "Friedman 1":
        n, (X, y) = 240, make_friedman1(1200, noise=1.0, random_state=seed)
    elif problem == "Friedman 2":
        n, (X, y) = 200, make_friedman2(1200, noise=125.0, random_state=seed)
    else:
        X, y = load_diabetes(return_X_y=True) if problem == "diabetes" else datasets.load(problem.lower())[:2]
        chosen = rng.permutation(len(y))[:1500]
        X, y = X[chosen], y[chosen]
    X = StandardScaler().fit(X[:n]).transform(X)
    return X[:n], y[:n], X[n:], y[n:]


def path_ends(problem: str, seed: int) -> dict[str, float]:
    """Return r2 of the penalty with the least GCV, for paths of the same density that end at different penalties.

    Every path also ends before models with more functions than half of the rows.
    """
    X, y, X_test, y_test = parts(problem, seed)
    basis, found = KernelBasis() if problem == "sinc" else KernelBasis(gamma=0.02), {}
    for share in SHARES:
        length = 1 + round(99 * np.log10(share) / -4.0)
        with mock.patch.multiple(laplace_path, LEAST_SHARE=share, N_PENALTIES=length):
            for kind in ("hat", "active"):
                found[f"{share:.0e}, {kind}"] = (
                    LaplacePriorRegressor(basis, degrees_of_freedom=kind, size_prior=None).fit(X, y).score(X_test, y_test)
                )
    return found


def wide(n_rows: int, n_relevant: int, correlation: float, seed: int) -> dict[str, float]:
    """Return the squared error against exact targets as a share of their variance, and the number of inputs in the model.

    There are 1000 inputs. Neighboring inputs are correlated, and the noise is half as large as the signal.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + 1000, 1000))
    for j in range(1, 1000):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    weights = np.zeros(1000)
    weights[rng.choice(1000, n_relevant, replace=False)] = rng.normal(size=n_relevant)
    signal = X @ weights
    y = signal + 0.5 * signal.std() * rng.normal(size=len(X))
    found = {}
    for name, model in (
        ("hat", LaplacePriorRegressor("passthrough", size_prior=None)),
        ("active", LaplacePriorRegressor("passthrough", degrees_of_freedom="active", size_prior=None)),
        ("LassoCV", LassoCV()),
    ):
        model.fit(X[:n_rows], y[:n_rows])
        found[name] = float(np.mean((model.predict(X[n_rows:]) - signal[n_rows:]) ** 2) / signal[n_rows:].var())
        found[f"{name}, inputs"] = float(np.count_nonzero(model.coef_))
    return found


def inflations(model: Any, problem: str, seed: int) -> dict[str, float]:
    """Return r2 of the width that each inflation chooses, and of the best width on the grid."""
    X, y, X_test, y_test = parts(problem, seed)
    grid = {"basis__gamma": list(10.0 * WIDTHS if problem == "sinc" else WIDTHS)}
    found = {f"{c:g}": CriterionSearch(model, grid, inflation=c).fit(X, y).score(X_test, y_test) for c in INFLATIONS}
    scores = [clone(model).set_params(basis=KernelBasis(gamma=g)).fit(X, y).score(X_test, y_test) for g in grid["basis__gamma"]]
    return found | {"best of grid": max(scores)}


def evidences(model: Any, problem: str, seed: int) -> dict[str, float]:
    """Return r2 of the width by the evidence of the model, by the evidence of all candidates, and by five folds."""
    X, y, X_test, y_test = parts(problem, seed)
    grid = {"basis__gamma": list(10.0 * WIDTHS if problem == "sinc" else WIDTHS)}
    of_all = CriterionSearch(EvidenceRegressor("rbf"), grid).fit(X, y).best_params_
    models = {
        "own evidence": CriterionSearch(model, grid),
        "evidence of all candidates": clone(model).set_params(**of_all),
        'gamma="evidence"': clone(model).set_params(basis=KernelBasis(gamma="evidence")),
        "five folds": GridSearchCV(model, grid),
    }
    return {name: float(each.fit(X, y).score(X_test, y_test)) for name, each in models.items()}


def means(measure: Callable[[int], dict[str, float]], n_draws: int) -> dict[str, float]:
    draws = [measure(seed) for seed in range(n_draws)]
    return {name: float(np.mean([draw[name] for draw in draws])) for name in draws[0]}


def measured(n_draws: int) -> dict[str, dict[str, dict[str, float]]]:
    selectors = {
        "fgcv": FastGCVRegressor("rbf"),
        "ols": OrthogonalLeastSquaresRegressor("rbf"),
        "skr, hat": LaplacePriorRegressor("rbf"),
        "skr, active": LaplacePriorRegressor("rbf", degrees_of_freedom="active"),
    }
    judged = {"frvm": RelevanceVectorRegressor("rbf"), "ssge-forward": EvidenceSearchRegressor("rbf")}
    shapes = [(n, k, rho) for n in (500, 100) for k in (5, 30) for rho in (0.0, 0.8)]
    return {
        "r2 by the end of the path of penalties, as a share of the largest": {
            problem: means(lambda seed, problem=problem: path_ends(problem, seed), n_draws) for problem in PROBLEMS
        },
        "1000 inputs: squared error over the variance of the signal": {
            f"{n} rows, {k} matter, correlation {rho:g}": means(lambda seed, shape=(n, k, rho): wide(*shape, seed), n_draws)
            for n, k, rho in shapes
        },
        "r2 of the width chosen by GCV with an inflation": {
            f"{name}: {problem}": means(lambda seed, model=model, problem=problem: inflations(model, problem, seed), n_draws)
            for name, model in selectors.items()
            for problem in PROBLEMS
        },
        "r2 of the width chosen by the evidence": {
            f"{name}: {problem}": means(lambda seed, model=model, problem=problem: evidences(model, problem, seed), n_draws)
            for name, model in judged.items()
            for problem in PROBLEMS
        },
    }


def as_table(title: str, rows: dict[str, dict[str, float]]) -> Table:
    table = Table(title=title)
    table.add_column("problem")
    for name in next(iter(rows.values())):
        table.add_column(name, justify="right")
    for problem, row in rows.items():
        table.add_row(problem, *(f"{value:.0f}" if name.endswith("inputs") else f"{value:.3f}" for name, value in row.items()))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choices", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=5, help="number of draws of each problem (default: %(default)s)")
    arguments = parser.parse_args()
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ConvergenceWarning)
    record = measured(arguments.draws)
    (folder / "choices.json").write_text(json.dumps({"draws": arguments.draws} | record, indent=1) + "\n")
    with open(folder / "choices.txt", "w") as file:
        for console in (Console() if sys.stdout.isatty() else Console(width=130), Console(file=file, width=130)):
            for title, rows in record.items():
                console.print(as_table(title, rows))


if __name__ == "__main__":
    main()
