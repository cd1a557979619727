"""Gaussian kernels in compiled code: distance, exponential and product in one pass, on all cores."""

from __future__ import annotations

import numpy as np

from skarce._parallel import for_each, n_cores, slices
from skarce._typing import Floats
from skarce.basis import _rbf
from skarce.basis.tiles import empty_squares

MAX_TERMS = 66  # terms of a prepared row; above, the distances are best left to BLAS
MAX_COLUMNS = 96  # factors of a product; above, it is BLAS that has the better blocks
STRIP = 256  # rows of a call, at most _rbf.TILE


def suits(rows: Floats, centers: Floats) -> bool:
    """Whether these prepared rows and centers are such as the compiled code takes."""
    return bool(_rbf.TILE and rows.dtype == centers.dtype == np.float64 and rows.shape[1] <= MAX_TERMS)


def fill(rows: Floats, centers: Floats, out: Floats) -> None:
    """out[i, j] = exp(-|u_i - v_j|^2) of prepared rows and centers."""
    if out.shape[1] > 1 and out.strides[1] != out.itemsize:  # neighbours stand below each other
        rows, centers, out = _with_swapped_squares(centers), _with_swapped_squares(rows), out.T
    _rbf.fill(np.ascontiguousarray(rows), np.ascontiguousarray(centers), out)


def project(rows: Floats, centers: Floats, right: Floats, row_weights: Floats | None, *, symmetric: bool) -> tuple[Floats, Floats]:
    """Phi'B and (Phi o Phi)'w, as `tiles.project_blocks` and `tiles.project_symmetric_blocks` give them."""
    n, m, workers = len(rows), len(centers), n_cores()
    factors = np.ascontiguousarray(right.T)
    weights = np.empty((0, n)) if row_weights is None else np.ascontiguousarray(row_weights.reshape(n, -1).T, dtype=np.float64)
    products, squares = np.zeros((workers, len(factors), m)), np.zeros((workers, len(weights), m))
    strips = slices(n, STRIP)

    def work(worker: int) -> None:
        # There and back, as the strips of a symmetric Phi grow shorter: every worker has as much to do.
        for strip in strips[worker :: 2 * workers] + strips[2 * workers - 1 - worker :: 2 * workers]:
            _rbf.project(rows, centers, factors, weights, products[worker], squares[worker], strip.start, strip.stop, symmetric)

    for_each(work, range(workers), operations=20.0 * n * m)
    total = empty_squares(m, row_weights)
    if row_weights is not None:
        total += squares.sum(axis=0).T.reshape(total.shape)
    return products.sum(axis=0).T, total


def _with_swapped_squares(prepared: Floats) -> Floats:
    """A center prepared as a row, or a row as a center: the last two terms change places."""
    return prepared[:, [*range(prepared.shape[1] - 2), -1, -2]]
