"""Passes over Phi in cache-sized blocks on all cores, without ever holding Phi."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skarce._parallel import for_each
from skarce._typing import Floats

TILE = 384  # 384 x 384 doubles: with the product's operands about the second-level cache of one core


def slices(n: int, step: int) -> list[slice]:
    """Consecutive slices of at most `step` that cover range(n)."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def fill_blocks(fill: Callable[[slice, slice, Floats], None], out: Floats) -> None:
    """Fill `out` block by block on all cores: fill(rows, columns, out[rows, columns])."""
    blocks = [(rows, columns) for rows in slices(out.shape[0], TILE) for columns in slices(out.shape[1], TILE)]
    for_each(lambda block: fill(*block, out[block]), blocks, elements=out.size)


def project_blocks(
    fill: Callable[[slice, slice, Floats], None], n_columns: int, right: Floats, dtype: np.dtype
) -> Floats:
    """Phi'B for B = `right` (n_rows, k), block by block on all cores; each core owns some columns of Phi."""
    n_rows, k = right.shape
    product = np.zeros((n_columns, k))

    def work(columns: slice) -> None:
        buffer = np.empty((TILE, columns.stop - columns.start), dtype=dtype)
        for rows in slices(n_rows, TILE):
            block = buffer[: rows.stop - rows.start]
            fill(rows, columns, block)
            product[columns] += block.astype(np.float64, copy=False).T @ right[rows]

    for_each(work, slices(n_columns, TILE), elements=float(n_rows) * n_columns)
    return product
