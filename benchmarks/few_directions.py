"""Compare factors, components and kernel dimension reduction with scikit-learn: ``python -m benchmarks.few_directions``.

Four questions. Is the likelihood of `JointFactorRegressor` that of scikit-learn's FactorAnalysis, and how long does it take? How
well do methods on few directions predict? What do missing inputs cost? Which subspaces does `KernelDimensionReduction` find? Times
are CPU seconds on one core.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA, FactorAnalysis
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from skarce import JointFactorRegressor, KernelDimensionReduction
from skarce.comparison import METHODS, REGRESSION
from skarce.datasets.real import load
from skarce.reproduce.papers.vbls.data import mixed_inputs

Rows = dict[str, dict[str, float]]
SHAPES = ((200, 9, 2), (500, 41, 5), (60, 201, 4), (5000, 101, 8))  # rows, columns, factors
METHOD_NAMES = ("pcr", "pls", "fa", "kdr", "ridge", "lasso", "vbls", "frvm")
N_SPLITS = 5


def sensors(rng: np.random.Generator, n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and a target that a few factors explain, up to noise of different sizes."""
    factors = rng.normal(size=(n, K))
    X = factors @ rng.normal(size=(K, d)) + rng.normal(size=(n, d)) * rng.uniform(0.2, 1.5, d)
    return X, factors @ rng.normal(size=K) + 0.2 * rng.normal(size=n)


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    return fit(), time.process_time() - started


def likelihoods() -> Rows:
    """The log likelihood of inputs and targets, in standard deviations, and the time to find it."""
    found = {}
    for n, p, K in SHAPES:
        X, y = sensors(np.random.default_rng(0), n, p - 1, K)
        Z = StandardScaler().fit_transform(np.column_stack([X, y]))
        models = {
            "JointFactorRegressor": lambda Z=Z, K=K: JointFactorRegressor(K).fit(Z[:, :-1], Z[:, -1]),
            "JointFactorRegressor, EM": lambda Z=Z, K=K: JointFactorRegressor(K, solver="em", max_iter=10_000).fit(
                Z[:, :-1], Z[:, -1]
            ),
            "FactorAnalysis, defaults": lambda Z=Z, K=K: FactorAnalysis(K).fit(Z),
            "FactorAnalysis, tol=1e-8": lambda Z=Z, K=K: FactorAnalysis(K, tol=1e-8, max_iter=10_000).fit(Z),
        }
        for name, fit in models.items():
            model, seconds = timed(fit)
            likelihood = model.log_likelihood_ if hasattr(model, "log_likelihood_") else n * model.score(Z)
            row = {"log likelihood": likelihood, "steps": model.n_iter_, "seconds": seconds}
            found[f"{n} rows, {p} columns, {K} factors: {name}"] = row
    return found


