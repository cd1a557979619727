"""Moments from passes over blocks of rows. Only one block at a time is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from skarce._memory import fits
from skarce._parallel import by_threads, for_each, free_threads, n_cores, shares, slices
from skarce._progress import QUIET, Quiet, one_pass
from skarce._scales import check_squares, largest_of, negligible
from skarce._typing import Floats, Indices
from skarce.basis.candidates import Evaluation, KernelEvaluation
from skarce.basis.sparse_columns import SparseEvaluation
from skarce.moments.gram import ColumnGram
from skarce.moments.moments import Moments, Remainders
from skarce.moments.near_sums import near_sums, tiles_for_sums
from skarce.moments.sparse import SparseProducts, sparse_sums
from skarce.moments.sums import CONSTANT, Sums

BLOCK_BYTES = 2**23  # Phi is evaluated in parts of about this size
PARTS_OF_A_WORKER = 4  # at least, of a block that threads share
LEAST_ROWS_OF_A_WORKER = 1024  # fewer rows do not pay for sums of their own


class Block(NamedTuple):
    """Some rows, at least one: what a pass over the data reads at a time.

    With the inputs X of these rows, shape (n_rows, n_features), a block is ``Block(candidates.on(X), targets, weights)``.

    Attributes
    ----------
    evaluation : Evaluation
        The candidates at these rows: `candidates.on(X)` of a fitted basis. Nothing is computed until a pass asks for it.
    targets : array of shape (n_rows, n_outputs)
        Targets as numbers. One target is one column.
    weights : array of shape (n_rows,) or None, default=None
        Sample weights. None gives all rows weight 1.
    """

    evaluation: Evaluation
    targets: Floats
    weights: Floats | None = None

    @property
    def row_weights(self) -> Floats:
        """The sample weights as an array."""
        return np.ones(self.evaluation.n_rows) if self.weights is None else self.weights


ReadBlocks = Callable[[], Iterable[Block]]  # called at the start of every pass; each call gives the same rows in the same order


class Center(NamedTuple):
    """What is subtracted from candidates and targets: their weighted means, or zero if there is no intercept.

    Attributes
    ----------
    candidates : array of shape (n_candidates,)
        Means of the candidates.
    targets : array of shape (n_outputs,)
        Means of the targets.
    """

    candidates: Floats
    targets: Floats


def whole_sums(read: ReadBlocks) -> Sums:
    """Return whole moments from one pass over the blocks, after a check of the range of the candidates."""
    sums = sums_over(read)
    check_candidates(sums.raw_squares, sums.n_samples, lambda: (block.evaluation for block in read()))
    return sums


def sums_over(read: ReadBlocks) -> Sums:
    """Return whole moments from one pass over the blocks."""
    sums: Sums | None = None
    for block in read():
        n_candidates = block.evaluation.n_candidates
        if sums is None:
            sums = Sums.empty(n_candidates, block.targets.shape[1])
        sums = absorbed(sums, block)
    if sums is None:
        raise ValueError("there are no rows: the factory of row blocks yielded nothing.")
    return sums


def absorbed(sums: Sums, block: Block) -> Sums:
    """Return the sums with a block added. They may change in place."""
    evaluation, weights = block.evaluation, block.weights
    if isinstance(evaluation, SparseEvaluation):
        fresh = sparse_sums(evaluation, block.targets, weights)
        return sums + fresh if sums.n_samples > 0.0 else fresh
    workers = _workers_with_own_sums(evaluation)
    if (tiles := tiles_for_sums(evaluation, weights)) is not None:
        sums.include(near_sums(evaluation, tiles, block.targets, weights, workers))
        return sums
    with one_pass("adding up", evaluation.n_rows, "rows", _operations(evaluation)) as part:
        if workers > 1:
            _absorb_in_parallel(sums, block, workers, part)
        elif free_threads() == 1:
            sums.absorb_parts(evaluated(block, parts_of(evaluation), part))
        else:
            for rows in parts_of(evaluation):
                sums.absorb(filled(evaluation, rows), block.targets[rows], None if weights is None else weights[rows])
                part.step(rows.stop - rows.start)
    return sums


def _operations(evaluation: Evaluation) -> float:
    """Return about how many floating-point operations the sums over all rows take."""
    return float(evaluation.n_rows) * evaluation.n_candidates * (evaluation.n_candidates + 20.0)


def _workers_with_own_sums(evaluation: Evaluation) -> int:
    """Return how many threads may add up some of the rows each: as many as there are cores, if their sums fit into the budget."""
    workers = free_threads()
    worth_it = evaluation.n_rows >= workers * LEAST_ROWS_OF_A_WORKER and fits(
        workers * evaluation.n_candidates, evaluation.n_candidates
    )
    return workers if worth_it else 1


def _absorb_in_parallel(sums: Sums, block: Block, workers: int, part: Quiet) -> None:
    """Add a block in place. Each thread adds up rows of its own, so no thread waits for another until the end."""
    evaluation, m = block.evaluation, block.evaluation.n_candidates

    def own_sums(parts: list[slice]) -> Sums:
        own = Sums.empty(m, block.targets.shape[1])
        own.absorb_parts(evaluated(block, parts, part))
        return own

    parts = parts_of(evaluation, workers)
    for own in by_threads(own_sums, parts, workers=workers, operations=_operations(evaluation)):
        sums.include(own)


def parts_of(evaluation: Evaluation, workers: int = 1) -> list[slice]:
    """Return the rows that are evaluated at a time. If threads share them, each gets several parts, so that they end together."""
    n_rows = evaluation.n_rows
    most = n_rows if workers == 1 else -(-n_rows // (PARTS_OF_A_WORKER * workers))
    return slices(n_rows, max(64, min(BLOCK_BYTES // (8 * evaluation.n_candidates), most)))


def evaluated(block: Block, parts: list[slice], progress: Quiet = QUIET) -> Iterator[tuple[Floats, Floats, Floats | None]]:
    """Yield Phi, targets and weights of some parts of a block. Phi is valid until the next part: all of them use its memory."""
    evaluation = block.evaluation
    memory = np.empty((max((part.stop - part.start for part in parts), default=0), evaluation.n_candidates))
    for rows in parts:
        phi = memory[: rows.stop - rows.start]
        evaluation.fill(rows, slice(0, evaluation.n_candidates), phi)
        yield phi, block.targets[rows], None if block.weights is None else block.weights[rows]
        progress.step(rows.stop - rows.start)


def check_candidates(squares: Floats, total: float, evaluations: Callable[[], Iterable[Evaluation]]) -> None:
    """Raise a ValueError if candidates are out of range, by their sums of squares. Only small ones need another pass."""

    def largest(some: Indices) -> Floats:
        sizes = np.zeros(len(some))
        for evaluation in evaluations():
            for part in slices(len(some), max(16, BLOCK_BYTES // (8 * evaluation.n_rows))):
                sizes[part] = np.maximum(sizes[part], largest_of(evaluation.columns(some[part])))
        return sizes

    have_own_units = not any(isinstance(evaluation, KernelEvaluation) for evaluation in islice(evaluations(), 1))
    check_squares(squares, total, largest, have_own_units=have_own_units)


def whole_moments(read: ReadBlocks, *, fit_intercept: bool) -> tuple[list[Moments], Center]:
    """Return moments with all of Phi'Phi, and the center, from one pass."""
    return moments_from_sums(whole_sums(read), read, fit_intercept=fit_intercept)


