"""Compare the L1 path with scikit-learn, celer and skglm, and a search by GCV with five folds: ``python -m benchmarks.priors``.

All paths have the 100 penalties of scikit-learn's grid. Rivals get smaller and smaller tolerances, until the objective at every
penalty is close to a lower bound (the dual of our solution), or until this takes too long. Close means within a millionth of the
energy of the target. Times are those from rows to weights. Ours include the Gram matrix and the choice by GCV. Ratios compare CPU
seconds on one BLAS thread. celer and skglm are measured if they are installed. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman2
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, lasso_path
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.timing import wall_seconds
from skarce import CriterionSearch, FastGCVRegressor, LaplacePriorRegressor
from skarce.methods.l1.active_set import L1ActiveSet
from skarce.moments import Moments, WholeGram

N_PENALTIES, LEAST = 100, 1e-3
ACCURACY = 1e-6  # excess of the objective over its minimum, relative to t't / 2
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
PATIENCE = 5.0  # if a rival takes more CPU seconds than this, its next tolerance is not tried
WIDTHS = {"wide": np.geomspace(1e-3, 1.0, 10), "narrow": np.geomspace(2e-3, 0.2, 10)}
N_TEST = 2000

Path_ = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]  # X, y, penalties, tolerance -> (n_inputs, n_penalties)


def linear_problem(n_rows: int, n_inputs: int, n_relevant: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Draw independent inputs, of which a few matter. The noise is half as large as the signal; test targets have no noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + N_TEST, n_inputs))
    weights = np.zeros(n_inputs)
    weights[rng.choice(n_inputs, n_relevant, replace=False)] = rng.normal(size=n_relevant)
    signal = X @ weights
    y = signal + 0.5 * signal.std() * rng.normal(size=len(X))
    return X[:n_rows], y[:n_rows], X[n_rows:], signal[n_rows:]


def _scikit_learn(X: np.ndarray, y: np.ndarray, penalties: np.ndarray, tol: float) -> np.ndarray:
    return lasso_path(X, y, alphas=penalties / len(y), tol=tol, max_iter=100_000)[1]


def _celer(X: np.ndarray, y: np.ndarray, penalties: np.ndarray, tol: float) -> np.ndarray:
    from celer import celer_path

    return celer_path(np.asfortranarray(X), y, "lasso", alphas=penalties / len(y), tol=tol, max_iter=1000)[1]


def _skglm(X: np.ndarray, y: np.ndarray, penalties: np.ndarray, tol: float) -> np.ndarray:
    from skglm.datafits import Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD

    solver = AndersonCD(tol=tol, max_iter=1000, fit_intercept=False)
    return solver.path(np.asfortranarray(X), y, Quadratic(), L1(1.0), alphas=penalties / len(y))[1]


def rival_paths() -> dict[str, Path_]:
    known: dict[str, Path_] = {"scikit-learn lasso_path": _scikit_learn}
    for name, path in (("celer", _celer), ("skglm", _skglm)):
        if find_spec(name) is not None:
            known[name] = path
    return known


def objectives(X: np.ndarray, y: np.ndarray, weights: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    residual = y[:, None] - X @ weights
    return 0.5 * (residual**2).sum(axis=0) + penalties * np.abs(weights).sum(axis=0)


def lower_bounds(X: np.ndarray, y: np.ndarray, weights: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Return t'theta - |theta|^2 / 2, which is below every objective. theta are residuals scaled so that |X'theta| <= mu."""
    residual = y[:, None] - X @ weights
    feasible = residual * np.minimum(1.0, penalties / np.abs(X.T @ residual).max(axis=0))
    return y @ feasible - 0.5 * (feasible**2).sum(axis=0)


