"""Problems that are the same on every machine, and ways to fit them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.datasets import make_blobs, make_classification, make_friedman1, make_friedman2, make_moons, make_regression

import skarce
from skarce import datasets, designs

N_QUERIES = 50


class Data(NamedTuple):
    """Rows to learn from, and inputs to predict at."""

    X: Any
    y: Any
    queries: Any


class Fitted(NamedTuple):
    """A model and where it is asked; `std` is how a regressor is to compute its uncertainty."""

    model: Any
    queries: Any
    std: str = "plain"


Case = Callable[[], Fitted]


def split(X: Any, y: Any) -> Data:
    """Standardized inputs, the last rows as queries; targets stay in their units."""
    X = (X - X[:-N_QUERIES].mean(axis=0)) / X[:-N_QUERIES].std(axis=0)
    return Data(X[:-N_QUERIES], y[:-N_QUERIES], X[-N_QUERIES:])


@cache
def sinc() -> Data:
    rng = np.random.default_rng(0)
    X = rng.uniform(-10.0, 10.0, (100, 1))
    return Data(X, np.sinc(X[:, 0] / np.pi) + rng.normal(0.0, 0.1, 100), np.linspace(-15.0, 15.0, N_QUERIES)[:, None])


@cache
def friedman1(n_rows: int = 200) -> Data:
    return split(*make_friedman1(n_rows + N_QUERIES, noise=1.0, random_state=1))


@cache
def friedman2(n_rows: int = 240) -> Data:
    return split(*make_friedman2(n_rows + N_QUERIES, noise=125.0, random_state=2))


@cache
def linear(n_rows: int = 150, n_inputs: int = 30) -> Data:
    return split(*make_regression(n_rows + N_QUERIES, n_inputs, n_informative=6, noise=30.0, bias=100.0, random_state=3))


def wide() -> Data:
    """More inputs than rows."""
    return linear(60, 100)


@cache
def outliers() -> Data:
    """Every tenth target is far off."""
    data, rng = linear(), np.random.default_rng(4)
    y = data.y.copy()
    y[::10] += rng.normal(0.0, 1000.0, len(y[::10]))
    return data._replace(y=y)


@cache
def three_targets() -> Data:
    data, rng = friedman2(), np.random.default_rng(5)
    others = np.sin(data.X[:, 0]), 1e3 * data.X[:, 1] * data.X[:, 2]
    noisy = [values + 0.1 * values.std() * rng.normal(size=len(values)) for values in others]
    return data._replace(y=np.column_stack([data.y, *noisy]))


@cache
def moons(n_rows: int = 200) -> Data:
    return split(*make_moons(n_rows + N_QUERIES, noise=0.3, random_state=6))


@cache
def three_classes() -> Data:
    return split(*make_blobs(180 + N_QUERIES, centers=3, cluster_std=2.5, random_state=7))


@cache
def linear_classes() -> Data:
    return split(*make_classification(200 + N_QUERIES, 15, n_informative=4, n_redundant=2, weights=[0.75], random_state=8))


def rare_class() -> Data:
    """Of one class only every twentieth row is left."""
    data = moons(400)
    rows = np.flatnonzero((data.y == 0) | (np.arange(len(data.y)) % 20 == 0))
    return data._replace(X=data.X[rows], y=data.y[rows])


def as_text(data: Data) -> Data:
    return data._replace(y=np.array(["ash", "birch", "cedar"])[data.y])


def counts(data: Data) -> NDArray[np.float64]:
    """Sample weights: whole numbers, some of them zero."""
    return np.random.default_rng(9).integers(0, 4, len(data.X)).astype(np.float64)


@cache
def table(name: str) -> Data:
    """A real table, its rows in a random order."""
    X, y, *_ = datasets.load(name)
    order = np.random.default_rng(10).permutation(len(X))
    return split(X[order], y[order])


# Ways to fit ------------------------------------------------------------------------------------------------------------


def fit(model: Any, data: Data, **fit_params: Any) -> Fitted:
    return Fitted(model.fit(data.X, data.y, **fit_params), data.queries)


def fit_blocks(model: Any, data: Data, sample_weight: Any = None) -> Fitted:
    return Fitted(model.fit(designs.RowBlocks.from_arrays(data.X, data.y, sample_weight, block_rows=64)), data.queries)


def fit_batches(model: Any, data: Data, n_batches: int = 5) -> Fitted:
    for rows in np.array_split(np.arange(len(data.X)), n_batches):
        model = model.partial_fit(data.X[rows], data.y[rows])
    return Fitted(model, data.queries)


def fit_in_little_memory(model: Any, data: Data) -> Fitted:
    """So that neither the candidates at all rows nor their Gram matrix may be stored."""
    with config_context(working_memory=1):
        return fit(model, data)


def augmented(fitted: Fitted) -> Fitted:
    """Asked for an uncertainty that grows away from the data, near and far."""
    return fitted._replace(queries=np.vstack([fitted.queries, 3.0 * fitted.queries]), std="augmented")


def resized(fitted: Fitted, n_basis: int) -> Fitted:
    return fitted._replace(model=fitted.model.with_n_basis(n_basis))


def tolerated(fitted: Fitted, tol: float) -> Fitted:
    return fitted._replace(model=fitted.model.with_tol(tol))


def laplacian_kernel(X: Any, centers: Any) -> Any:
    return np.exp(-0.1 * np.abs(X[:, None] - centers).sum(axis=2))


def precomputed(data: Data) -> Data:
    return data._replace(X=laplacian_kernel(data.X, data.X), queries=laplacian_kernel(data.queries, data.X))


def rbf(gamma: Any = 0.1, **params: Any) -> Any:
    return skarce.KernelBasis(gamma=gamma, **params)


def landmarks(n_centers: int = 40) -> Any:
    return rbf(centers=n_centers, random_state=0)
