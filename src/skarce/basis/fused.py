"""Gaussian kernels in compiled code: distance, exponential and product in one pass, on all cores."""

from __future__ import annotations

import numpy as np

from skarce._parallel import for_each, free_threads, slices
from skarce._progress import one_pass
from skarce._typing import Floats
from skarce.basis import _rbf
from skarce.basis.tiles import EVALUATING, empty_squares

MAX_TERMS = 66  # terms of a prepared row; with more terms, BLAS computes the distances faster
MAX_COLUMNS = 96  # columns of the right factor; with more columns, BLAS computes the product faster
STRIP = 256  # rows of one call, at most _rbf.TILE


def suits(rows: Floats, centers: Floats) -> bool:
    """Tell whether the compiled code takes these prepared rows and centers."""
    return bool(_rbf.TILE and rows.dtype == centers.dtype == np.float64 and rows.shape[1] <= MAX_TERMS)


def fill(rows: Floats, centers: Floats, out: Floats) -> None:
    """Write exp(-|u_i - v_j|^2) into out[i, j], for prepared rows and centers."""
    if out.shape[1] > 1 and out.strides[1] != out.itemsize:  # out is in column order: fill its transpose
        rows, centers, out = _with_swapped_squares(centers), _with_swapped_squares(rows), out.T
    _rbf.fill(np.ascontiguousarray(rows), np.ascontiguousarray(centers), out)


def project(rows: Floats, centers: Floats, right: Floats, row_weights: Floats | None, *, symmetric: bool) -> tuple[Floats, Floats]:
    """Return Phi'B and (Phi o Phi)'w, like `tiles.project_blocks` and `tiles.project_symmetric_blocks`."""
    n, m, workers = len(rows), len(centers), free_threads()
    factors = np.ascontiguousarray(right.T)
    weights = np.empty((0, n)) if row_weights is None else np.ascontiguousarray(row_weights.reshape(n, -1).T, dtype=np.float64)
    products, squares = np.zeros((workers, len(factors), m)), np.zeros((workers, len(weights), m))
    strips = slices(n, STRIP)

    def work(worker: int) -> None:
        # The strips of a symmetric Phi grow shorter. One ascending and one descending series give all workers the same work.
        for strip in strips[worker :: 2 * workers] + strips[2 * workers - 1 - worker :: 2 * workers]:
            _rbf.project(rows, centers, factors, weights, products[worker], squares[worker], strip.start, strip.stop, symmetric)
            progress.step()

    operations = 20.0 * n * m
    with one_pass(EVALUATING, len(strips), "blocks", operations) as progress:
        for_each(work, range(workers), operations=operations)
    total = empty_squares(m, row_weights)
    if row_weights is not None:
        total += squares.sum(axis=0).T.reshape(total.shape)
    return products.sum(axis=0).T, total


def _with_swapped_squares(prepared: Floats) -> Floats:
    """Turn a prepared center into a prepared row, or a row into a center: the last two terms change places."""
    return prepared[:, [*range(prepared.shape[1] - 2), -1, -2]]