def our_path(X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Return the weights along the path, which the estimator does not keep."""
    state, weights = L1ActiveSet(Moments(WholeGram(X.T @ X), X.T @ y, float(y @ y), len(y))), np.zeros((X.shape[1], len(penalties)))
    for place, penalty in enumerate(penalties):
        state.minimize(penalty, LaplacePriorRegressor("rbf").tol, 10_000)
        weights[state.members, place] = state.weights
    return weights


def compare_paths(shape: tuple[int, int, int], repeats: int) -> dict[str, Any]:
    X, y, X_test, signal = linear_problem(*shape)
    centered, t = X - X.mean(axis=0), y - y.mean()
    penalties = np.abs(centered.T @ t).max() * np.geomspace(1.0, LEAST, N_PENALTIES)
    weights = our_path(centered, t, penalties)
    least = lower_bounds(centered, t, weights, penalties)

    def excess_of(weights: np.ndarray) -> float:
        return float(((objectives(centered, t, weights, penalties) - least) / (0.5 * t @ t)).max())

    best, ours_excess = partial(_best_of, repeats), excess_of(weights)
    rows: dict[str, Any] = {}
    for kind in ("hat", "active"):
        for name, path in (("whole path", penalties), ("own path", "gcv")):
            ours = LaplacePriorRegressor("passthrough", penalty=path, degrees_of_freedom=kind, size_prior=None)
            times, model = best(partial(ours.fit, X, y))
            row = times | _judged(model, X_test, signal, len(model.active_))
            rows[f"skarce skr, {kind}, {name}"] = row | ({"excess": ours_excess} if path is penalties else {})
    for name, rival in rival_paths().items():
        rival(centered[:50], t[:50], penalties[:2], 1e-3)  # the first call compiles
        for tol in TOLERANCES:
            times, weights = _best_of(1, partial(quiet, rival, centered, t, penalties, tol))
            if times["cpu_s"] < 2.0:
                times, weights = best(partial(quiet, rival, centered, t, penalties, tol))
            excess = excess_of(weights)
            rows[f"{name}, tol {tol:g}"] = times | {"excess": excess}
            if excess <= ACCURACY or times["cpu_s"] > PATIENCE:
                break
    times, model = best(partial(quiet, LassoCV(alphas=penalties / len(y)).fit, X, y))
    rows["scikit-learn LassoCV, tol 0.0001"] = times | _judged(model, X_test, signal, np.count_nonzero(model.coef_))
    return rows


def _judged(model: Any, X_test: np.ndarray, signal: np.ndarray, size: int) -> dict[str, Any]:
    return {"error": float(np.mean((model.predict(X_test) - signal) ** 2) / signal.var()), "size": int(size)}


def quiet(function: Callable[..., Any], *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*arguments)


def _best_of(repeats: int, work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Return the least wall and CPU seconds, on one BLAS thread: a second thread that waits for work would count as busy."""
    walls, cpus = [], []
    with threadpool_limits(1):
        for _ in range(repeats):
            started = time.process_time()
            wall, result = wall_seconds(work)
            walls.append(wall)
            cpus.append(time.process_time() - started)
    return {"wall_s": min(walls), "cpu_s": min(cpus)}, result


def compare_widths(n_rows: int, widths: np.ndarray, n_seeds: int) -> dict[str, Any]:
    """Return mean times and test errors of the chosen models. Errors are root mean squares, for noisy and for exact targets."""
    grid = {"basis__gamma": list(widths)}
    searches = {
        "CriterionSearch": lambda: CriterionSearch(FastGCVRegressor("rbf"), grid),
        "CriterionSearch, inflation 1": lambda: CriterionSearch(FastGCVRegressor("rbf"), grid, inflation=1.0),
        "GridSearchCV, five folds": lambda: GridSearchCV(FastGCVRegressor("rbf"), grid, scoring="neg_mean_squared_error", cv=5),
    }
    found: dict[str, list[list[float]]] = {name: [] for name in searches}
    for seed in range(n_seeds):
        X, y = make_friedman2(n_rows + N_TEST, noise=125.0, random_state=seed)
        _, exact = make_friedman2(n_rows + N_TEST, random_state=seed)
        X = StandardScaler().fit(X[:n_rows]).transform(X)
        for name, make in searches.items():
            search = make()
            times, model = _best_of(1, partial(search.fit, X[:n_rows], y[:n_rows]))
            predicted = model.predict(X[n_rows:])
            errors = [float(np.sqrt(np.mean((predicted - targets[n_rows:]) ** 2))) for targets in (y, exact)]
            found[name].append([*times.values(), *errors])
    return {
        name: dict(zip(("wall_s", "cpu_s", "error_noisy", "error_exact"), np.mean(rows, axis=0).tolist(), strict=True))
        for name, rows in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.priors", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="number of runs; the best counts (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="number of draws of Friedman 2 (default: %(default)s)")
    parser.add_argument("--only", choices=("paths", "widths"), help="run only this part, and read the other from the folder")
    arguments = parser.parse_args()
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    before = folder / "priors.json"
    record: dict[str, Any] = json.loads(before.read_text()) if arguments.only and before.exists() else {}
    record["machine"] = machine()
    time.sleep(0.5)
    if arguments.only != "widths":
        shapes = ((500, 1000, 30), (10_000, 100, 20))
        record["paths"] = {f"{n} rows, {p} inputs": compare_paths((n, p, k), arguments.repeats) for n, p, k in shapes}
    if arguments.only != "paths":
        cases = [(n, kind) for n in (200, 1000) for kind in WIDTHS]
        record["widths"] = {f"Friedman 2, {n} rows, {kind}": compare_widths(n, WIDTHS[kind], arguments.seeds) for n, kind in cases}
    before.write_text(json.dumps(record, indent=1) + "\n")
    tables = [table for part, table in (("paths", paths_table), ("widths", widths_table)) if part in record]
    with open(folder / "priors.txt", "w") as file:
        for console in (Console() if sys.stdout.isatty() else Console(width=130), Console(file=file, width=130)):
            for table in tables:
                console.print(table(record))


def paths_table(record: dict[str, Any]) -> Table:
    table = Table(
        title="100 penalties; excess is that of the objective over its minimum, ratio the time over that of our whole path"
    )
    for name in ("problem", "method", "wall s", "CPU s", "ratio", "excess", "test error", "functions"):
        table.add_column(name, justify="left" if name in ("problem", "method") else "right")
    for problem, rows in record["paths"].items():
        ours = rows["skarce skr, active, whole path"]["cpu_s"]
        for name, row in rows.items():
            numbers = (
                f"{row[key]:{spec}}" if key in row else "" for key, spec in (("excess", ".1e"), ("error", ".4f"), ("size", "d"))
            )
            table.add_row(
                problem, name, *(f"{row[key]:.4f}" for key in ("wall_s", "cpu_s")), f"{row['cpu_s'] / ours:.2f}", *numbers
            )
        table.add_section()
    return table


def widths_table(record: dict[str, Any]) -> Table:
    table = Table(
        title="Ten widths for fast GCV; test errors are root mean squares; ratio is the time over that of CriterionSearch"
    )
    for name in ("problem", "search", "wall s", "CPU s", "ratio", "error, noisy targets", "error, exact targets"):
        table.add_column(name, justify="left" if name in ("problem", "search") else "right")
    for problem, rows in record["widths"].items():
        ours = rows["CriterionSearch"]["cpu_s"]
        for name, row in rows.items():
            errors = (f"{row[key]:.2f}" for key in ("error_noisy", "error_exact"))
            table.add_row(problem, name, *(f"{row[key]:.4f}" for key in ("wall_s", "cpu_s")), f"{row['cpu_s'] / ours:.2f}", *errors)
        table.add_section()
    return table


if __name__ == "__main__":
    main()
