r"""The distribution of targets, given the inputs that are known.

Let o be the inputs of a row that are observed, and :math:`M = I + W_o^T\Psi_o^{-1}W_o`. The factors have the covariance
:math:`M^{-1}` and the mean :math:`M^{-1}W_o^T\Psi_o^{-1}(x_o - m_o)`, so targets have

.. math:: m_y + W_yM^{-1}W_o^T\Psi_o^{-1}(x_o - m_o), \qquad \Psi_y + W_yM^{-1}W_y^T

as mean and covariance. This is the paper's equation (9) if all inputs are observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skarce._parallel import slices
from skarce._typing import Floats, Indices
from skarce.methods.factors.factor_model import FactorModel

BLOCK_BYTES = 2**25  # of the matrices M of several patterns of missing inputs


@dataclass(frozen=True)
class Conditional:
    """Targets given inputs, in standardized units around the means of the rows that were learned.

    Attributes
    ----------
    input_loadings, target_loadings : arrays of shape (d, K) and (q, K)
    input_noise, target_noise : arrays of shape (d,) and (q,)
    """

    input_loadings: Floats
    target_loadings: Floats
    input_noise: Floats
    target_noise: Floats

    @classmethod
    def of(cls, model: FactorModel, n_inputs: int) -> Conditional:
        """The first columns of the model are the inputs."""
        loadings, noise = model.loadings, model.noise
        return cls(loadings[:n_inputs], loadings[n_inputs:], noise[:n_inputs], noise[n_inputs:])

    def coefficients(self) -> Floats:
        """The coefficients of all inputs, of shape (q, d)."""
        weighted = self.input_loadings / self.input_noise[:, None]
        return self.target_loadings @ np.linalg.solve(np.eye(weighted.shape[1]) + weighted.T @ self.input_loadings, weighted.T)

    def covariance(self) -> Floats:
        """The covariance of targets if all inputs are known, of shape (q, q)."""
        precision = np.eye(self.input_loadings.shape[1]) + (self.input_loadings.T / self.input_noise) @ self.input_loadings
        spread = self.target_loadings @ np.linalg.solve(precision, self.target_loadings.T)
        return spread + np.diag(self.target_noise)

    def predict(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Means and variances of the targets of rows, each of shape (n, q). Inputs that are NaN are not known."""
        known = ~np.isnan(inputs)
        if known.all():
            mean = inputs @ self.coefficients().T
            return mean, np.broadcast_to(self.covariance().diagonal(), mean.shape)
        filled = np.where(known, inputs, 0.0)
        mean, variance = (np.empty((len(inputs), len(self.target_noise))) for _ in range(2))
        for rows, patterns, places in _patterns(known, self.input_loadings.shape[1]):
            gains, variances = self._gains(patterns)
            projections = filled[rows] @ (self.input_loadings / self.input_noise[:, None])
            mean[rows] = np.einsum("nqk,nk->nq", gains[places], projections)
            variance[rows] = variances[places]
        return mean, variance

    def _gains(self, patterns: Floats) -> tuple[Floats, Floats]:
        """W_y M^-1 of shape (n, q, K) and the variances of shape (n, q), for patterns of known inputs."""
        K = self.input_loadings.shape[1]
        products = np.einsum("ij,ik->ijk", self.input_loadings, self.input_loadings / self.input_noise[:, None])
        precisions = np.eye(K) + (patterns @ products.reshape(len(products), K * K)).reshape(len(patterns), K, K)
        targets = np.broadcast_to(self.target_loadings.T, (len(patterns), *self.target_loadings.T.shape))
        gains = np.linalg.solve(precisions, targets).transpose(0, 2, 1)
        return gains, self.target_noise + np.einsum("nqk,qk->nq", gains, self.target_loadings)


def _patterns(known: Floats, n_factors: int) -> Iterator[tuple[Indices, Floats, Indices]]:
    """Rows in blocks, with the distinct patterns of known inputs in each block and the place of each row among them."""
    patterns, numbers = np.unique(known, axis=0, return_inverse=True)
    numbers = numbers.ravel()
    for block in slices(len(patterns), max(1, BLOCK_BYTES // (8 * max(n_factors, 1) ** 2))):
        rows = np.flatnonzero((numbers >= block.start) & (numbers < block.stop))
        yield rows, patterns[block].astype(np.float64), numbers[rows] - block.start
