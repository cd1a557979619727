"""What ``python -m benchmarks.check`` times: pieces of our work, each with work of another package on the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import SGDRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import imports
from benchmarks.large_fit import BLOCK
from benchmarks.large_fit import rows as rows_of_block
from benchmarks.methods import by_name as method_named
from benchmarks.problems import GAMMA
from benchmarks.problems import by_name as problem_named
from benchmarks.timing import wall_seconds
from skarce import (
    EvidenceSearchRegressor,
    KernelBasis,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.designs import RowBlocks

N_BLOCKS, LANDMARKS, WIDTH = 12, 300, 1.0  # of the fit from blocks
STREAM_INPUTS, FIRST_ROWS, SINGLE_ROWS = 100, 200, 500


class Row(NamedTuple):
    """Our work, and the work of others that it is compared with. Work that measures itself returns its seconds as a float."""

    ours: Callable[[], object]
    other: Callable[[], object]


@cache
def data(problem: str) -> tuple[np.ndarray, ...]:
    if problem == "moons":
        return make_moons(1000, noise=0.3, random_state=0)
    return problem_named(problem).load()


def fit_of(make: Callable[[], Any], problem: str) -> object:
    X, y, *_ = data(problem)
    return make().fit(X, y)


def fit(problem: str, method: str) -> object:
    return fit_of(method_named(method).make, problem)


@cache
def fitted(method: str) -> Any:
    return fit("friedman2-1000", method)


def predict(method: str, n_rows: int) -> object:
    return fitted(method).predict(data("friedman2-1000")[2][:n_rows])


def single_rows(make: Callable[[], Any]) -> float:
    """Return the seconds in which single rows are learned, after the first rows have come together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(FIRST_ROWS + SINGLE_ROWS, STREAM_INPUTS))
    y = X[:, :10] @ rng.normal(0, 2, 10) + rng.normal(size=len(X))
    model = make().partial_fit(X[:FIRST_ROWS], y[:FIRST_ROWS])

    def learn() -> None:
        for row in range(FIRST_ROWS, len(X)):
            model.partial_fit(X[row : row + 1], y[row : row + 1])

    return wall_seconds(learn)[0]


@cache
def row_blocks() -> list[tuple[np.ndarray, np.ndarray]]:
    return [rows_of_block(number, BLOCK) for number in range(N_BLOCKS)]


def fit_blocks() -> object:
    basis = KernelBasis(gamma=WIDTH, centers=LANDMARKS, random_state=0)
    return RelevanceVectorRegressor(basis, calibrate_std=False).fit(RowBlocks(lambda: iter(row_blocks())))


def sum_blocks() -> object:
    """Sum up what a fit needs with scikit-learn and NumPy."""
    centers, gram, projections = row_blocks()[0][0][:LANDMARKS], 0.0, 0.0
    for X, y in row_blocks():
        phi = rbf_kernel(X, centers, WIDTH)
        gram, projections = gram + phi.T @ phi, projections + phi.T @ y
    return gram, projections


def fits_beside_svr() -> Iterator[tuple[str, Row]]:
    problems = ("friedman2-200", "friedman2-1000", "friedman2-3000", "friedman1-500", "friedman1-1000")
    pairs = [(problem, name) for problem in problems for name in ("skarce frvm", "skarce fgcv")]
    for problem, name in [*pairs, ("friedman2-10000", "skarce frvm"), ("friedman1-2000", "skarce frvm")]:
        yield f"{name} on {problem} / SVR", Row(partial(fit, problem, name), partial(fit, problem, "SVR"))


def predictions() -> Iterator[tuple[str, Row]]:
    for n in (1, 100, 2000):
        yield f"predict {n} rows / SVR", Row(partial(predict, "skarce frvm", n), partial(predict, "SVR", n))


def other_work() -> Iterator[tuple[str, Row]]:
    kernels, quick = partial(KernelBasis, gamma=GAMMA), {"calibrate_std": False}
    yield (
        "classifier on two moons / SVC",
        Row(
            partial(fit_of, lambda: RelevanceVectorClassifier("rbf", calibrate_proba=False), "moons"),
            partial(fit_of, SVC, "moons"),
        ),
    )
    for name, make, problem, rival in (
        ("OLS", lambda: OrthogonalLeastSquaresRegressor(kernels(), **quick), "friedman2-3000", "SVR"),
        ("floating", lambda: EvidenceSearchRegressor(kernels(), search="floating", **quick), "friedman1-500", "GaussianProcess"),
        ("RFS", lambda: RegularizedForwardRegressor(kernels(), **quick), "friedman1-500", "GaussianProcess"),
        ("learned widths", lambda: RelevanceVectorRegressor(KernelBasis(gamma="ard"), **quick), "friedman1-500", "GaussianProcess"),
        ("default fit", RelevanceVectorRegressor, "friedman1-500", "GaussianProcess"),
    ):
        yield f"{name} on {problem} / {rival}", Row(partial(fit_of, make, problem), partial(fit, problem, rival))
    yield "VBLS, single rows / SGD", Row(partial(single_rows, VBLSRegressor), partial(single_rows, SGDRegressor))
    yield "row blocks / sums with NumPy", Row(fit_blocks, sum_blocks)


ROWS = {
    **dict(fits_beside_svr()),
    **dict(predictions()),
    "import skarce / import numpy": Row(partial(imports.seconds_of, "import skarce"), partial(imports.seconds_of, "import numpy")),
    **dict(other_work()),
}
