"""A Gaussian process for tables with thousands of rows. It learns its kernel on some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from skarce._atomic import become, unfitted_twin
from skarce._typing import Floats


def noisy_rbf() -> Any:
    """One length scale, and separate variances of signal and noise, for inputs in [0, 1] and standardized targets."""
    return ConstantKernel(1.0, (1e-3, 1e4)) * RBF(1.0, (1e-2, 1e2)) + WhiteKernel(0.1, (1e-6, 1e1))


class LeanGaussianProcess(RegressorMixin, BaseEstimator):
    """Learns the kernel on at most `learn_on` random rows, from one start, and then conditions on all rows."""

    def __init__(self, learn_on: int = 1000) -> None:
        self.learn_on = learn_on

    def fit(self, X: Floats, y: Floats) -> LeanGaussianProcess:
        rows = np.random.default_rng(0).permutation(len(X))[: self.learn_on]
        process = GaussianProcessRegressor(noisy_rbf(), normalize_y=True).fit(X[rows], y[rows])
        if len(rows) < len(X):
            process = GaussianProcessRegressor(process.kernel_, optimizer=None, normalize_y=True).fit(X, y)
        twin = unfitted_twin(self)
        twin.process_, twin.X_train_ = process, process.X_train_
        return become(self, twin)

    def predict(self, X: Floats) -> Floats:
        return self.process_.predict(X)
