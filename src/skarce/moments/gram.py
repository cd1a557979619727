"""The Gram matrix G = Phi'Phi of the candidates, whole or one column at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from skarce._typing import Floats, Indices


class Gram(Protocol):
    """What a method may ask of Phi'Phi."""

    diagonal: Floats  # diag(Phi'Phi), shape (n_candidates,)
    is_whole: bool  # every element is at hand: columns and blocks cost nothing but a copy

    def columns(self, indices: Indices) -> Floats:
        """Phi'Phi_A as rows, shape (len(indices), n_candidates): row k belongs to candidate indices[k]."""
        ...

    def column(self, candidate: int) -> Floats:
        """One of them, shape (n_candidates,); a view, to be read only."""
        ...

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Phi_R'Phi_C, shape (len(rows), len(columns))."""
        ...

    def whole(self) -> WholeGram | None:
        """All of Phi'Phi, or None where it is too much to ask."""
        ...


def whole_matrix(gram: Gram) -> Floats:
    """Return all of Phi'Phi as an array, to be read only; it is computed if it is not at hand."""
    every = np.arange(len(gram.diagonal))
    whole = gram.whole() if gram.is_whole else None
    return np.ascontiguousarray(gram.block(every, every)) if whole is None else whole.matrix


class WholeGram:
    """All of Phi'Phi in memory."""

    is_whole = True

    def __init__(self, matrix: Floats) -> None:
        self.matrix = np.ascontiguousarray(matrix)
        self.diagonal = matrix.diagonal().copy()

    def whole(self) -> WholeGram:
        return self

    def columns(self, indices: Indices) -> Floats:
        return self.matrix[indices]

    def column(self, candidate: int) -> Floats:
        return self.matrix[candidate]

    def block(self, rows: Indices, columns: Indices) -> Floats:
        return self.matrix[np.ix_(rows, columns)]


class ColumnGram:
    """Columns of Phi'Phi computed when first asked for, and kept.

    Parameters
    ----------
    diagonal : diag(Phi'Phi)
    compute_columns : indices -> (len(indices), n_candidates); one pass over the candidates for the whole batch
    compute_block : (rows, columns) -> (len(rows), len(columns)), without a pass over all candidates
    compute_whole : () -> all of Phi'Phi, or None where that would cost too much memory or time
    """

    is_whole = False

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
        """How many columns have been computed so far."""
        return len(self._kept)

    def whole(self) -> WholeGram | None:
        """All of it, where that can be afforded."""
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
