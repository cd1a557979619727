r"""A Gaussian distribution with few factors.

Rows are :math:`z = m + Wv + \epsilon` with factors :math:`v\sim N(0, I)` and noise :math:`\epsilon\sim N(0, \Psi)`. Psi is
diagonal, so z has the covariance :math:`\Sigma = WW^T + \Psi`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._linalg import cholesky, solve_lower
from skarce._typing import Floats
from skarce.methods.factors.spread import Spread


@dataclass(frozen=True)
class FactorModel:
    """Loadings W of shape (p, K) and the noise variances of the p columns, with how they were found.

    Attributes
    ----------
    n_iter : int
        Steps of the fit. A closed form is one step.
    is_converged : bool
        Whether the gradient of the likelihood is zero up to the tolerance, except for variances at their limits.
    """

    loadings: Floats
    noise: Floats
    n_iter: int = 1
    is_converged: bool = True

    @property
    def n_factors(self) -> int:
        """The number of factors, K."""
        return self.loadings.shape[1]

    def covariance(self) -> Floats:
        """Sigma = WW' + Psi."""
        return self.loadings @ self.loadings.T + np.diag(self.noise)

    def log_likelihood(self, spread: Spread) -> float:
        """The log density of the standardized rows, with means at their optimum.

        With M = I + W'Psi^-1 W, it is -n/2 [p log 2 pi + log|Psi| + log|M| + tr(Psi^-1 S) - tr(M^-1 W'Psi^-1 S Psi^-1 W)].
        """
        weighted = self.loadings / self.noise[:, None]
        lower = cholesky(np.eye(self.n_factors) + weighted.T @ self.loadings)
        explained = solve_lower(lower, (spread.root @ weighted).T)
        determinant = np.log(self.noise).sum() + 2.0 * np.log(lower.diagonal()).sum()
        distance = (spread.variances / self.noise).sum() - np.sum(explained**2)
        return -0.5 * spread.n_samples * float(spread.n_columns * np.log(2.0 * np.pi) + determinant + distance)