def moments_from_sums(sums: Sums, read: ReadBlocks, *, fit_intercept: bool) -> tuple[list[Moments], Center]:
    """Return the moments in these sums over all blocks, and the center. Residuals come from the rows themselves."""
    center = Center(sums.candidate_means * fit_intercept, sums.target_means * fit_intercept)
    moments = [
        replace(m, rows=RowsOfBlocks(read, center, output)) for output, m in enumerate(sums.moments(about_mean=fit_intercept))
    ]
    return moments, center


def streamed_moments(read: ReadBlocks, *, fit_intercept: bool) -> tuple[list[Moments], Center]:
    """Return moments by column, and the center. This takes one pass now, and one for each later request for columns."""
    first = _first_pass(read, fit_intercept)
    usable = first.squares > 0.0
    center = first.center

    def weighted(block: Block, indices: Indices) -> Floats:
        values = block.evaluation.columns(indices) - center.candidates[indices]
        return values if block.weights is None else values * block.weights[:, None]

    def compute_columns(indices: Indices) -> Floats:
        total = sum(block.evaluation.project(weighted(block, indices))[0] for block in read())
        return np.where(usable, np.asarray(total).T, 0.0)

    def compute_block(rows: Indices, columns: Indices) -> Floats:
        return sum((_cross_products(block, center, rows, columns) for block in read()), start=np.zeros((len(rows), len(columns))))

    gram = ColumnGram(first.squares, compute_columns, compute_block)
    n = first.n_samples - 1.0 if fit_intercept else first.n_samples
    moments = [
        Moments(gram, np.ascontiguousarray(b), float(tt), n, RowsOfBlocks(read, center, output))
        for output, (b, tt) in enumerate(zip(first.projections.T, first.energies, strict=True))
    ]
    return moments, center


