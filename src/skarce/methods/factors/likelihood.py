r"""The maximum of the likelihood of factors: in closed form for the loadings, by a quasi-Newton method for the noise.

Let :math:`\lambda_k` be the eigenvalues of :math:`\Psi^{-1/2}S\Psi^{-1/2}`, and U their eigenvectors. For given noise
the best loadings are :math:`W = \Psi^{1/2}U(\Lambda - I)^{1/2}`, with the K largest eigenvalues, or those of them that are above 1.
Then minus twice the log likelihood of a row is, up to a constant,

.. math:: F(\Psi) = \log|\Psi| + \mathrm{tr}(\Psi^{-1}S) + \sum_k(\log\lambda_k - \lambda_k + 1),

and its derivative by :math:`\log\psi_i` is :math:`(\Sigma - S)_{ii}/\psi_i` (Joereskog 1967). If all noise variances are equal,
their best value is the mean of the other eigenvalues of S (Tipping and Bishop 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from skarce._typing import Floats
from skarce.methods.factors.factor_model import FactorModel
from skarce.methods.factors.spread import Spread

NOISE_FLOOR = 1e-6  # the least share of the variance of a column that is noise
START_RIDGE = 1e-3  # added to a correlation matrix that may be singular, for a first guess of the noise


def fit_directly(
    spread: Spread, n_factors: int, *, isotropic: bool, tol: float, max_iter: int, start: Floats | None = None
) -> FactorModel:
    """The factors with the largest likelihood. `start` are noise variances to begin with."""
    if isotropic:
        return _principal_components(spread, n_factors)
    return _by_noise(spread, n_factors, tol, max_iter, first_noise(spread, n_factors) if start is None else start)


def best_loadings(spread: Spread, noise: Floats, n_factors: int) -> tuple[Floats, Floats]:
    """The loadings with the largest likelihood at these noise variances, and the eigenvalues that they stand for (at least 1)."""
    values, vectors = spread.leading(noise, n_factors)
    values = np.maximum(values, 1.0)
    loadings = np.zeros((spread.n_columns, n_factors))
    loadings[:, : len(values)] = np.sqrt(noise)[:, None] * vectors * np.sqrt(values - 1.0)
    return loadings, values


def profile(spread: Spread, noise: Floats, n_factors: int) -> tuple[float, Floats]:
    """F at the best loadings, and its gradient by the logarithms of the noise variances.

    Differences of large numbers are avoided: what the factors leave of the rows, in units of the noise, is computed as such.
    """
    values, vectors = spread.leading(noise, n_factors)
    values, vectors = values[values > 1.0], vectors[:, values > 1.0]
    scaled = spread.root / np.sqrt(noise)
    rest = scaled - (scaled @ vectors) @ vectors.T
    left = np.einsum("ij,ij->j", rest, rest)
    score = np.log(noise).sum() + left.sum() + np.sum(np.log(values) + 1.0)
    return float(score), 1.0 - left - np.einsum("ij,ij->i", vectors, vectors)


def bounds_of(spread: Spread) -> tuple[Floats, Floats]:
    """The least and the largest noise variance of each column: all of its variance may be noise."""
    least = np.full(spread.n_columns, NOISE_FLOOR)
    return least, np.maximum(spread.variances, least)


def first_noise(spread: Spread, n_factors: int) -> Floats:
    """What all other columns do not explain of a column, somewhat less if there are many factors (Joereskog 1967)."""
    matrix = spread.covariance()
    matrix.flat[:: len(matrix) + 1] += START_RIDGE
    unexplained = (1.0 - 0.5 * n_factors / spread.n_columns) / np.linalg.inv(matrix).diagonal()
    return np.clip(unexplained, *bounds_of(spread))


def is_stationary(spread: Spread, noise: Floats, n_factors: int, tol: float) -> bool:
    """Tell whether no noise variance can change to raise the likelihood: the slope is zero, or points out of the bounds."""
    least, most = bounds_of(spread)
    slope = profile(spread, noise, n_factors)[1]
    blocked = ((noise <= least * (1.0 + 1e-9)) & (slope > 0.0)) | ((noise >= most * (1.0 - 1e-9)) & (slope < 0.0))
    return bool(np.abs(np.where(blocked, 0.0, slope)).max(initial=0.0) <= tol)


def n_parameters(n_columns: int, n_factors: int, *, isotropic: bool) -> int:
    """The number of free parameters: means, loadings up to a rotation, and noise variances."""
    n_loadings = n_columns * n_factors - n_factors * (n_factors - 1) // 2
    return n_columns + n_loadings + (1 if isotropic else n_columns)


def _by_noise(spread: Spread, n_factors: int, tol: float, max_iter: int, start: Floats) -> FactorModel:
    least, most = (np.log(bound) for bound in bounds_of(spread))

    def score(log_noise: Floats) -> tuple[float, Any]:
        return profile(spread, np.exp(log_noise), n_factors)

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 1e-15, "maxcor": 20}
    begin = np.clip(np.log(start), least, most)
    found = minimize(score, begin, jac=True, method="L-BFGS-B", bounds=np.column_stack([least, most]), options=options)
    noise = np.exp(found.x)
    loadings, _ = best_loadings(spread, noise, n_factors)
    return FactorModel(loadings, noise, int(found.get("nit", 0)), is_stationary(spread, noise, n_factors, tol))


def _principal_components(spread: Spread, n_factors: int) -> FactorModel:
    ones = np.ones(spread.n_columns)
    values, vectors = spread.leading(ones, n_factors)
    rest = max(float(spread.variances.sum() - values.sum()), 0.0) / max(spread.n_columns - n_factors, 1)
    noise = max(rest, NOISE_FLOOR)
    loadings = np.zeros((spread.n_columns, n_factors))
    loadings[:, : len(values)] = vectors * np.sqrt(np.maximum(values - noise, 0.0))
    return FactorModel(loadings, noise * ones)
