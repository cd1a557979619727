"""Sums over rows in tiles, each with the candidates that are not too small to count there: for narrow kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._parallel import by_threads, slices
from skarce._progress import one_pass
from skarce._typing import Floats
from skarce.basis.candidates import Evaluation, KernelEvaluation
from skarce.basis.near import Tile
from skarce.moments.sums import Sums

PART_BYTES = 2**20  # of Phi, evaluated by one thread at a time
# The largest share of the weight of all rows that is in tiles near one candidate. By the inequality of Cauchy, its squares about
# the mean are then at least a hundredth of its raw squares, so their difference loses two digits at most.
MOST_REACHED = 0.99


class _RawSums(NamedTuple):
    """Sums about zero: Phi'Phi and Phi'B."""

    gram: Floats
    products: Floats

    @classmethod
    def empty(cls, n_candidates: int, n_columns: int) -> _RawSums:
        return cls(np.zeros((n_candidates, n_candidates)), np.zeros((n_candidates, n_columns)))


def tiles_for_sums(evaluation: Evaluation, weights: Floats | None) -> list[Tile] | None:
    """Return tiles if they save time, and sums in tiles are precise: no candidate is near so many rows that it hardly varies."""
    tiles = evaluation.tiles_for_sums() if isinstance(evaluation, KernelEvaluation) else None
    if tiles is None:
        return None
    counts, reached = np.ones(evaluation.n_rows) if weights is None else weights, np.zeros(evaluation.n_candidates)
    for rows, near in tiles:
        reached[near] += counts[rows].sum()
    return tiles if reached.max(initial=0.0) < MOST_REACHED * counts.sum() else None


def near_sums(evaluation: Evaluation, tiles: list[Tile], targets: Floats, weights: Floats | None, workers: int) -> Sums:
    """Return the sums of all rows, added up tile by tile."""
    assert isinstance(evaluation, KernelEvaluation)
    counts = np.ones(len(targets)) if weights is None else weights
    n = float(counts.sum())
    target_means = counts @ targets / n
    targets = targets - target_means
    right = np.ascontiguousarray(counts[:, None] * np.column_stack([np.ones(len(targets)), targets]))
    gram, products = _raw_sums(evaluation, tiles, right, None if weights is None else np.sqrt(weights), workers)
    means = products[:, 0] / n
    gram -= np.multiply.outer(products[:, 0], means)
    projections = products[:, 1:] - np.multiply.outer(means, right[:, 1:].sum(axis=0))
    return Sums(n, means, target_means, gram, projections, np.einsum("ij,ij->j", right[:, 1:], targets))


def _raw_sums(evaluation: KernelEvaluation, tiles: list[Tile], right: Floats, root: Floats | None, workers: int) -> _RawSums:
    """Return the sums over all tiles. Each thread adds up tiles of its own."""
    m = evaluation.n_candidates

    def own_sums(some: list[Tile]) -> _RawSums:
        own = _RawSums.empty(m, right.shape[1])
        for tile in some:
            part = evaluation.at(*tile)
            gram, products = _sums_of_tile(part, right.take(tile.rows, axis=0), None if root is None else root[tile.rows])
            own.gram[np.ix_(tile.candidates, tile.candidates)] += gram
            own.products[tile.candidates] += products
            progress.step(len(tile.rows))
        return own

    operations = sum(float(len(rows)) * len(near) * (len(near) + 20.0) for rows, near in tiles)
    with one_pass("adding up", len(right), "rows", operations) as progress:
        first, *others = by_threads(own_sums, tiles, workers=workers, operations=operations)
    for other in others:
        np.add(first.gram, other.gram, out=first.gram)
        np.add(first.products, other.products, out=first.products)
    return first


def _sums_of_tile(part: KernelEvaluation, right: Floats, root: Floats | None) -> _RawSums:
    """Return the sums over the rows and candidates of one tile."""
    m = part.n_candidates
    sums = _RawSums.empty(m, right.shape[1])
    step = max(64, PART_BYTES // (8 * m))
    buffer = np.empty((min(step, part.n_rows), m))
    for rows in slices(part.n_rows, step):
        phi = buffer[: rows.stop - rows.start]
        part.fill(rows, slice(0, m), phi)
        sums.products[...] += phi.T @ right[rows]
        if root is not None:
            phi *= root[rows, None]
        sums.gram[...] += phi.T @ phi
    return sums