def sparse_moments(block: Block, *, fit_intercept: bool) -> tuple[list[Moments], Center]:
    """Return moments of sparse columns by column, and the center. Nothing but single columns is made dense."""
    evaluation, weights = block.evaluation, block.row_weights
    assert isinstance(evaluation, SparseEvaluation)
    products = SparseProducts(evaluation, weights, about_mean=fit_intercept)
    check_candidates(products.raw_squares, products.n_samples, lambda: (evaluation,))
    center = Center(products.means, weights @ block.targets / products.n_samples * fit_intercept)
    targets = block.targets - center.targets
    projections, energies = products.with_targets(targets), np.einsum("ij,ij,i->j", targets, targets, weights)
    gram, n_left = products.gram(), products.n_samples - fit_intercept
    moments = [
        Moments(gram, np.ascontiguousarray(b), float(tt), n_left, RowsOfBlocks(lambda: (block,), center, output))
        for output, (b, tt) in enumerate(zip(projections.T, energies, strict=True))
    ]
    return moments, center


def _cross_products(block: Block, center: Center, rows: Indices, columns: Indices) -> Floats:
    """Return Phi_R'W Phi_C about the center. All cores work on a few rows of the data at a time."""
    workers = n_cores()
    totals = [np.zeros((len(rows), len(columns))) for _ in range(workers)]
    parts = slices(block.evaluation.n_rows, 1024)

    def work(worker: int) -> None:
        for part in parts[worker::workers]:
            right = block.evaluation.columns(columns, part)
            right -= center.candidates[columns]
            left = right
            if rows is not columns:
                left = block.evaluation.columns(rows, part)
            if block.weights is not None:
                left = left * block.weights[part, None]
            totals[worker] += left.T @ right

    operations = float(block.evaluation.n_rows) * len(columns) * (len(rows) + 20.0)
    for_each(work, range(workers), operations=operations)
    return sum(totals[1:], start=totals[0])


