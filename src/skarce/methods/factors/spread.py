"""Columns of inputs and targets in units of their standard deviations, and a root of their covariance.

Notation: z has p columns, inputs and targets. S is the covariance of its n rows, and R with S = R'R is a root of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr

from skarce._scales import CONSTANT, center_and_spread
from skarce._typing import Floats
from skarce.moments import Sums

DEPENDENT = 1e-10  # share of the largest eigenvalue: directions with less variance do not count


@dataclass(frozen=True)
class Spread:
    """What rows of standardized columns say about a Gaussian distribution: their number, and a root of their covariance.

    Attributes
    ----------
    root : array of shape (r, p)
        R, with at most p rows.
    center : array of shape (p,)
        The means of the standardized columns.
    n_samples : float
        The sum of the weights.
    """

    root: Floats
    center: Floats
    n_samples: float

    @classmethod
    def of(cls, rows: Floats, weights: Floats) -> Spread:
        """The spread of standardized rows with weights, of which at least one is positive."""
        counted = weights > 0.0
        rows, weights = rows[counted], weights[counted]
        total = float(weights.sum())
        center = (weights / total) @ rows
        root = np.sqrt(weights / total)[:, None] * (rows - center)
        if len(root) > root.shape[1]:
            root = qr(root, mode="r", overwrite_a=True, check_finite=False)[0][: root.shape[1]]
        return cls(root, center, total)

    @classmethod
    def of_covariance(cls, covariance: Floats, n_samples: float) -> Spread:
        """The spread of so many standardized rows with this covariance. Their means are zero."""
        values, vectors = eigh(covariance, check_finite=False)
        return cls(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T, np.zeros(len(covariance)), n_samples)

    @property
    def n_columns(self) -> int:
        """The number of columns, p."""
        return self.root.shape[1]

    @property
    def variances(self) -> Floats:
        """The diagonal of S."""
        return np.einsum("ij,ij->j", self.root, self.root)

    def covariance(self) -> Floats:
        """S itself."""
        return self.root.T @ self.root

    def leading(self, noise: Floats, n_leading: int) -> tuple[Floats, Floats]:
        """The largest eigenvalues of Psi^-1/2 S Psi^-1/2, in descending order, and their eigenvectors in columns."""
        scaled = self.root / np.sqrt(noise)
        r, p = scaled.shape
        n_leading = min(n_leading, r, p)
        if r < p:
            values, left = _largest(scaled @ scaled.T, n_leading)
            return values, scaled.T @ (left / np.sqrt(np.maximum(values, np.finfo(float).tiny)))
        return _largest(scaled.T @ scaled, n_leading)

    def rank(self) -> int:
        """The number of directions in which rows vary."""
        values = np.linalg.svd(self.root, compute_uv=False) ** 2
        return int(np.count_nonzero(values > DEPENDENT * values.max(initial=0.0)))


def standardized(rows: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows in units of the standard deviation around the mean, with these means and units. Constant columns become zero."""
    center, scale = center_and_spread(rows, weights)
    return (rows - center) / scale, center, scale


def standardized_sums(sums: Sums) -> tuple[Spread, Floats, Floats, NDArray[np.bool_]]:
    """The spread of the columns of sums in their standard deviations, with means and units, and which columns vary at all.

    Constant columns become zero, as in `standardized`.
    """
    n, center = sums.n_samples, sums.candidate_means
    spread = np.sqrt(sums.gram.diagonal() / n)
    varies = spread > CONSTANT * np.sqrt(sums.raw_squares / n)
    scale = np.where(varies, spread, np.where(center == 0.0, 1.0, np.abs(center)))
    covariance = sums.gram / n / scale / scale[:, None] * varies * varies[:, None]
    return Spread.of_covariance(covariance, n), center, scale, varies


def _largest(matrix: Floats, n_largest: int) -> tuple[Any, Any]:
    n = len(matrix)
    if n_largest == 0:
        return np.empty(0), np.empty((n, 0))
    values, vectors = eigh(matrix, subset_by_index=(n - n_largest, n - 1), check_finite=False)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]
