"""Every speed that we aim at, beside its aim: ``python -m benchmarks.floors [--parts NAME ...] [--out FOLDER]``.

A fit is repeated, and its shortest wall time counts. Refits that calibrate the std are left out, except in the row of the default.
Narrow kernels are as narrow as the spacing of the rows. Rows show the times of other packages, too, and learned widths their
evidence. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1, make_moons
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import SGDRegressor
from sklearn.svm import SVC
from sklearn.utils.validation import check_array

from benchmarks import imports, lwpr
from benchmarks.__main__ import machine
from benchmarks.methods import available
from benchmarks.problems import GAMMA, Problem
from benchmarks.timing import peak_in_own_process, wall_seconds
from skarce import (
    EvidenceSearchRegressor,
    KernelBasis,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    VBLSRegressor,
    datasets,
)

QUICK, REPEATS, MANY = 0.05, 3, 50  # a fit of fewer seconds than QUICK is repeated MANY times
NARROW = {1: 0.4, 2: 1.0}  # gamma by number of Friedman's function: four times the width of 1 / n_inputs
STREAMED = 3000  # single rows, so that the model is made anew by the way
LEARNED = 20_000  # rows of LWPR, by CPU time
BATCH = 10_000  # rows of a prediction
NO_WIDTH = 1e-10  # an input with a smaller gamma plays no part


@dataclass(frozen=True)
class Floor:
    """A piece of work, what it took, and what it may take. `rivals` are what other packages take for the same data."""

    work: str
    now: float
    aim: float
    unit: str
    rivals: dict[str, float] = field(default_factory=dict)
    evidence: dict[str, float] = field(default_factory=dict)  # of what was found, if others might be faster at a worse place

    @property
    def is_met(self) -> bool:
        return self.now >= self.aim if self.unit == "rows / s" else self.now <= self.aim


def quickest(work: Callable[[], object]) -> float:
    """Return the shortest wall time of some repeats."""
    work()
    seconds = wall_seconds(work)[0]
    return min(seconds, *(wall_seconds(work)[0] for _ in range(MANY if seconds < QUICK else REPEATS - 1)))


def fit_of(make: Callable[[], Any], X: Any, y: Any) -> Callable[[], object]:
    return lambda: make().fit(X, y)


# Fits ------------------------------------------------------------------------------------------------------------------------

RVM_AIMS = {(2, 200): 0.6, (2, 1000): 6, (2, 3000): 40, (2, 10_000): 150, (1, 500): 40, (1, 1000): 110, (1, 2000): 300}
RIVALS = {"fastrvm": 1000, "SVR": 10_000}  # with the most rows that each is timed on
FGCV_OVER_RVM = 1.3


def regressions() -> Iterator[Floor]:
    methods = {method.name: method for method in available()}
    for (generator, n_rows), aim in RVM_AIMS.items():
        X, y, *_ = Problem(generator, n_rows, 1, (0.0, 0.0)).load()
        name = f"Friedman {generator}, {n_rows:,} rows"
        rivals = [name for name, most in RIVALS.items() if name in methods and n_rows <= most]
        ms = {method: 1e3 * quickest(fit_of(methods[method].make, X, y)) for method in ("skarce frvm", "skarce fgcv", *rivals)}
        yield Floor(f"RVM, {name}", ms["skarce frvm"], aim, "ms", {rival: ms[rival] for rival in rivals})
        yield Floor(f"FGCV over RVM, {name}", ms["skarce fgcv"] / ms["skarce frvm"], FGCV_OVER_RVM, "times")


def classifiers() -> Iterator[Floor]:
    for n_rows, aim in {500: 6, 1000: 12, 4000: 60}.items():
        X, y = make_moons(n_rows, noise=0.3, random_state=0)
        seconds = quickest(fit_of(lambda: RelevanceVectorClassifier("rbf", calibrate_proba=False), X, y))
        yield Floor(f"classifier, two moons, {n_rows:,} rows", 1e3 * seconds, aim, "ms", {"SVC": 1e3 * quickest(fit_of(SVC, X, y))})


def digits() -> Iterator[Floor]:
    if datasets.data_folder() is None:
        print("MNIST is left out: SKARCE_DATA names no folder", file=sys.stderr)
        return
    images = datasets.mnist()
    X, y = images.X_train[:10_000], images.y_train[:10_000] == 0
    seconds = wall_seconds(fit_of(lambda: RelevanceVectorClassifier("rbf", calibrate_proba=False), X, y))[0]
    yield Floor("classifier, MNIST 10,000 x 784", seconds, 5, "s", {"SVC": wall_seconds(fit_of(SVC, X, y))[0]})


def forward_selections() -> Iterator[Floor]:
    X, y, *_ = Problem(2, 10_000, 1, (0.0, 0.0)).load()
    ols = quickest(fit_of(lambda: OrthogonalLeastSquaresRegressor(KernelBasis(gamma=GAMMA), calibrate_std=False), X, y))
    yield Floor("OLS with GCV, 10,000 rows", ols, 0.3, "s")
    for generator, gamma in NARROW.items():
        X, y, *_ = Problem(generator, 800, 1, (0.0, 0.0)).load()
        for name, kind, aim in (
            ("floating search", partial(EvidenceSearchRegressor, search="floating"), 2.0),
            ("RFS", RegularizedForwardRegressor, 0.3),
        ):
            for kernel, width in (("narrow", gamma), ("wide", gamma / 16)):
                make = partial(kind, KernelBasis(gamma=width), calibrate_std=False)
                yield Floor(f"{name}, Friedman {generator}, 800 rows, {kernel} kernels", quickest(fit_of(make, X, y)), aim, "s")


# Streams, blocks and predictions ---------------------------------------------------------------------------------------------


def streams() -> Iterator[Floor]:
    for d, aim in {100: 5000, 1000: 1000}.items():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2 * d + STREAMED, d))
        y = X[:, :10] @ rng.normal(0, 2, 10) + rng.normal(size=len(X))
        ours, rival = (single_rows(make, X, y, 2 * d) for make in (VBLSRegressor, SGDRegressor))
        yield Floor(f"VBLS, single rows, {d:,} inputs", ours, aim, "rows / s", {"SGD": rival})
    yield Floor("LWPR, batches of 1,000 rows, 10 inputs", lwpr.speed(LEARNED, "diagonal")["rows_per_s"], 20_000, "rows / s")


def single_rows(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, first: int) -> float:
    """Return how many single rows are learned in a second, after the first rows have come together."""
    model = make().partial_fit(X[:first], y[:first])

    def learn() -> None:
        for row in range(first, len(X)):
            model.partial_fit(X[row : row + 1], y[row : row + 1])

    return (len(X) - first) / wall_seconds(learn)[0]


def blocks() -> Iterator[Floor]:
    report = peak_in_own_process("benchmarks.large_fit", "1000000", "1000")
    yield Floor("1,000,000 rows x 1,000 candidates, blocks", report["seconds"], 13, "s")
    yield Floor("the same, peak memory", report["peak_mb"], 500, "MB")


def predictions() -> Iterator[Floor]:
    X, y, X_new, _ = Problem(2, 10_000, 1, (0.0, 0.0)).load()
    model = RelevanceVectorRegressor(KernelBasis(gamma=GAMMA), max_active=20, calibrate_std=False).fit(X, y)
    rows = np.resize(X_new, (BATCH, X_new.shape[1]))
    yield Floor(
        f"predict, {len(model.active_)} functions, a row of {BATCH:,}",
        1e6 * quickest(lambda: model.predict(rows)) / BATCH,
        0.1,
        "us",
    )
    one = rows[:1]
    checked = quickest(lambda: check_array(one))
    yield Floor("predict, a single row over check_array", quickest(lambda: model.predict(one)) / checked, 1.5, "times")


def imported() -> Iterator[Floor]:
    seconds = {statement: min(imports.seconds_of(statement) for _ in range(5)) for statement in imports.STATEMENTS}
    yield Floor("import skarce, less import sklearn", 1e3 * (seconds["import skarce"] - seconds["import sklearn"]), 30, "ms")
    ours, theirs = seconds["from skarce import RelevanceVectorRegressor"], seconds["import sklearn.linear_model"]
    yield Floor("import an estimator, less import sklearn.linear_model", 1e3 * (ours - theirs), 30, "ms")


def learned_kernels() -> Iterator[Floor]:
    X, y = make_friedman1(1000, noise=1.0, random_state=0)
    widths = partial(RelevanceVectorRegressor, KernelBasis(gamma="ard"), calibrate_std=False)
    seconds, process = wall_seconds(fit_of(lambda: gaussian_process(np.ones(X.shape[1])), X, y))
    evidence = {
        "skarce": evidence_at(widths().fit(X, y).basis_.gamma_, X, y),
        "GaussianProcess": process.log_marginal_likelihood_value_,
    }
    name = "widths per input, 1,000 rows x 10"
    yield Floor(name, quickest(fit_of(widths, X, y)), 0.6, "s", {"GaussianProcess": seconds}, evidence)
    yield Floor("default fit, 1,000 rows x 10", quickest(fit_of(RelevanceVectorRegressor, X, y)), 2.0, "s")


def gaussian_process(widths: np.ndarray, bounds: Any = (1e-5, 1e5)) -> GaussianProcessRegressor:
    kernel = ConstantKernel() * RBF(widths, bounds) + WhiteKernel()
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)


def evidence_at(gamma: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Return the evidence of a Gaussian process with these widths, at the best variances of signal and noise."""
    lengths = np.sqrt(0.5 / np.maximum(gamma, NO_WIDTH))
    return gaussian_process(lengths, "fixed").fit(X, y).log_marginal_likelihood_value_


