"""The directions in which candidates vary: eigenvectors of Phi'Phi without those that are rounding."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import lapack

from skarce._typing import Floats, Indices
from skarce.moments.gram import Gram


@dataclass(frozen=True)
class Directions:
    r"""The eigenvectors of Phi'Phi that are not rounding, found in a space of as many dimensions as there are.

    A pivoted Cholesky factorisation :math:`\Phi^T\Phi = R^TR` stops at the numerical rank r, which is at most the number of rows
    and of candidates. The small matrix :math:`RR^T = U\,\mathrm{diag}(e)\,U^T` has the same eigenvalues, and the eigenvectors of
    Phi'Phi are :math:`R^TUe^{-1/2}`.
    """

    eigenvalues: Floats
    root: Floats  # R with its columns in the order of the candidates, (r, n_candidates)
    vectors: Floats  # U
    pivots: Indices  # the r candidates that span the others, in the order in which they were chosen
    heights: Floats  # what was left of each when it was chosen: its squared distance from the span of those before

    @classmethod
    def of(cls, matrix: Floats) -> Directions:
        factor, pivots, rank, _ = lapack.dpstrf(matrix)
        pivots = pivots - 1
        rank = int(rank) if matrix.size and matrix.diagonal().max() > 0.0 else 0
        root = np.empty((rank, len(matrix)))
        root[:, pivots] = np.triu(factor[:rank])
        eigenvalues, vectors = np.linalg.eigh(root @ root.T)
        kept = eigenvalues > rank * np.finfo(float).eps * eigenvalues[-1:]  # below, z^2/e would be rounding over rounding
        heights = factor.diagonal()[:rank] ** 2
        return cls(eigenvalues[kept], root, vectors[:, kept], pivots[:rank].astype(np.intp), heights)

    def project(self, projections: Floats) -> Floats:
        """z = V'b for b = Phi't."""
        return self.vectors.T @ (self.root @ projections) / np.sqrt(self.eigenvalues)

    def weights(self, projected: Floats, ridge: float) -> Floats:
        """w = (Phi'Phi + rho I)^-1 b, nothing of it where rounding alone would be divided by a small ridge."""
        return self.root.T @ (self.vectors @ (projected / (np.sqrt(self.eigenvalues) * (self.eigenvalues + ridge))))


_KEPT: WeakKeyDictionary[Gram, Directions] = WeakKeyDictionary()


def directions_of(gram: Gram, candidates: Indices) -> Directions:
    """The directions of these candidates (all that are usable), decomposed once for all outputs on one Gram."""
    if gram not in _KEPT:
        _KEPT[gram] = Directions.of(gram.block(candidates, candidates))
    return _KEPT[gram]
