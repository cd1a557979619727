"""Passes over Phi on all cores, in blocks that fit into the cache. All of Phi is never in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skarce._parallel import for_each, n_cores, slices
from skarce._progress import one_pass
from skarce._typing import Floats
from skarce.basis import _columns

TILE = 384  # 384 x 384 doubles and the operands of a product fill about the second-level cache of one core
EVALUATING = "evaluating functions"  # what a pass over Phi does
ROWS_AT_ONCE = 2**14  # of columns in memory; if they have more rows, their parts are not contiguous


def fill_blocks(fill: Callable[[slice, slice, Floats], None], out: Floats) -> None:
    """Fill `out` on all cores by calls of fill(rows, columns, out[rows, columns])."""
    blocks = [(rows, columns) for rows in slices(out.shape[0], TILE) for columns in slices(out.shape[1], TILE)]
    for_each(lambda block: fill(*block, out[block]), blocks, operations=20.0 * out.size)


def fill_symmetric_blocks(fill: Callable[[slice, slice, Floats], None], out: Floats) -> None:
    """Fill a symmetric matrix on all cores. Each block is evaluated once and copied to the other side."""
    blocks = slices(len(out), TILE)
    pairs = [(rows, columns) for i, rows in enumerate(blocks) for columns in blocks[i:]]

    def work(pair: tuple[slice, slice]) -> None:
        rows, columns = pair
        block = out[rows, columns]
        fill(rows, columns, block)
        if rows is not columns:
            out[columns, rows] = block.T
        else:  # both halves of this block were evaluated, and they are equal only up to rounding
            lower = np.tril(block)
            np.add(lower, np.tril(block, -1).T, out=block)

    for_each(work, pairs, operations=20.0 * out.size)


def project_blocks(
    fill: Callable[[slice, slice, Floats], None], n_columns: int, right: Floats, row_weights: Floats | None, dtype: np.dtype[Any]
) -> tuple[Floats, Floats]:
    """Return Phi'B for B = `right` of shape (n_rows, k), and (Phi o Phi)'w if `row_weights` w are given.

    Each core works on its own columns of Phi. Row weights of shape (n_rows,) give squares of shape (n_columns,), and row weights of
    shape (n_rows, s) give squares of shape (n_columns, s).
    """
    n_rows, k = right.shape
    product, squares = np.zeros((n_columns, k)), empty_squares(n_columns, row_weights)

    def work(columns: slice) -> None:
        buffer = np.empty((TILE, columns.stop - columns.start), dtype=dtype)
        for rows in slices(n_rows, TILE):
            block = buffer[: rows.stop - rows.start]
            fill(rows, columns, block)
            wide = block.astype(np.float64, copy=False)
            product[columns] += wide.T @ right[rows]
            if row_weights is not None:
                squares[columns] += np.square(wide, out=wide).T @ row_weights[rows]
            progress.step()

    parts, operations = slices(n_columns, TILE), 20.0 * n_rows * n_columns
    with one_pass(EVALUATING, len(parts) * len(slices(n_rows, TILE)), "blocks", operations) as progress:
        for_each(work, parts, operations=operations)
    return product, squares


def project_columns(values: Floats, right: Floats, row_weights: Floats | None) -> tuple[Floats, Floats]:
    """Do the same for a Phi that is in memory. Its blocks are not copied."""
    n_rows, n_columns = values.shape
    product, squares = np.zeros((n_columns, right.shape[1])), empty_squares(n_columns, row_weights)

    def work(columns: slice) -> None:
        for rows in slices(n_rows, ROWS_AT_ONCE):
            block = values[rows, columns].astype(np.float64, copy=False)
            product[columns] += block.T @ right[rows]
            if row_weights is not None:
                squares[columns] += weighted_squares(block, row_weights[rows])
            progress.step()

    parts, operations = slices(n_columns, TILE), 20.0 * values.size
    with one_pass(EVALUATING, len(parts) * len(slices(n_rows, ROWS_AT_ONCE)), "blocks", operations) as progress:
        for_each(work, parts, operations=operations)
    return product, squares


def weighted_squares(block: Floats, row_weights: Floats) -> Floats:
    """Return (Phi o Phi)'w for a block of Phi, by compiled code if its columns are contiguous."""
    if not block.flags.f_contiguous:
        return np.square(block).T @ row_weights
    weights = np.ascontiguousarray(row_weights.reshape(len(block), -1).T, dtype=np.float64)
    squares = np.empty((block.shape[1], len(weights)))
    _columns.weighted_squares(block.T, weights, squares)
    return squares.reshape(block.shape[1], *row_weights.shape[1:])


def project_symmetric_blocks(
    fill: Callable[[slice, slice, Floats], None], n: int, right: Floats, row_weights: Floats | None, dtype: np.dtype[Any]
) -> tuple[Floats, Floats]:
    """Do the same for a symmetric Phi: block (i, j) serves columns j as it is, and columns i transposed."""
    blocks = slices(n, TILE)
    pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
    workers = n_cores()
    products = [np.zeros(right.shape) for _ in range(workers)]
    squares = [empty_squares(n, row_weights) for _ in range(workers)]

    def work(worker: int) -> None:
        buffer, product, square = np.empty(TILE * TILE, dtype=dtype), products[worker], squares[worker]
        for i, j in pairs[worker::workers]:
            rows, columns = blocks[i], blocks[j]
            shape = rows.stop - rows.start, columns.stop - columns.start
            block = buffer[: shape[0] * shape[1]].reshape(shape)
            fill(rows, columns, block)
            wide = block.astype(np.float64, copy=False)
            product[columns] += wide.T @ right[rows]
            if i != j:
                product[rows] += wide @ right[columns]
            if row_weights is not None:
                np.square(wide, out=wide)
                square[columns] += wide.T @ row_weights[rows]
                if i != j:
                    square[rows] += wide @ row_weights[columns]
            progress.step()

    operations = 20.0 * n * n
    with one_pass(EVALUATING, len(pairs), "blocks", operations) as progress:
        for_each(work, range(workers), operations=operations)
    return sum(products[1:], start=products[0]), sum(squares[1:], start=squares[0])


def empty_squares(n_columns: int, row_weights: Floats | None) -> Floats:
    """Return zeros for (Phi o Phi)'w: one number per column, or one row per column if there are several sets of weights."""
    return np.zeros((n_columns, *(() if row_weights is None else row_weights.shape[1:])))
