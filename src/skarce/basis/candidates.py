"""A fitted basis is a list of candidates. Any part of them can be evaluated at any part of the rows."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skarce._parallel import by_threads, free_threads, slices
from skarce._progress import one_pass
from skarce._scales import check_block
from skarce._text import one_line
from skarce._typing import Floats, Indices
from skarce._validation import in_brief
from skarce.basis import fused
from skarce.basis.kernels import Decaying, Kernel, Rbf
from skarce.basis.near import NearTiles, Tile
from skarce.basis.near_costs import NearCosts
from skarce.basis.tiles import (
    EVALUATING,
    TILE,
    empty_squares,
    fill_blocks,
    project_blocks,
    project_columns,
    project_symmetric_blocks,
)

KEPT_BYTES = 2**25  # the output of a transformer is kept if it takes no more
STRIP_BYTES = 2**18  # of kernels in single precision, before they are converted: they stay in the cache
ALL = slice(None)


class Evaluation(Protocol):
    """The candidates at given rows. The matrix Phi is not kept; blocks of it are computed on demand.

    Attributes
    ----------
    n_rows : int
        The number of rows of Phi.
    n_candidates : int
        The number of columns of Phi.
    dtype : numpy.dtype
        The precision in which Phi is computed.
    cost : float
        Floating-point operations for one element of Phi, for the cost model.
    is_symmetric : bool
        Whether the rows are the centers and k(x, c) = k(c, x).
    """

    n_rows: int
    n_candidates: int
    dtype: np.dtype[Any]
    cost: float
    is_symmetric: bool

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        """Write Phi[rows, columns] into `out`."""
        ...

    def columns(self, indices: Indices, rows: slice = ALL) -> Floats:
        """Return Phi[rows, indices] in double precision, shape (n_rows, len(indices))."""
        ...

    def project(self, right: Floats, row_weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return Phi'B of shape (n_candidates, k) for B of shape (n_rows, k), and (Phi o Phi)'w if row weights w are given.

        Row weights of shape (n_rows,) give squares of shape (n_candidates,). Row weights of shape (n_rows, s) give squares of shape
        (n_candidates, s).
        """
        ...


