r"""The Gaussian posterior of all weights at given precisions and row curvatures, by columns or by rows.

With the curvatures :math:`W = 2C\Lambda` of the bound, :math:`\kappa = C(t - 1/2)` and :math:`P = A + \Phi^TW\Phi`, the mean is
:math:`\mu = P^{-1}\Phi^T\kappa`. If candidates are many more than rows, the matrix :math:`K = I + W^{1/2}GW^{1/2}` of the rows with
:math:`G = \Phi A^{-1}\Phi^T` says the same (Woodbury):

.. math:: \mu = A^{-1}\Phi^TW^{1/2}K^{-1}W^{-1/2}\kappa, \quad \log|P| = \log|A| + \log|K|, \quad
   \gamma_j = \alpha_j^{-1}\varphi_j^TW^{1/2}K^{-1}W^{1/2}\varphi_j, \quad
   \Phi P^{-1}\Phi^T = W^{-1/2}(I - K^{-1})W^{-1/2}.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower, solve_lower
from skarce._typing import Floats
from skarce.methods.latent.functions import row_variances, weighted_gram

WIDE = 2.0  # candidates for each row, above which the matrix of the rows is cheaper


class Solution(NamedTuple):
    """Weights and their uncertainty.

    Attributes
    ----------
    weights : mu
    explained : mu'P mu
    log_ratio : (log|A| - log|P|) / 2
    spread : diag P^-1
    row_variances : phi_i'P^-1 phi_i of every row
    """

    weights: Floats
    explained: float
    log_ratio: float
    spread: Floats
    row_variances: Floats


def solved(design: Floats, alpha: Floats, curvature: Floats, halves: Floats, rises: Sequence[float]) -> Solution:
    """Return the posterior; `halves` are kappa. A nearly singular matrix is raised by one of `rises`."""
    n, m = design.shape
    return (_by_rows if m > WIDE * n else _by_columns)(design, alpha, curvature, halves, rises)


def _by_columns(design: Floats, alpha: Floats, curvature: Floats, halves: Floats, rises: Sequence[float]) -> Solution:
    matrix = weighted_gram(design, curvature)
    matrix.flat[:: len(matrix) + 1] += alpha
    factor = cholesky_of_nearly_singular(matrix, rises)
    explained = solve_lower(factor, design.T @ halves)
    root = inverse_of_lower(factor)
    return Solution(
        solve_lower(factor, explained, transposed=True),
        float(explained @ explained),
        float(0.5 * np.log(alpha).sum() - np.log(factor.diagonal()).sum()),
        np.einsum("ij,ij->j", root, root),
        row_variances(design, root),
    )


def _by_rows(design: Floats, alpha: Floats, curvature: Floats, halves: Floats, rises: Sequence[float]) -> Solution:
    roots = np.sqrt(curvature)
    gram = (design / alpha) @ design.T
    matrix = gram * np.multiply.outer(roots, roots)
    matrix.flat[:: len(matrix) + 1] += 1.0
    inflated = matrix.diagonal().copy()
    factor = cholesky_of_nearly_singular(matrix, rises)
    scaled = np.divide(halves, roots, out=np.zeros_like(halves), where=roots > 0.0)
    within = solve_lower(factor, scaled)
    weights = (design.T @ (roots * solve_lower(factor, within, transposed=True))) / alpha
    covered = solve_lower(factor, np.asfortranarray(roots[:, None] * design))
    gamma = np.minimum(np.einsum("ij,ij->j", covered, covered) / alpha, 1.0)
    root = inverse_of_lower(factor)
    # Of two forms of the same variance, the one that does not lose its digits: rows that count little have K near I.
    rest = solve_lower(factor, np.asfortranarray(roots[:, None] * gram))
    by_prior = gram.diagonal() - np.einsum("ij,ij->j", rest, rest)
    by_data = (1.0 - np.einsum("ij,ij->j", root, root)) / np.where(inflated > WIDE, curvature, 1.0)
    variances = np.maximum(np.where(inflated > WIDE, by_data, by_prior), 0.0)
    explained = float(scaled @ scaled - within @ within)
    return Solution(weights, explained, -float(np.log(factor.diagonal()).sum()), (1.0 - gamma) / alpha, variances)
