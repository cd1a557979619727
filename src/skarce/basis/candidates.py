"""A fitted basis is a list of candidates that can be evaluated in part."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from skarce._typing import Floats, Indices
from skarce.basis.kernels import Kernel
from skarce.basis.tiles import TILE, fill_blocks, project_blocks, slices


class Evaluation(Protocol):
    """The candidates at given rows: Phi, never held, only filled block by block."""

    n_rows: int
    n_candidates: int
    dtype: np.dtype[Any]
    cost: float  # floating-point operations for one element of Phi, for the cost model

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        """out = Phi[rows, columns]."""
        ...

    def columns(self, indices: Indices) -> Floats:
        """Phi[:, indices] in double precision, shape (n_rows, len(indices))."""
        ...

    def project(self, right: Floats) -> Floats:
        """Phi'B, shape (n_candidates, k), for B of shape (n_rows, k)."""
        ...


class KernelEvaluation:
    """Kernels between rows and centres, on all cores."""

    def __init__(self, kernel: Kernel, X: Floats, centers: Floats, *, symmetric: bool = False) -> None:
        self._kernel = kernel
        self._rows = kernel.prepare_rows(X)
        self._centers = kernel.prepare_centers(centers)
        self.n_rows, self.n_candidates = len(X), len(centers)
        self.dtype = X.dtype
        self.cost = 2.0 * X.shape[1] + 20.0
        self._symmetric = symmetric  # rows are the centres, and k(x, c) = k(c, x)

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        self._fill(self._rows[rows], self._centers[columns], out)

    def columns(self, indices: Indices) -> Floats:
        centers = self._centers[indices]
        out = np.empty((self.n_rows, len(indices)))
        fill_blocks(lambda rows, columns, block: self._fill(self._rows[rows], centers[columns], block), out)
        return out

    def project(self, right: Floats) -> Floats:
        if self._symmetric and self.n_rows > 2 * TILE:
            return self._project_symmetric(right)
        return project_blocks(self.fill, self.n_candidates, right, self.dtype)

    def _fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        """A kernel writes in the precision of its inputs; the block is widened only afterwards."""
        if out.dtype == self.dtype:
            self._kernel.fill(rows, centers, out)
            return
        block = np.empty(out.shape, dtype=self.dtype)
        self._kernel.fill(rows, centers, block)
        out[...] = block

    def _project_symmetric(self, right: Floats) -> Floats:
        """Half the kernel is enough: the block (i, j) serves rows j as it stands and rows i transposed."""
        from skarce._parallel import for_each, n_cores

        n, k = right.shape
        blocks = slices(n, TILE)
        pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
        workers = n_cores()
        products = [np.zeros((n, k)) for _ in range(workers)]

        def work(worker: int) -> None:
            buffer, product = np.empty(TILE * TILE, dtype=self.dtype), products[worker]
            for i, j in pairs[worker::workers]:
                rows, columns = blocks[i], blocks[j]
                shape = rows.stop - rows.start, columns.stop - columns.start
                block = buffer[: shape[0] * shape[1]].reshape(shape)
                self._kernel.fill(self._rows[rows], self._centers[columns], block)
                wide = block.astype(np.float64, copy=False)
                product[columns] += wide.T @ right[rows]
                if i != j:
                    product[rows] += wide @ right[columns]

        for_each(work, range(workers), elements=float(n) * n)
        return sum(products[1:], start=products[0])


class ColumnsEvaluation:
    """Candidates that stand in an array already: inputs passed through, or a precomputed kernel."""

    cost = 1.0

    def __init__(self, values: Floats) -> None:
        self._values = values
        self.n_rows, self.n_candidates = values.shape
        self.dtype = values.dtype

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        out[...] = self._values[rows, columns]

    def columns(self, indices: Indices) -> Floats:
        return self._values[:, indices].astype(np.float64, copy=False)

    def project(self, right: Floats) -> Floats:
        return project_blocks(self.fill, self.n_candidates, right, self.dtype)


class TransformerEvaluation:
    """Any scikit-learn transformer, asked for a few rows at a time."""

    cost = 50.0

    def __init__(self, transformer: Any, X: Any, n_candidates: int) -> None:
        self._transformer, self._X = transformer, X
        self.n_rows, self.n_candidates = len(X), n_candidates
        self.dtype = np.dtype(np.float64)

    def fill(self, rows: slice, columns: slice, out: Floats) -> None:
        out[...] = transformed(self._transformer, self._X[rows])[:, columns]

    def columns(self, indices: Indices) -> Floats:
        out = np.empty((self.n_rows, len(indices)))
        for rows in slices(self.n_rows, 4 * TILE):
            out[rows] = transformed(self._transformer, self._X[rows])[:, indices]
        return out

    def project(self, right: Floats) -> Floats:
        product = np.zeros((self.n_candidates, right.shape[1]))
        for rows in slices(self.n_rows, 4 * TILE):
            product += transformed(self._transformer, self._X[rows]).T @ right[rows]
        return product


def transformed(transformer: Any, X: Any) -> Floats:
    """The transformer's output as a dense array of doubles."""
    values = transformer.transform(X)
    if hasattr(values, "toarray"):
        values = values.toarray()
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{type(transformer).__name__}.transform returned NaN or infinity; every candidate must be finite.")
    return values
