"""The methods: how to make each, how to count the functions of its model, and the largest problem it is used for."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.svm import SVR

from benchmarks.problems import GAMMA
from skarce import FastGCVRegressor, KernelBasis, RelevanceVectorRegressor


@dataclass(frozen=True)
class Competitor:
    """A method of skarce or of another package."""

    name: str
    make: Callable[[], Any]
    size: Callable[[Any], int]
    max_rows: int


# The refits that calibrate the std are left out: no rival has them.
def _frvm(solver: str) -> Callable[[], Any]:
    return lambda: RelevanceVectorRegressor(KernelBasis(gamma=GAMMA, centers=None), solver=solver, calibrate_std=False)


def _fgcv(solver: str) -> Callable[[], Any]:
    return lambda: FastGCVRegressor(KernelBasis(gamma=GAMMA, centers=None), solver=solver, calibrate_std=False)


def _fastrvm() -> Any:
    from fastrvm import RVR

    return RVR(kernel="rbf", gamma=GAMMA, fit_intercept=True)


def _gaussian_process() -> Any:
    return GaussianProcessRegressor(1.0 * RBF((0.5 / GAMMA) ** 0.5, "fixed") + WhiteKernel(0.1))


METHODS = [
    Competitor("skarce frvm", _frvm("fast"), lambda m: len(m.active_), 10**9),
    Competitor("skarce frvm, sequential", _frvm("sequential"), lambda m: len(m.active_), 3000),
    Competitor("skarce fgcv", _fgcv("fast"), lambda m: len(m.active_), 10**9),
    Competitor("skarce fgcv, sequential", _fgcv("sequential"), lambda m: len(m.active_), 1000),
    Competitor("fastrvm", _fastrvm, lambda m: len(m.relevance_vectors_), 10**9),
    Competitor("SVR", lambda: SVR(C=10.0, gamma=GAMMA), lambda m: len(m.support_), 10**9),
    Competitor("GaussianProcess", _gaussian_process, lambda m: len(m.X_train_), 1000),
]


def available() -> list[Competitor]:
    """Return all methods whose package is installed."""
    has_fastrvm = importlib.util.find_spec("fastrvm") is not None
    return [m for m in METHODS if m.name != "fastrvm" or has_fastrvm]


def by_name(name: str) -> Competitor:
    return next(m for m in METHODS if m.name == name)
