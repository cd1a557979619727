"""The data and the fitted models of ``benchmarks.export`` and ``benchmarks.export_onnx``, the same in both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.svm import SVR

from benchmarks.export_rivals import tuned_svr
from skarce import RelevanceVectorRegressor

N_ROWS, N_TEST = 500, 2000


class Drawn(NamedTuple):
    """Friedman's first problem with 10 inputs: training rows, and rows of a test."""

    X: Any
    y: Any
    test: tuple[Any, Any]


class Models(NamedTuple):
    """The models that are compared, fitted to the training rows."""

    ours: RelevanceVectorRegressor
    svr: SVR
    process: GaussianProcessRegressor


def drawn() -> Drawn:
    """Return the one draw of all benchmarks of exports."""
    X, y = make_friedman1(N_ROWS, noise=1.0, random_state=0)
    return Drawn(X, y, make_friedman1(N_TEST, noise=1.0, random_state=1))


def fitted_models(X: Any, y: Any) -> Models:
    """Return the models, fitted. Nothing in them is random."""
    process = GaussianProcessRegressor(RBF(np.ones(X.shape[1])) + WhiteKernel(), normalize_y=True, random_state=0).fit(X, y)
    return Models(RelevanceVectorRegressor().fit(X, y), tuned_svr(X, y), process)
