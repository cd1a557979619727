"""The Gram matrix G = Phi'Phi of the candidates, whole or by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from skarce._device import taken
from skarce._typing import Floats, Indices

FEW_ROWS = 512  # of a block: a copy of so many rows takes little memory


class Gram(Protocol):
    """What a method may ask of Phi'Phi.

    Attributes
    ----------
    diagonal : diag(Phi'Phi), shape (n_candidates,)
    is_whole : whether every element is in memory, so that columns and blocks cost only a copy
    there : all of Phi'Phi on the device where large matrices are decomposed, or None for the host
    """

    diagonal: Floats
    is_whole: bool
    there: Any

    def columns(self, indices: Indices) -> Floats:
        """Return Phi'Phi_A as rows, shape (len(indices), n_candidates): row k belongs to candidate indices[k]."""
        ...

    def column(self, candidate: int) -> Floats:
        """Return the column of one candidate, shape (n_candidates,). It is a view: do not write to it."""
        ...

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return Phi_R'Phi_C, shape (len(rows), len(columns))."""
        ...

    def whole(self) -> WholeGram | None:
        """Return all of Phi'Phi, or None if it costs too much memory or time."""
        ...


def block_of_matrix(matrix: Floats, rows: Indices, columns: Indices) -> Floats:
    """Return some rows and columns of a matrix. If rows are few, to take them first is several times as fast."""
    return matrix.take(rows, axis=0).take(columns, axis=1) if len(rows) <= FEW_ROWS else matrix[np.ix_(rows, columns)]


def whole_matrix(gram: Gram) -> Floats:
    """Return all of Phi'Phi as an array, and compute it if necessary. Do not write to the array."""
    every = np.arange(len(gram.diagonal))
    whole = gram.whole() if gram.is_whole else None
    return np.ascontiguousarray(gram.block(every, every)) if whole is None else whole.matrix


def block_there(matrix: Any, indices: Indices) -> Any:
    """Return the rows and columns of some functions, of a matrix on a device."""
    return taken(taken(matrix, indices), indices, axis=1)


class WholeGram:
    """All of Phi'Phi in memory.

    Parameters
    ----------
    matrix : array of shape (n_candidates, n_candidates)
        Phi'Phi.
    there : array on a device, default=None
        The same where the rows are. Large parts of it are decomposed there. None if the rows are on the host.
    """

    is_whole = True

    def __init__(self, matrix: Floats, there: Any = None) -> None:
        self.matrix, self.there = np.ascontiguousarray(matrix), there
        self.diagonal = matrix.diagonal().copy()

    def whole(self) -> WholeGram:
        return self

    def columns(self, indices: Indices) -> Floats:
        return self.matrix[indices]

    def column(self, candidate: int) -> Floats:
        return self.matrix[candidate]

    def block(self, rows: Indices, columns: Indices) -> Floats:
        return block_of_matrix(self.matrix, rows, columns)


class ColumnGram:
    """Columns of Phi'Phi, computed at the first request and then kept.

    Parameters
    ----------
    diagonal : array of shape (n_candidates,)
        diag(Phi'Phi).
    compute_columns : callable
        indices -> array of shape (len(indices), n_candidates), in one pass over the candidates for all indices.
    compute_block : callable
        (rows, columns) -> array of shape (len(rows), len(columns)), without a pass over all candidates.
    compute_whole : callable, default=None
        () -> all of Phi'Phi. None if that costs too much memory or time.
    """

    is_whole = False
    there = None

    def __init__(
        self,
        diagonal: Floats,
        compute_columns: Callable[[Indices], Floats],
        compute_block: Callable[[Indices, Indices], Floats],
        compute_whole: Callable[[], Floats] | None = None,
    ) -> None:
        self.diagonal = diagonal
        self._compute_columns = compute_columns
        self._compute_block = compute_block
        self._compute_whole = compute_whole
        self._kept: dict[int, Floats] = {}

    @property
    def n_kept(self) -> int:
        """The number of columns that have been computed so far."""
        return len(self._kept)

    def whole(self) -> WholeGram | None:
        """Return all of Phi'Phi, or None if it costs too much memory or time."""
        return None if self._compute_whole is None else WholeGram(self._compute_whole())

    def columns(self, indices: Indices) -> Floats:
        wanted = [int(i) for i in indices]
        missing = [i for i in wanted if i not in self._kept]
        if missing:
            fresh = self._compute_columns(np.array(missing, dtype=np.intp))
            self._kept.update(zip(missing, fresh, strict=True))
        return np.array([self._kept[i] for i in wanted]).reshape(len(wanted), len(self.diagonal))

    def column(self, candidate: int) -> Floats:
        if candidate not in self._kept:
            self.columns(np.array([candidate], dtype=np.intp))
        return self._kept[candidate]

    def block(self, rows: Indices, columns: Indices) -> Floats:
        if all(int(i) in self._kept for i in columns):
            return np.array([self._kept[int(i)][rows] for i in columns]).reshape(len(columns), len(rows)).T
        return self._compute_block(rows, columns)