PARTS: dict[str, Callable[[], Iterator[Floor]]] = {
    "regression": regressions,
    "classification": classifiers,
    "mnist": digits,
    "forward": forward_selections,
    "streams": streams,
    "blocks": blocks,
    "predict": predictions,
    "import": imported,
    "kernels": learned_kernels,
}


# Output ----------------------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floors", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts (default: all)")
    parser.add_argument("--out", type=Path, help="folder for floors.json and floors.txt")
    options = parser.parse_args()
    floors = []
    for part in options.parts:
        for floor in PARTS[part]():
            print(f"{floor.work}: {floor.now:.3g} {floor.unit}", file=sys.stderr, flush=True)
            floors.append(floor)
    Console(width=130).print(table_of(floors))
    if options.out:
        write(floors, options.out)


def table_of(floors: list[Floor]) -> Table:
    table = Table(title="Speed beside its aim")
    for name in ("work", "now", "aim", "unit", "met", "rivals", "evidence"):
        table.add_column(name, justify="right" if name in ("now", "aim") else "left")
    for floor in floors:
        others = (", ".join(f"{name} {value:.4g}" for name, value in named.items()) for named in (floor.rivals, floor.evidence))
        table.add_row(floor.work, f"{floor.now:.3g}", f"{floor.aim:g}", floor.unit, "yes" if floor.is_met else "no", *others)
    return table


def write(floors: list[Floor], folder: Path) -> None:
    """Write the table, and all numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=130, record=True, file=io.StringIO())
    console.print(table_of(floors))
    (folder / "floors.txt").write_text(console.export_text())
    (folder / "floors.json").write_text(
        json.dumps({"machine": machine(), "floors": [asdict(floor) for floor in floors]}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
