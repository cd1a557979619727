r"""Factor analysis by expectation and maximization (Rubin and Thayer 1982).

The expectations of the factors given the rows need :math:`B = (I + W^T\Psi^{-1}W)^{-1}W^T\Psi^{-1}`. With
:math:`C = SB^T`, a step is

.. math:: W \leftarrow C\,(I - BW + BC)^{-1}, \qquad \Psi \leftarrow \mathrm{diag}(S - WC^T),

and the likelihood never falls. With equal noise variances, their mean takes the place of Psi. Many steps may be needed if the
noise of a column is small, so `fit_directly` is the usual way; this one is the classic.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve

from skarce._typing import Floats
from skarce.methods.factors.factor_model import FactorModel
from skarce.methods.factors.likelihood import NOISE_FLOOR, best_loadings, first_noise, is_stationary
from skarce.methods.factors.spread import Spread

STEPS_BETWEEN_TESTS = 10  # the test for convergence costs as much as a few steps


def fit_by_em(spread: Spread, n_factors: int, *, isotropic: bool, tol: float, max_iter: int) -> FactorModel:
    """The factors that the steps lead to."""
    S, noise = spread.covariance(), first_noise(spread, n_factors)
    if isotropic:
        noise = np.full(len(S), noise.mean())
    loadings, _ = best_loadings(spread, noise, n_factors)
    for step in range(1, max_iter + 1):
        before = noise
        loadings, noise = em_step(S, loadings, noise, isotropic=isotropic)
        if step % STEPS_BETWEEN_TESTS == 0 or step == max_iter:
            is_settled = _is_settled(before, noise, tol) if isotropic else is_stationary(spread, noise, n_factors, tol)
            if is_settled:
                return FactorModel(loadings, noise, step)
    return FactorModel(loadings, noise, max_iter, is_converged=False)


def em_step(S: Floats, loadings: Floats, noise: Floats, *, isotropic: bool) -> tuple[Floats, Floats]:
    """One step: the loadings and noise variances that maximize the expected likelihood of rows and factors."""
    identity = np.eye(loadings.shape[1])
    weighted = loadings / noise[:, None]
    B = solve(identity + weighted.T @ loadings, weighted.T, assume_a="pos", check_finite=False)
    C = S @ B.T
    loadings = solve(identity - B @ loadings + B @ C, C.T, check_finite=False).T
    noise = np.maximum(S.diagonal() - np.einsum("ij,ij->i", loadings, C), NOISE_FLOOR)
    return loadings, np.full(len(S), noise.mean()) if isotropic else noise


def _is_settled(before: Floats, after: Floats, tol: float) -> bool:
    return bool(np.abs(np.log(after / before)).max() <= 0.01 * tol)