def _product_of_block(block: Block, weights: Floats, at_mean: float) -> tuple[Floats, float]:
    """Return Phi'W v and the sum of W v, for v = Phi w - at_mean."""
    evaluation, workers = block.evaluation, n_cores()
    if isinstance(evaluation, SparseEvaluation):
        values = (evaluation.combined(weights) - at_mean) * block.row_weights
        return evaluation.project(values[:, None])[0][:, 0], float(values.sum())
    parts = slices(evaluation.n_rows, max(16, BLOCK_BYTES // (8 * evaluation.n_candidates)))
    sums, shifts = np.zeros((workers, evaluation.n_candidates)), np.zeros(workers)

    def work(worker: int) -> None:
        for part in parts[worker::workers]:
            phi = np.empty((part.stop - part.start, evaluation.n_candidates))
            evaluation.fill(part, slice(0, evaluation.n_candidates), phi)
            values = phi @ weights - at_mean
            if block.weights is not None:
                values *= block.weights[part]
            sums[worker] += values @ phi
            shifts[worker] += values.sum()

    for_each(work, range(workers), operations=4.0 * evaluation.n_rows * evaluation.n_candidates)
    return sums.sum(axis=0), float(shifts.sum())


class RowsOfBlocks:
    """Answers questions about the residuals of one output by a pass over the rows."""

    def __init__(self, read: ReadBlocks, center: Center, output: int) -> None:
        self._read, self._center, self._output = read, center, output

    def residual_energy(self, indices: Indices, weights: Floats) -> float:
        return float(sum((b.row_weights * r) @ r for b, r in self._residuals(indices, weights)))

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        parts = (b.evaluation.project((b.row_weights * r)[:, None])[0][:, 0] for b, r in self._residuals(indices, weights))
        return np.asarray(sum(parts))

    def remainders(self, indices: Indices, ridges: Floats, among: Indices | None = None) -> Remainders:
        """Return what ridge regression on Phi_A leaves of the candidates `among`, without differences of squares.

        [Phi_A; Z^(1/2)] = [Q1; Q2] R, e = phi - Q1 Q1'phi, Z^(1/2) y = Q2 Q1'phi (FGCV errata 6).
        """
        factors = _RowFactors(self._read, self._center, indices, ridges)
        among = np.arange(len(self._center.candidates)) if among is None else among
        inward, explained = np.zeros((len(among), len(indices))), np.zeros(len(indices))
        for block, root, orthogonal in factors.blocks():
            explained += (root * self._target(block)) @ orthogonal
            for part, values in self._panels(block, root, among):
                inward[part] += values.T @ orthogonal
        sums, residual = np.zeros((3, len(among))), 0.0
        for block, root, orthogonal in factors.blocks():
            target = root * self._target(block)
            rest_of_target = target - orthogonal @ explained
            residual += float(rest_of_target @ rest_of_target)
            for part, rest in self._panels(block, root, among):
                rest -= orthogonal @ inward[part].T
                sums[:2, part] += np.array([target, rest_of_target]) @ rest
                sums[2, part] += np.einsum("nm,nm->m", rest, rest)
        shrunk, penalty = factors.shrunk(inward), factors.shrunk(explained)
        leftover = sums[2] + np.einsum("ma,ma->m", shrunk, shrunk)
        return Remainders(sums[0], leftover, sums[1], sums[2], residual, float(penalty @ penalty), factors.lower)

    def centered(self, indices: Indices) -> Floats:
        """Return Phi_A about the center, each row times the square root of its weight. Rows of weight zero are left out."""
        parts = [
            self._weighted(block, block.evaluation.columns(indices) - self._center.candidates[indices]) for block in self._read()
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def target(self) -> Floats:
        """Return t about the center, each row times the square root of its weight. Rows of weight zero are left out."""
        return np.concatenate([self._weighted(block, self._target(block)) for block in self._read()])

    def compressed(self, among: Indices | None = None) -> Floats:
        """Return T with T'T = [Phi t]'[Phi t], from one pass: the rows, or the triangle of their QR factors if they are many."""
        among = np.arange(len(self._center.candidates)) if among is None else among
        width = len(among) + 1
        kept = np.empty((0, width))
        for block in self._read():
            for rows in slices(block.evaluation.n_rows, max(2 * width, 64)):
                kept = np.concatenate([kept, self._weighted_rows(block, rows, among)])
                if len(kept) > width:
                    kept = np.asarray(np.linalg.qr(kept, mode="r"))
        return np.asfortranarray(kept)

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        """Return Phi_A'Phi_A w from one pass over the rows. All cores work on a few rows at a time."""
        means = self._center.candidates[indices]
        spread = np.zeros(len(self._center.candidates))
        spread[indices] = weights
        total, shift = np.zeros(len(spread)), 0.0
        for block in self._read():
            sums, above = _product_of_block(block, spread, float(means @ weights))
            total += sums
            shift += above
        return total[indices] - means * shift

    def are_fewer_than(self, count: float) -> bool:
        return all(n_rows < count for n_rows in accumulate(block.evaluation.n_rows for block in self._read()))

    def _weighted_rows(self, block: Block, rows: slice, among: Indices) -> Floats:
        """Return some rows of [Phi t] about the center, times the square roots of their weights."""
        candidates = block.evaluation.columns(among, rows) - self._center.candidates[among]
        both = np.column_stack([candidates, self._target(block)[rows]])
        return both if block.weights is None else both * np.sqrt(block.weights[rows])[:, None]

    @staticmethod
    def _weighted(block: Block, values: Floats) -> Floats:
        if block.weights is None:
            return values
        rows = block.weights > 0.0
        root = np.sqrt(block.weights[rows])
        return values[rows] * (root[:, None] if values.ndim == 2 else root)

    def _panels(self, block: Block, root: Floats, among: Indices) -> Iterable[tuple[slice, Floats]]:
        """Yield a few candidates at a time, about their means and times the square roots of the weights."""
        for part in slices(len(among), max(16, BLOCK_BYTES // (8 * block.evaluation.n_rows))):
            values = block.evaluation.columns(among[part])
            if not values.flags.owndata:
                values = values.copy()
            values -= self._center.candidates[among[part]]
            if block.weights is not None:
                values *= root[:, None]
            yield part, values

    def _target(self, block: Block) -> Floats:
        return block.targets[:, self._output] - self._center.targets[self._output]

    def _residuals(self, indices: Indices, weights: Floats) -> Iterable[tuple[Block, Floats]]:
        for block in self._read():
            residual = self._target(block)
            for part in slices(len(indices), 64):
                values = block.evaluation.columns(indices[part]) - self._center.candidates[indices[part]]
                residual -= values @ weights[part]
            yield block, residual


class _RowFactors:
    """The orthogonal factor of [Z^(1/2); W^(1/2) Phi_A], computed for the rows of one block at a time.

    Each block is factorized together with the triangle of the blocks before it, [R; A_k] = Q_k R_k. The rows of block k in the
    whole factor are the lower part of Q_k times the upper parts of all later factors. Only these small upper parts are kept.
    """

    lower: Floats

    def __init__(self, read: ReadBlocks, center: Center, indices: Indices, ridges: Floats) -> None:
        self._read, self._center, self._indices, self._ridges = read, center, indices, ridges
        size = len(indices)
        self._followed = [np.eye(size)]
        uppers = [factor[:size].copy() for _, _, factor in self._chain()]
        for upper in reversed(uppers):
            self._followed.insert(0, upper @ self._followed[0])

    def blocks(self) -> Iterable[tuple[Block, Floats, Floats]]:
        """Yield each block with the square roots of its weights and its rows of Q1."""
        size = len(self._indices)
        for number, (block, root, factor) in enumerate(self._chain()):
            yield block, root, factor[size:] @ self._followed[number + 1]

    def shrunk(self, inward: Floats) -> Floats:
        """Apply Q2 to rows of Q1'phi."""
        return inward @ self._followed[0].T

    def _chain(self) -> Iterable[tuple[Block, Floats, Floats]]:
        triangle = np.diag(np.sqrt(self._ridges))
        for block in self._read():
            root = np.sqrt(block.row_weights)
            active = (block.evaluation.columns(self._indices) - self._center.candidates[self._indices]) * root[:, None]
            factor, triangle = np.linalg.qr(np.vstack([triangle, active]))
            yield block, root, factor
        signs = np.where(triangle.diagonal() < 0.0, -1.0, 1.0)
        self.lower = (signs[:, None] * triangle).T  # R' with a positive diagonal is the Cholesky factor of H, found without H


class _FirstPass(NamedTuple):
    """Sums over all rows, about the center.

    Attributes
    ----------
    n_samples : the sum of the sample weights
    center : the means, or zero if there is no intercept
    squares : diag(Phi'W Phi)
    projections : Phi'W T
    energies : diag(T'W T)
    """

    n_samples: float
    center: Center
    squares: Floats
    projections: Floats
    energies: Floats


def _first_pass(read: ReadBlocks, fit_intercept: bool) -> _FirstPass:
    """Sum over all rows in one pass, with the targets about a rough mean. Columns that hardly vary get another pass."""
    n, sums = 0.0, None
    for block in read():
        if sums is None:
            shift = block.targets[:64].mean(axis=0) * fit_intercept
            sums, raw = np.zeros((block.evaluation.n_candidates, 1 + len(shift))), np.zeros(block.evaluation.n_candidates)
            target_sums, energies = np.zeros(len(shift)), np.zeros(len(shift))
        weights, targets = block.row_weights, block.targets - shift
        right = np.column_stack([np.ones(len(targets)), targets]) * weights[:, None]
        products, squares = block.evaluation.project(right, weights)
        sums += products
        raw += squares
        n += float(weights.sum())
        target_sums += weights @ targets
        energies += np.einsum("ij,ij,i->j", targets, targets, weights)
    if sums is None:
        raise ValueError("there are no rows: the factory of row blocks yielded nothing.")
    check_candidates(raw, n, lambda: (block.evaluation for block in read()))
    raw[raw < negligible(n)] = 0.0
    if not fit_intercept:
        return _FirstPass(n, Center(np.zeros(len(raw)), shift), raw, sums[:, 1:], energies)
    means, moved = sums[:, 0] / n, target_sums / n
    squares = raw - n * means**2
    _mend_nearly_constant(read, means, raw, squares)
    projections = sums[:, 1:] - np.multiply.outer(n * means, moved)
    projections[squares == 0.0] = 0.0
    return _FirstPass(n, Center(means, shift + moved), squares, projections, energies - n * moved**2)


def _mend_nearly_constant(read: ReadBlocks, means: Floats, raw: Floats, squares: Floats) -> None:
    """Sum squares about the mean again, in place, if the variance of a column is a small difference of large numbers."""
    for part in slices(len(raw), 512):
        doubtful = part.start + np.flatnonzero(squares[part] < 1e-6 * raw[part])
        if not len(doubtful):
            continue
        squares[doubtful] = 0.0
        for block in read():
            values = block.evaluation.columns(doubtful) - means[doubtful]
            squares[doubtful] += block.row_weights @ values**2
    squares[squares <= CONSTANT * raw] = 0.0


def filled(evaluation: Evaluation, rows: slice) -> Floats:
    """Return Phi[rows] in double precision, computed on all cores."""
    out = np.empty((rows.stop - rows.start, evaluation.n_candidates))

    def work(part: slice) -> None:
        shifted = slice(rows.start + part.start, rows.start + part.stop)
        evaluation.fill(shifted, slice(0, evaluation.n_candidates), out[part])

    for_each(work, shares(len(out)), operations=20.0 * out.size)
    return out
