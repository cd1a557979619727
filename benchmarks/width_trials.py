"""Trials of learned widths: tables, splits and kernels, scikit-learn's Gaussian process as the rival, and one score for both."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

from benchmarks.width_tables import TABLES
from skarce import KernelBasis
from skarce.datasets.real import load
from skarce.model_selection import learn_widths

FRIEDMAN = {"friedman1": (make_friedman1, 1.0), "friedman2": (make_friedman2, 125.0), "friedman3": (make_friedman3, 0.1)}
TUNED_ON = ("boston", "cpu_act", "puma8fh", "puma8fm", "puma8nh", "puma8nm", "friedman1", "friedman2", *TABLES)
REPORTED = ("abalone", "kin8fh", "kin8fm", "kin8nh", "kin8nm", "friedman3")
RATIOS = 10.0 ** np.arange(-6.0, 10.5, 0.5)  # of signal to noise, at which the score looks for its maximum


class Trial(NamedTuple):
    """Rows of a table, standardized, and the kernel whose widths are to be learned."""

    table: str
    n_rows: int
    split: int
    kernel: str

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and targets, both with mean zero and variance one."""
        rng = np.random.default_rng(self.split)
        if self.table in FRIEDMAN:
            make, noise = FRIEDMAN[self.table]
            X, y = make(self.n_rows, noise=noise, random_state=self.split)
        elif self.table in TABLES:
            X, y = TABLES[self.table](self.n_rows, self.split)
        else:
            table = load(self.table)
            chosen = rng.permutation(len(table.y))[: self.n_rows]
            X, y = table.X[chosen], table.y[chosen].astype(np.float64)
        X = X[:, X.std(axis=0) > 0.0]
        return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


class Found(NamedTuple):
    """What a learner found: gamma of each input, and CPU seconds."""

    gamma: list[float]
    cpu: float


def trials(tables: Iterable[str], n_rows: Iterable[int], splits: int, kernels: Iterable[str]) -> Iterator[Trial]:
    for table in tables:
        for kernel in kernels:
            for n in n_rows:
                yield from (Trial(table, n, split, kernel) for split in range(splits))


def learned(trial: Trial, **options: Any) -> Found:
    """Learn widths with the version of the library that is imported here."""
    X, y = trial.rows()
    with threadpool_limits(1):
        started = time.process_time()
        found = learn_widths(X, y, kernel=trial.kernel, covariance="kernel", **options)
        return Found(found.gamma.tolist(), time.process_time() - started)


def of_rival(trial: Trial) -> Found:
    """Learn length scales with GaussianProcessRegressor from its default start."""
    X, y = trial.rows()
    scales = np.ones(X.shape[1])
    smooth = RBF(scales) if trial.kernel == "rbf" else Matern(scales, nu={"matern32": 1.5, "matern52": 2.5}[trial.kernel])
    model = GaussianProcessRegressor(ConstantKernel() * smooth + WhiteKernel(), random_state=0)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.process_time()
        model.fit(X, y)
    gamma = 0.5 / model.kernel_.k1.k2.length_scale**2
    return Found(gamma.tolist(), time.process_time() - started)


def score(trial: Trial, gamma: Any, *, intercept: bool = False) -> float:
    """Return the log marginal likelihood of the targets at these widths, with both variances at their optimum.

    It has no prior. With an intercept, it is that of the contrasts of the targets.
    """
    X, y = trial.rows()
    covariance = KernelBasis(trial.kernel, gamma=np.asarray(gamma), centers=X).fit(X).transform(X)
    if intercept:
        covariance = covariance - covariance.mean(axis=0)
        covariance = covariance - covariance.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    squares, n = (vectors.T @ y) ** 2, len(y) - intercept
    values = np.maximum(values, 0.0)

    def negative(log_ratio: float) -> float:
        total = 1.0 + np.exp(log_ratio) * values
        return 0.5 * (n * np.log(2.0 * np.pi * np.e * (squares / total).sum() / n) + np.log(total).sum())

    near = np.log(RATIOS[np.argmin([negative(np.log(ratio)) for ratio in RATIOS])])
    best = minimize_scalar(negative, bounds=(near - 1.2, near + 1.2), method="bounded", options={"xatol": 1e-4})
    return -float(best.fun)
