"""K, the matrix of the quadratic penalty."""

from __future__ import annotations

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower
from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis

JITTER = 1e-10  # relative, on the diagonal of K


class Penalty:
    """K of some functions: kernels at their centers, or variances.

    Parameters
    ----------
    kernels : KernelBasis or None
        The candidates, if they are kernels.
    variances : array of shape (n_candidates,)
        The variances of the candidates over the rows.
    """

    def __init__(self, kernels: KernelBasis | None, variances: Floats) -> None:
        is_known = kernels is not None and kernels.kernel_ != "precomputed"
        self._kernels, self._variances = kernels if is_known else None, variances

    def rows(self, candidates: Indices, members: Indices) -> Floats:
        """Return K between candidates and members, shape (n_candidates, n_members)."""
        if self._kernels is None:
            return np.where(candidates[:, None] == members, self._variances[members], 0.0)
        chosen = self._kernels.select(members)  # so that the other centers cost nothing
        return chosen.on(self._kernels.centers_[candidates]).columns(np.arange(len(members)))

    def diagonal(self, candidates: Indices) -> Floats:
        """Return K of each candidate with itself."""
        return (1.0 + JITTER) * self.rows(candidates, candidates).diagonal()

    def matrix(self, members: Indices, n_fixed: int) -> Floats:
        """Return K of the members, after as many zeros as there are constants."""
        K = np.zeros((n_fixed + len(members),) * 2)
        K[n_fixed:, n_fixed:] = self.rows(members, members)
        K.flat[:: len(K) + 1] *= 1.0 + JITTER
        return K


def own_precisions(penalty: Floats, n_fixed: int, jitter: float) -> Floats:
    """Return how well the penalty alone determines each weight, if the others may be anything: 1 / (K^-1)_ii.

    The diagonal of K would be the precision for given other weights. Kernels overlap, so no variance compares with that.
    """
    K = penalty[n_fixed:, n_fixed:].copy()
    K.flat[:: len(K) + 1] += jitter
    root = inverse_of_lower(cholesky_of_nearly_singular(K))
    return np.concatenate([np.zeros(n_fixed), 1.0 / np.einsum("ij,ij->j", root, root)])
