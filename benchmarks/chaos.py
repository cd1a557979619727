"""Compare sparse polynomial chaos with scikit-learn's and chaospy's: ``python -m benchmarks.chaos``.

Functions of uncertainty quantification with known Sobol indices: Ishigami (without noise, and with noise of a tenth of the std of
the target), Sobol's g function, and the borehole function. Every method gets the same rows and the same terms. scikit-learn's
methods get the columns of `PolynomialChaosBasis`, and their indices come from their coefficients; chaospy makes its own columns and
indices. Errors are medians over draws of the rows: the largest error of a first-order or total index, and the mean squared error at
new rows over the variance of the function. Seconds are CPU seconds on one BLAS thread from rows to weights. chaospy is measured if
it is installed; the time for its expansion does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats
from scipy.stats import qmc
from sklearn.linear_model import ARDRegression, LassoLarsCV, LassoLarsIC, OrthogonalMatchingPursuitCV
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from skarce import (
    FastGCVRegressor,
    OrthogonalLeastSquaresRegressor,
    PolynomialChaosBasis,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.inspection import sobol_indices

N_TEST = 5000
LOG_REFERENCE = 18  # rows of the reference indices without a formula, as a power of two
G_WEIGHTS = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0])
BOREHOLE = {  # the radius of influence is lognormal, so its logarithm is the input
    "radius of the borehole": stats.norm(0.10, 0.0161812),
    "log radius of influence": stats.norm(7.71, 1.0056),
    "upper transmissivity": stats.uniform(63070.0, 115600.0 - 63070.0),
    "upper head": stats.uniform(990.0, 1110.0 - 990.0),
    "lower transmissivity": stats.uniform(63.1, 116.0 - 63.1),
    "lower head": stats.uniform(700.0, 820.0 - 700.0),
    "length": stats.uniform(1120.0, 1680.0 - 1120.0),
    "conductivity": stats.uniform(9855.0, 12045.0 - 9855.0),
}


@dataclass(frozen=True)
class Case:
    """A function of independent inputs, its basis, and its exact indices if they have a formula."""

    function: Callable[[np.ndarray], np.ndarray]
    inputs: tuple[Any, ...]
    degree: int
    q_norm: float
    sizes: tuple[int, ...]
    formula: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    noise: float = 0.0  # as a share of the std of the function

    @property
    def basis(self) -> PolynomialChaosBasis:
        return PolynomialChaosBasis(self.degree, q_norm=self.q_norm, distributions=list(self.inputs))

    @cached_property
    def exact(self) -> tuple[np.ndarray, np.ndarray]:
        return reference(self) if self.formula is None else self.formula()

    def at(self, unit: np.ndarray) -> np.ndarray:
        """Return inputs at given probabilities."""
        return np.column_stack([one.ppf(column) for one, column in zip(self.inputs, unit.T, strict=True)])

    def draw(self, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = self.at(rng.random((n_rows + N_TEST, len(self.inputs))))
        values = self.function(X)
        y = values[:n_rows] + self.noise * values[n_rows:].std() * rng.normal(size=n_rows)
        return X[:n_rows], y, X[n_rows:], values[n_rows:]


def ishigami(X: np.ndarray, a: float = 7.0, b: float = 0.1) -> np.ndarray:
    return np.sin(X[:, 0]) + a * np.sin(X[:, 1]) ** 2 + b * X[:, 2] ** 4 * np.sin(X[:, 0])


def ishigami_indices(a: float = 7.0, b: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    parts = np.array([0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2, a**2 / 8.0, 0.0])
    pair = 8.0 * b**2 * np.pi**8 / 225.0  # of the first and the third input
    return parts / (parts.sum() + pair), (parts + pair * np.array([1.0, 0.0, 1.0])) / (parts.sum() + pair)


def g_function(X: np.ndarray) -> np.ndarray:
    return np.prod((np.abs(4.0 * X - 2.0) + G_WEIGHTS) / (1.0 + G_WEIGHTS), axis=1)


def g_indices() -> tuple[np.ndarray, np.ndarray]:
    parts = 1.0 / (3.0 * (1.0 + G_WEIGHTS) ** 2)
    whole = np.prod(1.0 + parts)
    return parts / (whole - 1.0), parts * whole / (1.0 + parts) / (whole - 1.0)


def borehole(X: np.ndarray) -> np.ndarray:
    """Return the flow of water through a borehole, in cubic meters per year."""
    radius, log_influence, upper, upper_head, lower, lower_head, length, conductivity = X.T
    log_ratio = log_influence - np.log(radius)
    leak = 2.0 * length * upper / (log_ratio * radius**2 * conductivity)
    return 2.0 * np.pi * upper * (upper_head - lower_head) / (log_ratio * (1.0 + leak + upper / lower))


def reference(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Return first and total indices by quasi Monte Carlo: two tables of rows, and one with a column exchanged for each input."""
    d = len(case.inputs)
    unit = qmc.Sobol(2 * d, seed=0).random_base2(LOG_REFERENCE)
    unit = np.clip(unit, 1e-12, 1.0 - 1e-12)
    one, other = case.at(unit[:, :d]), case.at(unit[:, d:])
    f_one, f_other = case.function(one), case.function(other)
    level = f_other.mean()  # without it, the estimates of the first indices have a larger variance
    variance = np.concatenate([f_one, f_other]).var()
    first, total = np.empty(d), np.empty(d)
    for place in range(d):
        mixed = one.copy()
        mixed[:, place] = other[:, place]
        f_mixed = case.function(mixed)
        first[place] = np.mean((f_other - level) * (f_mixed - f_one)) / variance
        total[place] = 0.5 * np.mean((f_one - f_mixed) ** 2) / variance
    return first, total