def tables(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    X, y, _, _ = mixed_inputs(30, 60, 0.9)(rng)
    boston = load("boston")
    return {
        "sensors": sensors(rng, 400, 30, 4),
        "mixed inputs": (X, y),
        "diabetes": load_diabetes(return_X_y=True),
        "boston": (boston.X, boston.y),
    }


def predictions() -> Rows:
    """Mean squared errors of left-out rows, divided by their variance: means over random splits, half for training."""
    found: Rows = {name: {} for name in METHOD_NAMES}
    for table, (X, y) in tables(np.random.default_rng(0)).items():
        for name in METHOD_NAMES:
            errors = []
            started = time.process_time()
            for train, test in ShuffleSplit(N_SPLITS, train_size=0.5, random_state=0).split(X):
                model = make_pipeline(StandardScaler(), METHODS[REGRESSION][name].make()).fit(X[train], y[train])
                errors.append(np.mean((model.predict(X[test]) - y[test]) ** 2) / np.var(y[test]))
            found[name][table] = float(np.mean(errors))
            found[name][f"{table}, s"] = (time.process_time() - started) / N_SPLITS
    return found


def missing() -> Rows:
    """Errors if a share of the inputs of new rows is missing."""
    rng = np.random.default_rng(0)
    X, y = sensors(rng, 3000, 20, 3)
    train, test = slice(0, 500), slice(500, None)
    ridge = RidgeCV(np.logspace(-3, 3, 13))
    models = {
        "factors, given what is known": JointFactorRegressor(),
        "ridge, means in place of missing inputs": make_pipeline(SimpleImputer(), ridge),
        "ridge, iterative imputation": make_pipeline(IterativeImputer(random_state=0), ridge),
    }
    found: Rows = {}
    for name, model in models.items():
        model.fit(X[train], y[train])
        for share in (0.0, 0.2, 0.5, 0.8):
            holes = np.random.default_rng(1).uniform(size=X[test].shape) < share
            error = np.mean((model.predict(np.where(holes, np.nan, X[test])) - y[test]) ** 2) / np.var(y[test])
            found.setdefault(name, {})[f"{share:.0%} missing"] = float(error)
    return found


def curved(name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Functions as in Fukumizu, Bach and Jordan (2009), and the subspace that matters."""
    X = rng.normal(size=(n, 4 if name == "A" else 10))
    noise = rng.normal(size=n)
    if name == "A":
        return X, X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + (1 + X[:, 1]) ** 2 + 0.4 * noise, np.eye(4)[:, :2]
    if name == "C":
        return X, 0.5 * X[:, 0] ** 2 * noise, np.eye(10)[:, :1]
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * noise, np.eye(10)[:, :2]


def distance(directions: np.ndarray, truth: np.ndarray) -> float:
    """The Frobenius norm of the difference of two projections."""
    Q = np.linalg.qr(directions)[0]
    return float(np.linalg.norm(Q @ Q.T - truth @ truth.T))


def subspaces() -> Rows:
    """Distances from the subspace that matters: means over ten trials."""
    finders = {
        "KernelDimensionReduction": lambda X, y, K: KernelDimensionReduction(K).fit(X, y).components_.T,
        "the same, no annealing": lambda X, y, K: KernelDimensionReduction(K, annealing=()).fit(X, y).components_.T,
        "the same, one start": lambda X, y, K: KernelDimensionReduction(K, n_starts=1).fit(X, y).components_.T,
        "PLSRegression": lambda X, y, K: PLSRegression(K).fit(X, y).x_weights_,
        "PCA": lambda X, y, K: PCA(K).fit(X).components_.T,
    }
    found: Rows = {name: {} for name in finders}
    for function in ("A", "C", "sine and square"):
        for n in (100, 400):
            for name, find in finders.items():
                rng, distances, started = np.random.default_rng(0), [], time.process_time()
                for _ in range(10):
                    X, y, truth = curved(function, n, rng)
                    distances.append(distance(find(StandardScaler().fit_transform(X), y, truth.shape[1]), truth))
                found[name][f"{function}, {n} rows"] = float(np.mean(distances))
                found[name][f"{function}, {n} rows, s"] = (time.process_time() - started) / 10
    return found


PARTS: dict[str, tuple[str, Callable[[], Rows]]] = {
    "likelihoods": ("Log likelihood of inputs and target, and CPU seconds", likelihoods),
    "predictions": ("Error of left-out rows, relative to the variance, and CPU seconds of a fit", predictions),
    "missing": ("Error with missing inputs, relative to the variance", missing),
    "subspaces": ("Distance from the subspace that matters (0 is exact), and CPU seconds of a fit", subspaces),
}


def table_of(title: str, rows: Rows) -> Table:
    table = Table(title=title)
    columns = list(next(iter(rows.values())))
    for column in ("", *columns):
        table.add_column(column, justify="right" if column else "left")
    for name, row in rows.items():
        table.add_row(name, *(f"{row[c]:.2f}" if c in ("log likelihood", "steps") else f"{row[c]:.3g}" for c in columns))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.few_directions", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    folder = Path(parser.parse_args().out)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: measure() for name, (_, measure) in PARTS.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "few_directions.json").write_text(json.dumps({"machine": machine(), **found}, indent=1) + "\n")
    with open(folder / "few_directions.txt", "w") as file:
        for console in (Console(file=file, width=150), Console(width=None if sys.stdout.isatty() else 150)):
            for name, rows in found.items():
                console.print(table_of(PARTS[name][0], rows))


if __name__ == "__main__":
    main()
