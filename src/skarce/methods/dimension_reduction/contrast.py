r"""How much of the target a projection of the inputs leaves unexplained, and its gradient.

Notation: X has n rows of d inputs, B has d rows and K orthonormal columns, Z = XB. Y are centered features of the target, so that
YY' is its centered kernel. K is the Gaussian kernel of Z, :math:`\exp(-|z - z'|^2/(2\ell^2))`, and H centers columns. The contrast
of Fukumizu, Bach and Jordan (2009) is the trace of :math:`Y^T(HKH + n\epsilon I)^{-1}Y`. Divided by its value for K = 0 it is

.. math:: \min_A\ \frac{|Y - HK_{nm}A|^2 + n\epsilon\,\mathrm{tr}(A^TK_{mm}A)}{|Y|^2},

a penalized regression on the kernels at m landmarks. If all rows are landmarks, the two are the same; with fewer, the kernel is
Nystroem's. A is at its minimum, so only the kernels have a part in the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from skarce._linalg import cholesky, solve_lower
from skarce._typing import Floats, Indices

JITTER = 1e-8  # added to the diagonal of the kernel between landmarks, which is 1


@dataclass(frozen=True)
class Contrast:
    """The unexplained share of the target, for rows `inputs`, centered features `targets`, and the places of landmarks."""

    inputs: Floats
    targets: Floats
    landmarks: Indices
    ridge: float

    def __call__(self, directions: Floats, width: float) -> tuple[float, Floats]:
        """The share and its gradient by the directions, of shape (d, K)."""
        Z = self.inputs @ directions
        kernel, weights, rest, penalty = self._regression(Z, width)
        energy = np.sum(self.targets**2)
        among = kernel[self.landmarks]
        by_rows = -2.0 * (rest @ weights.T) * kernel
        by_landmarks = self._total_ridge * (weights @ weights.T) * among
        slope = self._pull(Z, by_rows, by_landmarks) / (energy * width**2)
        return float((np.sum(rest**2) + penalty) / energy), slope

    def left_out_share(self, directions: Floats, width: float, new_inputs: Floats, new_targets: Floats) -> float:
        """The squared error of the regression at new rows, divided by their number."""
        Z = self.inputs @ directions
        kernel, weights, _, _ = self._regression(Z, width)
        new = gaussian(new_inputs @ directions, Z[self.landmarks], width) - kernel.mean(axis=0)
        return float(np.mean(np.sum((new_targets - new @ weights) ** 2, axis=1)))

    @property
    def _total_ridge(self) -> float:
        return self.ridge * len(self.inputs)

    def _regression(self, Z: Floats, width: float) -> tuple[Floats, Floats, Floats, float]:
        """The kernel at the landmarks, the weights A, the residual, and the penalty of the weights."""
        kernel = gaussian(Z, Z[self.landmarks], width)
        features, root = features_of(kernel, self.landmarks)
        gram = features.T @ features
        gram.flat[:: len(gram) + 1] += self._total_ridge
        lower = cholesky(gram)
        scaled = solve_lower(lower, solve_lower(lower, features.T @ self.targets), transposed=True)
        weights = solve_lower(root, scaled, transposed=True)
        return kernel, weights, self.targets - features @ scaled, self._total_ridge * float(np.sum(scaled**2))

    def _pull(self, Z: Floats, by_rows: Floats, by_landmarks: Floats) -> Floats:
        """X' times the slope by Z, times the squared width, given the products of slopes by kernels and kernels.

        A kernel falls with half of the squared distance z - c, so its slope by z is -(z - c), and by c it is z - c.
        """
        C = Z[self.landmarks]
        slope = by_rows @ C - by_rows.sum(axis=1)[:, None] * Z
        total = by_landmarks.sum(axis=1)[:, None]  # symmetric: both of its ends are landmarks
        slope[self.landmarks] += by_rows.T @ Z - by_rows.sum(axis=0)[:, None] * C + 2.0 * (by_landmarks @ C - total * C)
        return self.inputs.T @ slope


def features_of(kernel: Floats, landmarks: Indices) -> tuple[Floats, Floats]:
    """Centered features of rows that Nystroem's kernel is the product of, and the Cholesky factor of the kernel of landmarks."""
    among = kernel[landmarks].copy()
    among.flat[:: len(among) + 1] += JITTER
    root = cholesky(among)
    return solve_lower(root, (kernel - kernel.mean(axis=0)).T).T, root


def gaussian(rows: Floats, centers: Floats, width: float) -> Floats:
    """The Gaussian kernel between rows and centers."""
    return np.exp(cdist(rows, centers, "sqeuclidean") / (-2.0 * width**2))
