"""Moments from passes over blocks of rows, of which one at a time is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from skarce._parallel import blas_threads, for_each, n_cores
from skarce._typing import Floats, Indices
from skarce.basis.candidates import Evaluation
from skarce.basis.tiles import TILE, slices
from skarce.moments import CONSTANT, ColumnGram, Moments, Sums

BLOCK_BYTES = 2**23  # rows are added to whole moments in blocks of about this size


class Block(NamedTuple):
    """Some rows: the candidates there, the targets (n_rows, n_outputs) and the sample weights (n_rows,) or None."""

    evaluation: Evaluation
    targets: Floats
    weights: Floats | None

    @property
    def row_weights(self) -> Floats:
        return np.ones(self.evaluation.n_rows) if self.weights is None else self.weights


ReadBlocks = Callable[[], Iterable[Block]]


class Centre(NamedTuple):
    """What is subtracted from candidates and targets: their weighted means, or zero without an intercept."""

    candidates: Floats
    targets: Floats


def whole_sums(read: ReadBlocks) -> Sums:
    """Whole moments in one pass."""
    sums: Sums | None = None
    for block in read():
        n_candidates = block.evaluation.n_candidates
        if sums is None:
            sums = Sums.empty(n_candidates, block.targets.shape[1])
        for rows in slices(block.evaluation.n_rows, max(64, BLOCK_BYTES // (8 * n_candidates))):
            phi = filled(block.evaluation, rows)
            with blas_threads(n_cores()):
                sums.absorb(phi, block.targets[rows], None if block.weights is None else block.weights[rows])
    if sums is None:
        raise ValueError("there are no rows: the factory of row blocks yielded nothing.")
    return sums


def streamed_moments(read: ReadBlocks, *, fit_intercept: bool) -> tuple[list[Moments], Centre]:
    """Moments by column: one pass now, and one for every batch of columns that is asked for later."""
    first = _first_pass(read, fit_intercept)
    usable = first.squares > 0.0
    centre = first.centre

    def weighted(block: Block, indices: Indices) -> Floats:
        values = block.evaluation.columns(indices) - centre.candidates[indices]
        return values if block.weights is None else values * block.weights[:, None]

    def compute_columns(indices: Indices) -> Floats:
        total = sum(block.evaluation.project(weighted(block, indices)) for block in read())
        return np.where(usable, np.asarray(total).T, 0.0)

    def compute_block(rows: Indices, columns: Indices) -> Floats:
        total = np.zeros((len(rows), len(columns)))
        for block in read():
            right = weighted(block, columns)
            plain = right if rows is columns and block.weights is None else block.evaluation.columns(rows)
            with blas_threads(n_cores()):
                total += plain.T @ right
        return total

    gram = ColumnGram(first.squares, compute_columns, compute_block)
    n = first.n_samples - 1.0 if fit_intercept else first.n_samples
    moments = [
        Moments(gram, np.ascontiguousarray(b), float(tt), n, RowsOfBlocks(read, centre, output))
        for output, (b, tt) in enumerate(zip(first.projections.T, first.energies, strict=True))
    ]
    return moments, centre


class RowsOfBlocks:
    """Residual questions of one output, answered by a pass over the rows."""

    def __init__(self, read: ReadBlocks, centre: Centre, output: int) -> None:
        self._read, self._centre, self._output = read, centre, output

    def residual_energy(self, indices: Indices, weights: Floats) -> float:
        return float(sum((b.row_weights * r) @ r for b, r in self._residuals(indices, weights)))

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        parts = (b.evaluation.project((b.row_weights * r)[:, None])[:, 0] for b, r in self._residuals(indices, weights))
        return np.asarray(sum(parts))

    def _residuals(self, indices: Indices, weights: Floats) -> Iterable[tuple[Block, Floats]]:
        for block in self._read():
            residual = block.targets[:, self._output] - self._centre.targets[self._output]
            for part in slices(len(indices), 64):
                values = block.evaluation.columns(indices[part]) - self._centre.candidates[indices[part]]
                residual -= values @ weights[part]
            yield block, residual


class _FirstPass(NamedTuple):
    n_samples: float
    centre: Centre
    squares: Floats  # diag(Phi'W Phi) about the centre
    projections: Floats  # Phi'W T about the centre
    energies: Floats  # diag(T'W T) about the centre


def _first_pass(read: ReadBlocks, fit_intercept: bool) -> _FirstPass:
    """Squares and products about rough means of the first rows, then moved to the exact ones: no digits are lost."""
    n = 0.0
    shift: Centre | None = None
    for block in read():
        if shift is None:
            m, n_outputs = block.evaluation.n_candidates, block.targets.shape[1]
            shift = _rough_means(block) if fit_intercept else Centre(np.zeros(m), np.zeros(n_outputs))
            raw, squares, products = np.zeros(m), np.zeros(m), np.zeros((m, 1 + n_outputs))
            target_sums, energies = np.zeros(n_outputs), np.zeros(n_outputs)
        targets, weights = block.targets - shift.targets, block.row_weights
        _add_block(block, shift, targets, raw, squares, products)
        n += float(weights.sum())
        target_sums += weights @ targets
        energies += np.einsum("ij,ij,i->j", targets, targets, weights)
    if shift is None:
        raise ValueError("there are no rows: the factory of row blocks yielded nothing.")
    projections = products[:, 1:]
    centre = shift
    if fit_intercept:
        moved, moved_targets = products[:, 0] / n, target_sums / n
        squares -= n * moved**2
        projections = projections - np.multiply.outer(n * moved, moved_targets)
        energies -= n * moved_targets**2
        centre = Centre(shift.candidates + moved, shift.targets + moved_targets)
    constant = squares <= CONSTANT * raw
    squares[constant] = 0.0
    return _FirstPass(n, centre, squares, np.where(constant[:, None], 0.0, projections), energies)


def _add_block(block: Block, shift: Centre, targets: Floats, raw: Floats, squares: Floats, products: Floats) -> None:
    evaluation, weights = block.evaluation, block.row_weights
    right = np.column_stack([np.ones(len(targets)), targets]) * weights[:, None]

    def work(columns: slice) -> None:
        buffer = np.empty((TILE, columns.stop - columns.start))
        for rows in slices(evaluation.n_rows, TILE):
            values = buffer[: rows.stop - rows.start]
            evaluation.fill(rows, columns, values)
            raw[columns] += np.einsum("ij,ij,i->j", values, values, weights[rows])
            values -= shift.candidates[columns]
            squares[columns] += np.einsum("ij,ij,i->j", values, values, weights[rows])
            products[columns] += values.T @ right[rows]

    for_each(work, slices(evaluation.n_candidates, TILE), elements=float(evaluation.n_rows) * evaluation.n_candidates)


def _rough_means(block: Block) -> Centre:
    rows = slice(0, min(64, block.evaluation.n_rows))
    return Centre(filled(block.evaluation, rows).mean(axis=0), block.targets[rows].mean(axis=0))


def filled(evaluation: Evaluation, rows: slice) -> Floats:
    """Phi[rows] in double precision, on all cores."""
    out = np.empty((rows.stop - rows.start, evaluation.n_candidates))

    def work(part: slice) -> None:
        shifted = slice(rows.start + part.start, rows.start + part.stop)
        evaluation.fill(shifted, slice(0, evaluation.n_candidates), out[part])

    for_each(work, slices(len(out), max(32, -(-len(out) // (2 * n_cores())))), elements=out.size)
    return out