class KernelEvaluation:
    """Kernels between rows and centers, computed on all cores."""

    _dropped: NDArray[np.bool_] | None = None

    def __init__(self, kernel: Kernel, X: Floats, centers: Floats, *, symmetric: bool = False) -> None:
        self._kernel = kernel
        self._rows = kernel.prepare_rows(X)
        self._centers = kernel.prepare_centers(centers)
        self.n_rows, self.n_candidates = len(X), len(centers)
        self.dtype = X.dtype
        self.cost = 2.0 * X.shape[1] + 20.0
        self.is_symmetric = symmetric

    def without(self, dropped: Indices) -> KernelEvaluation:
        """Return the same kernels, but zero at all rows for the candidates `dropped`."""
        other = copy(self)
        other._dropped = np.isin(np.arange(self.n_candidates), dropped)
        other.is_symmetric = False
        return other

    def at(self, rows: Indices, candidates: Indices) -> KernelEvaluation:
        """Return the kernels of some candidates at some rows."""
        other = copy(self)
        other._rows, other._centers = self._rows.take(rows, axis=0), self._centers.take(candidates, axis=0)
        other._dropped = None if self._dropped is None else self._dropped[candidates]
        other.n_rows, other.n_candidates = len(rows), len(candidates)
        other.is_symmetric, other._near = False, None
        return other

    def tiles_for_projections(self) -> list[Tile] | None:
        """Return tiles that leave out kernels too small to count if this saves time for Phi'B, or None."""
        return self._near_costs.tiles_for_projections(lambda: self._near)

    def tiles_for_sums(self) -> list[Tile] | None:
        """Return tiles that leave out kernels too small to count if this saves time for all of Phi'Phi, or None."""
        return self._near_costs.tiles_for_sums(lambda: self._near)

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        self._fill(self._rows[rows], self._centers[columns], out)
        if not self._kernel.is_bounded:
            check_block(out)
        if self._dropped is not None:
            out[:, self._dropped[columns]] = 0.0

    def columns(self, indices: Indices, rows: slice = ALL) -> Floats:
        prepared, centers = self._rows[rows], self._centers[indices]
        out = np.empty((len(prepared), len(indices)))
        fill_blocks(lambda some, columns, block: self._fill(prepared[some], centers[columns], block), out)
        if self._dropped is not None:
            out[:, self._dropped[indices]] = 0.0
        return out

    def project(self, right: Floats, row_weights: Floats | None = None) -> tuple[Floats, Floats]:
        product, squares = self._project(right, row_weights)
        if self._dropped is not None:
            product[self._dropped], squares[self._dropped] = 0.0, 0.0
        return product, squares

    @cached_property
    def _near(self) -> NearTiles | None:
        return NearTiles(self._kernel, self._rows, self._centers) if isinstance(self._kernel, Decaying) else None

    @property
    def _near_costs(self) -> NearCosts:
        return NearCosts(self.n_rows, self.n_candidates, self._is_compiled, self.is_symmetric)

    @property
    def _is_compiled(self) -> bool:
        return isinstance(self._kernel, Rbf) and fused.suits(self._rows, self._centers)

    def _project(self, right: Floats, row_weights: Floats | None) -> tuple[Floats, Floats]:
        if (tiles := self.tiles_for_projections()) is not None:
            return project_near(self, tiles, right, row_weights)
        if self._is_compiled and right.shape[1] <= fused.MAX_COLUMNS:
            return fused.project(self._rows, self._centers, right, row_weights, symmetric=self.is_symmetric)
        if self.is_symmetric and self.n_rows > 2 * TILE:
            return project_symmetric_blocks(self.fill, self.n_rows, right, row_weights, self.dtype)
        return project_blocks(self.fill, self.n_candidates, right, row_weights, self.dtype)

    def _fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        """Fill a block. A kernel writes in the precision of its inputs, so the block is converted only afterwards."""
        if out.dtype == self.dtype:
            self._kernel.fill(rows, centers, out)
            return
        strips = slices(len(rows), max(16, STRIP_BYTES // (self.dtype.itemsize * max(len(centers), 1))))
        block = np.empty((strips[0].stop if strips else 0, len(centers)), dtype=self.dtype)
        for strip in strips:
            some = block[: strip.stop - strip.start]
            self._kernel.fill(rows[strip], centers, some)
            out[strip] = some


def project_near(
    evaluation: KernelEvaluation, tiles: list[Tile], right: Floats, row_weights: Floats | None
) -> tuple[Floats, Floats]:
    """Return Phi'B and (Phi o Phi)'w over the tiles. Each thread adds up tiles of its own."""
    m, right = evaluation.n_candidates, np.ascontiguousarray(right)

    def own_sums(some: list[Tile]) -> tuple[Floats, Floats]:
        product, squares = np.zeros((m, right.shape[1])), empty_squares(m, row_weights)
        for rows, near in some:
            weights = None if row_weights is None else row_weights[rows]
            of_tile = evaluation.at(rows, near).project(right.take(rows, axis=0), weights)
            product[near] += of_tile[0]
            squares[near] += of_tile[1]
            progress.step()
        return product, squares

    operations = sum(20.0 * len(rows) * len(near) for rows, near in tiles)
    with one_pass(EVALUATING, len(tiles), "blocks", operations) as progress:
        parts = by_threads(own_sums, tiles, workers=free_threads(), operations=operations)
    products, squares = zip(*parts, strict=True)
    return np.sum(products, axis=0), np.sum(squares, axis=0)


class ColumnsEvaluation:
    """Candidates that are already an array: inputs passed through, or a precomputed kernel."""

    cost = 1.0
    is_symmetric = False

    def __init__(self, values: Floats) -> None:
        self._values = values
        self.n_rows, self.n_candidates = values.shape
        self.dtype = values.dtype

    @property
    def is_by_column(self) -> bool:
        """Whether the values are doubles, and each column is contiguous."""
        return self.dtype == np.float64 and self._values.flags.f_contiguous

    def without(self, dropped: Indices) -> ColumnsEvaluation:
        """Return the same columns, but zero at all rows for the candidates `dropped`."""
        values = self._values.copy()
        values[:, dropped] = 0.0
        return ColumnsEvaluation(values)

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        out[...] = self._values[rows, columns]

    def columns(self, indices: Indices, rows: slice = ALL) -> Floats:
        return self._values.T[indices].T[rows].astype(np.float64, copy=False)

    def project(self, right: Floats, row_weights: Floats | None = None) -> tuple[Floats, Floats]:
        return project_columns(self._values, right, row_weights)


class TransformerEvaluation:
    """The output of any scikit-learn transformer, computed for a few rows at a time."""

    cost = 50.0
    is_symmetric = False

    def __init__(self, transformer: Any, X: Any, n_candidates: int) -> None:
        self._transformer, self._X = transformer, X
        self.n_rows, self.n_candidates = _num_samples(X), n_candidates
        self.dtype = np.dtype(np.float64)

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        out[...] = self._training_values(rows)[:, columns]

    def columns(self, indices: Indices, rows: slice = ALL) -> Floats:
        start, stop, _ = rows.indices(self.n_rows)
        out = np.empty((stop - start, len(indices)))
        for part in slices(stop - start, 4 * TILE):
            out[part] = self._columns(indices, slice(start + part.start, start + part.stop))
        return out

    def project(self, right: Floats, row_weights: Floats | None = None) -> tuple[Floats, Floats]:
        product, squares = np.zeros((self.n_candidates, right.shape[1])), empty_squares(self.n_candidates, row_weights)
        with one_pass(EVALUATING, self.n_rows, "rows", self.cost * self.n_rows * self.n_candidates) as progress:
            for rows in slices(self.n_rows, 4 * TILE):
                values = self._training_values(rows)
                product += values.T @ right[rows]
                if row_weights is not None:
                    squares += (values**2).T @ row_weights[rows]
                progress.step(len(values))
        return product, squares

    def _training_values(self, rows: slice) -> Floats:
        values = self._values(rows)
        check_block(values)
        return values

    def _columns(self, indices: Indices, rows: slice) -> Floats:
        if self._kept is not None:
            return self._kept[rows][:, indices]
        return transformed_columns(self._transformer, _safe_indexing(self._X, rows), indices)

    def _values(self, rows: slice) -> Floats:
        return transformed(self._transformer, _safe_indexing(self._X, rows)) if self._kept is None else self._kept[rows]

    @cached_property
    def _kept(self) -> Floats | None:
        """All values if they take little memory, because a transformer may take long; else None."""
        is_small = 8.0 * self.n_rows * self.n_candidates <= KEPT_BYTES
        return transformed(self._transformer, self._X) if is_small else None


def transformed_columns(transformer: Any, X: Any, indices: Indices) -> Floats:
    """Return some output columns of the transformer. Polynomial chaos computes no others."""
    from skarce.basis.polynomial_chaos import PolynomialChaosBasis

    if isinstance(transformer, PolynomialChaosBasis):
        return transformed(transformer.select(indices), X)
    return transformed(transformer, X)[:, indices]


def transformed(transformer: Any, X: Any) -> Floats:
    """Return the output of the transformer as a dense array of doubles."""
    values = transformer.transform(X)
    if hasattr(values, "toarray"):
        values = values.toarray()
    name = type(transformer).__name__
    with in_brief(f"the output of {name}.transform"):
        values = np.asarray(values)
    if values.dtype.kind == "c":
        raise ValueError(f"{name}.transform returned complex numbers; every candidate must be real.")
    if values.ndim != 2 or len(values) != _num_samples(X):
        raise ValueError(f"{name}.transform must return one row for each of the {_num_samples(X)} rows, got shape {values.shape}.")
    try:
        values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}.transform must return numbers, got an array of type {values.dtype}: {one_line(error, 200)}."
        ) from error
    if not np.isfinite(values).all():
        raise ValueError(f"{name}.transform returned NaN or infinity; every candidate must be finite.")
    return values
