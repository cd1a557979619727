"""The directions in which candidates vary: the eigenvectors of Phi'Phi that are not rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import lapack

from skarce._device import is_on_device, namespace, to_host
from skarce._typing import Floats, Indices
from skarce.moments.gram import Gram, block_there

WORTH_DEVICE = 1000  # candidates; the matrix of fewer is decomposed on the host before it would be on a device


@dataclass(frozen=True)
class Directions:
    r"""The eigenvectors of Phi'Phi that are not rounding, computed from a matrix as small as its rank.

    A Cholesky factorization with pivoting, :math:`\Phi^T\Phi = R^TR`, stops at the numerical rank r. This rank is at most the
    number of rows and the number of candidates. The small matrix :math:`RR^T = U\,\mathrm{diag}(e)\,U^T` has the same eigenvalues,
    and the eigenvectors of Phi'Phi are :math:`R^TUe^{-1/2}`.

    Attributes
    ----------
    eigenvalues : e, those that are not rounding
    root : R with its columns in the order of the candidates, shape (r, n_candidates)
    vectors : U, one column for each eigenvalue
    pivots : the r candidates that span the others, in the order in which they were chosen
    heights : the squared distance of each pivot from the span of the pivots before it
    """

    eigenvalues: Floats
    root: Floats
    vectors: Floats
    pivots: Indices
    heights: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Directions:
        """Decompose Phi'Phi. On a device, that is one decomposition of the whole matrix, and the result is moved to the host."""
        if is_on_device(matrix):
            return cls._of_device(matrix)
        factor, pivots, rank, _ = lapack.dpstrf(matrix)
        pivots = pivots - 1
        rank = int(rank) if matrix.size and matrix.diagonal().max() > 0.0 else 0
        root = np.empty((rank, len(matrix)))
        root[:, pivots] = np.triu(factor[:rank])
        eigenvalues, vectors = np.linalg.eigh(root @ root.T)
        kept = eigenvalues > rank * np.finfo(float).eps * eigenvalues[-1:]  # below, z^2/e would be rounding divided by rounding
        heights = factor.diagonal()[:rank] ** 2
        return cls(eigenvalues[kept], root, vectors[:, kept], pivots[:rank].astype(np.intp), heights)

    @classmethod
    def _of_device(cls, matrix: Any) -> Directions:
        """Return the same: with Phi'Phi = V diag(e) V', the root is e^(1/2) V', and its own eigenvectors are unit vectors.

        The candidates that span the others are not known, because no package has a factorization with pivots.
        """
        values, vectors = (to_host(part) for part in namespace(matrix).linalg.eigh(matrix))
        kept = values > len(values) * np.finfo(float).eps * max(values[-1:].max(initial=0.0), 0.0)
        root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        return cls(values[kept], root, np.eye(len(root)), np.empty(0, dtype=np.intp), np.empty(0))

    def project(self, projections: Floats) -> Floats:
        """Return z = V'b for b = Phi't."""
        return self.vectors.T @ (self.root @ projections) / np.sqrt(self.eigenvalues)

    def weights(self, projected: Floats, ridge: float) -> Floats:
        """Return w = (Phi'Phi + rho I)^-1 b. Directions that are rounding are left out, so that no small ridge magnifies them."""
        return self.root.T @ (self.vectors @ (projected / (np.sqrt(self.eigenvalues) * (self.eigenvalues + ridge))))


_KEPT: WeakKeyDictionary[Gram, Directions] = WeakKeyDictionary()


def directions_of(gram: Gram, candidates: Indices) -> Directions:
    """Return the directions of these candidates (all that are usable). One Gram matrix is decomposed once for all outputs."""
    if gram not in _KEPT:
        is_there = gram.there is not None and len(candidates) >= WORTH_DEVICE
        _KEPT[gram] = Directions.of(block_there(gram.there, candidates) if is_there else gram.block(candidates, candidates))
    return _KEPT[gram]