UNIFORM_PI = stats.uniform(-np.pi, 2.0 * np.pi)
CASES = {
    "Ishigami": Case(ishigami, (UNIFORM_PI,) * 3, 12, 0.75, (60, 120, 240), ishigami_indices),
    "Ishigami, noise 0.1": Case(ishigami, (UNIFORM_PI,) * 3, 12, 0.75, (120, 240, 480), ishigami_indices, noise=0.1),
    "Sobol g": Case(g_function, (stats.uniform(),) * 8, 10, 0.6, (120, 240, 480), g_indices),
    "borehole": Case(borehole, tuple(BOREHOLE.values()), 6, 0.75, (60, 120, 240)),
}


@dataclass(frozen=True)
class Answer:
    """What a method found: indices, their stds if it has them, predictions, the number of terms, and CPU seconds."""

    first: np.ndarray
    total: np.ndarray
    predicted: np.ndarray
    n_terms: int
    seconds: float
    total_std: np.ndarray | None = None


def with_skarce(make: Callable[[Any], Any]) -> Callable[..., Answer]:
    def run(case: Case, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Answer:
        started = time.process_time()
        model = make(case.basis).fit(X, y)
        seconds = time.process_time() - started
        found = sobol_indices(model)
        return Answer(found.first, found.total, model.predict(X_test), len(model.active_), seconds, found.total_std)

    return run


def with_scikit_learn(make: Callable[[], Any]) -> Callable[..., Answer]:
    def run(case: Case, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Answer:
        started = time.process_time()
        basis = case.basis.fit(X)
        model = make().fit(basis.transform(X), y)
        seconds = time.process_time() - started
        first, total = indices_of(model.coef_, basis.multi_indices_)
        return Answer(first, total, model.predict(basis.transform(X_test)), np.count_nonzero(model.coef_), seconds)

    return run


def indices_of(weights: np.ndarray, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    squares, has = weights**2, terms > 0
    alone = has & (has.sum(axis=1) == 1)[:, None]
    variance = squares.sum() or 1.0
    return squares @ alone / variance, squares @ has / variance


def with_chaospy(make: Callable[[], Any]) -> Callable[..., Answer]:
    def run(case: Case, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Answer:
        import chaospy

        expansion = chaospy_expansion(case)
        started = time.process_time()
        fitted, weights = chaospy.fit_regression(expansion, X.T, y, model=make(), retall=1)
        seconds = time.process_time() - started
        first, total = chaospy.FirstOrderSobol(expansion, weights), chaospy.TotalOrderSobol(expansion, weights)
        return Answer(first, total, fitted(*X_test.T), np.count_nonzero(weights[1:]), seconds)

    return run


EXPANSIONS: dict[int, Any] = {}


def chaospy_expansion(case: Case) -> Any:
    import chaospy

    if id(case) not in EXPANSIONS:
        inputs = [
            chaospy.Uniform(*one.support()) if one.dist.name == "uniform" else chaospy.Normal(one.mean(), one.std())
            for one in case.inputs
        ]
        EXPANSIONS[id(case)] = chaospy.generate_expansion(
            case.degree, chaospy.J(*inputs), normed=True, cross_truncation=case.q_norm
        )
    return EXPANSIONS[id(case)]


METHODS: dict[str, Callable[..., Answer]] = {
    "skarce vbls": with_skarce(VBLSRegressor),
    "skarce frvm": with_skarce(RelevanceVectorRegressor),
    "skarce fgcv": with_skarce(FastGCVRegressor),
    "skarce ols": with_skarce(OrthogonalLeastSquaresRegressor),
    "scikit-learn OMP, CV": with_scikit_learn(OrthogonalMatchingPursuitCV),
    "scikit-learn LARS, CV": with_scikit_learn(LassoLarsCV),
    "scikit-learn LARS, BIC": with_scikit_learn(lambda: LassoLarsIC(criterion="bic")),
    "scikit-learn ARD": with_scikit_learn(ARDRegression),
    "chaospy, OMP": with_chaospy(lambda: OrthogonalMatchingPursuitCV(fit_intercept=False)),
    "chaospy, LARS": with_chaospy(lambda: LassoLarsCV(fit_intercept=False)),
    "chaospy, least squares": with_chaospy(lambda: None),
}


def available() -> list[str]:
    if find_spec("chaospy") is not None:
        return list(METHODS)
    print("chaospy is not installed and is left out: pip install chaospy", file=sys.stderr)
    return [name for name in METHODS if not name.startswith("chaospy")]


def judged(answer: Answer, case: Case, values: np.ndarray) -> dict[str, float]:
    first, total = case.exact
    row = {
        "index_error": float(max(np.abs(answer.first - first).max(), np.abs(answer.total - total).max())),
        "test_error": float(np.mean((answer.predicted - values) ** 2) / values.var()),
        "n_terms": float(answer.n_terms),
        "cpu_s": answer.seconds,
    }
    if answer.total_std is not None:
        row["within"] = float(np.mean(np.abs(answer.total - total) <= 2.0 * answer.total_std + 1e-4))
    return row


def compare(case: Case, n_rows: int, n_seeds: int, methods: list[str]) -> dict[str, dict[str, float]]:
    found: dict[str, list[dict[str, float]]] = {}
    n_terms = len(case.basis.fit(case.draw(2, 0)[0]).multi_indices_)
    for name in methods:
        if name in ("scikit-learn LARS, BIC", "chaospy, least squares") and n_rows <= n_terms + 1:
            continue  # they need more rows than terms
        for seed in range(n_seeds):
            X, y, X_test, values = case.draw(n_rows, seed)
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.setdefault(name, []).append(judged(METHODS[name](case, X, y, X_test), case, values))
    return {name: {key: summary(key, [row[key] for row in rows]) for key in rows[0]} for name, rows in found.items()}


def summary(key: str, numbers: list[float]) -> float:
    return float(np.mean(numbers) if key == "within" else np.median(numbers))


def table_of(record: dict[str, Any]) -> Table:
    table = Table(
        title="Polynomial chaos: medians. Index error is the largest of all first and total indices; test error is relative to the "
        "variance; within is the share of total indices within two posterior stds (and 1e-4)"
    )
    columns = ("function", "rows", "method", "index error", "test error", "terms", "CPU s", "within")
    for name in columns:
        table.add_column(name, justify="left" if name in ("function", "method") else "right")
    for case in record["cases"]:
        for n_rows, methods in case["sizes"].items():
            for name, row in methods.items():
                within = f"{row['within']:.2f}" if "within" in row else ""
                numbers = (f"{row['index_error']:.5f}", f"{row['test_error']:.1e}", f"{row['n_terms']:.0f}", f"{row['cpu_s']:.3f}")
                table.add_row(case["name"], n_rows, name, *numbers, within)
            table.add_section()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--out", default="results/benchmarks", help="folder for the results (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="number of draws of the rows (default: %(default)s)")
    arguments = parser.parse_args()
    methods, cases = available(), []
    for name, case in CASES.items():
        sizes = {}
        for n_rows in case.sizes:
            print(f"{name}, {n_rows} rows ...", file=sys.stderr)
            sizes[str(n_rows)] = compare(case, n_rows, arguments.seeds, methods)
        first, total = case.exact
        cases.append({"name": name, "first": first.tolist(), "total": total.tolist(), "sizes": sizes})
    record = {"machine": machine(), "cases": cases}
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chaos.json").write_text(json.dumps(record, indent=1) + "\n")
    with open(folder / "chaos.txt", "w") as file:
        for console in (Console() if sys.stdout.isatty() else Console(width=130), Console(file=file, width=130)):
            console.print(table_of(record))


if __name__ == "__main__":
    main()
