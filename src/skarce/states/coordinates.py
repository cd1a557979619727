r"""Candidates and the target in orthonormal coordinates that span the active functions.

Let the columns of Q be orthonormal and span the active functions, and perhaps more. Every candidate is :math:`\varphi = Qc + e`
with :math:`Q^Te = 0`, and the target is :math:`t = Qz + s`. So the active functions are :math:`\Phi_A = QR`, where R are columns of
the coordinates C of all candidates. A function that leaves stays in the span, which costs nothing.

A new direction comes from a column of the Gram matrix, which loses digits if the function is much like the others, or from the
rows, which loses none. With M candidates, k directions and r rows, it costs O(k M) or O(r M).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._memory import fits
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.state import RESOLUTION, resolved_energy

WASTE, FEW = 1.25, 32  # the directions are made again if there are more than this many times the active functions, and a few
PANEL = 64  # functions whose directions are made together
SHRUNK = 1e-4  # squares that differences have made smaller than this share are summed again over the rows
NOTHING = 1e-30  # a smaller share of a squared norm is rounding
LEAST_PIVOT = 1e-6  # if less than this share of a function is outside the others, its direction comes from the rows


class Frame(NamedTuple):
    """Some orthonormal directions, and the coordinates of all candidates and the target along them.

    Attributes
    ----------
    candidates : array of shape (n_directions, n_candidates)
        C.
    target : array of shape (n_directions,)
        z.
    outside : array of shape (n_candidates,)
        |e|^2: how much of each candidate is outside the directions.
    aligned : array of shape (n_candidates,)
        s'e.
    rest : float
        |s|^2.
    origin : object
        Two frames with the same origin have their first directions in common.
    """

    candidates: Floats
    target: Floats
    outside: Floats
    aligned: Floats
    rest: float
    origin: object

    def __len__(self) -> int:
        return len(self.target)


class Coordinates(ABC):
    """Orthonormal directions that span the active functions. More directions come when they are needed.

    Parameters
    ----------
    squared_norms : array of shape (n_candidates,)
        diag(Phi'Phi).
    projections : array of shape (n_candidates,)
        Phi't.
    target_energy : float
        t't.
    """

    def __init__(self, squared_norms: Floats, projections: Floats, target_energy: float) -> None:
        self._start = squared_norms, projections, target_energy
        self._forget()

    def __len__(self) -> int:
        return self._n

    def spanning(self, active: Indices) -> Frame:
        """Return directions that span these functions. Directions that are not needed are dropped if they are many."""
        new = active[~self._is_spanned[active]]
        if self._n + len(new) > WASTE * len(active) + FEW:
            self._forget()
            new = active
        for part in range(0, len(new), PANEL):
            self._extend(new[part : part + PANEL])
        n = self._n
        return Frame(self._candidates[:n], self._target[:n], self._outside, self._aligned, self._rest, self._origin)

    @abstractmethod
    def _extend(self, functions: Indices) -> None:
        """Add directions that span these functions together with the present ones, by `_append`."""

    def _forget(self) -> None:
        self._outside, self._aligned, self._rest = self._start
        self._n, self._origin = 0, object()
        self._candidates, self._target = np.empty((FEW, len(self._outside))), np.empty(FEW)
        self._is_spanned = np.zeros(len(self._outside), dtype=bool)

    def _append(self, candidates: Floats, target: Floats, rest: float, functions: Indices) -> None:
        """Append directions. Frames that were handed out stay as they are."""
        before, n = self._n, self._n + len(target)
        if n > len(self._target):
            larger = np.empty((2 * n, len(self._outside))), np.empty(2 * n)
            larger[0][:before], larger[1][:before] = self._candidates[:before], self._target[:before]
            self._candidates, self._target = larger
        self._candidates[before:n], self._target[before:n] = candidates, target
        self._outside = np.maximum(self._outside - np.einsum("ij,ij->j", candidates, candidates), 0.0)
        self._aligned = self._aligned - target @ candidates
        self._rest, self._n = rest, n
        self._is_spanned[functions] = True


class GramCoordinates(Coordinates):
    """Coordinates from columns of the Gram matrix, as in a Cholesky factorization.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates.

    Raises
    ------
    NotPositiveDefiniteError
        By `spanning`, if a function depends so much on the others that digits would be lost.
    """

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        super().__init__(moments.gram.diagonal, moments.projections, resolved_energy(moments))

    def _extend(self, functions: Indices) -> None:
        for function in functions:
            old, pivot = self._candidates[: len(self)], float(self._outside[function])
            if not pivot > LEAST_PIVOT * self._moments.gram.diagonal[function]:
                raise NotPositiveDefiniteError("the function is too much like the others for the Gram matrix.")
            along = (self._moments.gram.column(int(function)) - old[:, function] @ old) / np.sqrt(pivot)
            target = float(self._aligned[function]) / np.sqrt(pivot)
            least = RESOLUTION * self._moments.target_energy
            self._append(along[None], np.array([target]), max(self._rest - target**2, least), np.array([function]))


class RowCoordinates(Coordinates):
    """Coordinates from the rows.

    Parameters
    ----------
    rows : array of shape (n_rows, n_candidates)
        Phi, or fewer rows with the same products.
    target : array of shape (n_rows,)
        t, in the same rows.
    """

    def __init__(self, rows: Floats, target: Floats) -> None:
        self._rows, self._target_rows = rows, target
        self._squared_norms = np.einsum("ij,ij->j", rows, rows)
        super().__init__(self._squared_norms, target @ rows, float(target @ target))

    @staticmethod
    def are_possible(moments: Moments) -> bool:
        """Tell whether the rows behind these moments are still there, and small enough for the memory budget."""
        size = moments.n_candidates + 1
        return moments.rows is not None and fits(size, size)

    @classmethod
    def of(cls, moments: Moments) -> RowCoordinates:
        """Return coordinates from the rows behind these moments."""
        if moments.rows is None:
            raise ValueError("these moments have no rows.")
        rows = moments.rows.compressed()
        rows[:, :-1][:, moments.gram.diagonal == 0.0] = 0.0
        return cls(rows[:, :-1], rows[:, -1].copy())

    def _forget(self) -> None:
        super()._forget()
        self._directions = np.empty((len(self._target_rows), FEW), order="F")
        self._unexplained, self._summed = self._target_rows, self._squared_norms.copy()

    def _extend(self, functions: Indices) -> None:
        n_rows, old = len(self._target_rows), self._directions[:, : len(self)]
        fresh = self._rows[:, functions[: n_rows - len(self)]]  # as many directions as rows span everything
        # The second time removes what rounding has left of the old directions. A function that is in their span already gives any
        # direction that is orthogonal to the others, which does no harm.
        for _ in range(2):
            fresh = np.linalg.qr(fresh - old @ (old.T @ fresh))[0]
        target = fresh.T @ self._unexplained
        self._unexplained = self._unexplained - fresh @ target
        before = len(self)
        self._append(fresh.T @ self._rows, target, float(self._unexplained @ self._unexplained), functions)
        if len(self) > self._directions.shape[1]:
            larger = np.empty((n_rows, len(self._target)), order="F")
            larger[:, :before] = old
            self._directions = larger
        self._directions[:, before : len(self)] = fresh
        self._sum_again()

    def _sum_again(self) -> None:
        """Compute |e|^2 and s'e from the rows for candidates of which so little is left that the differences have lost digits."""
        lost = np.flatnonzero((self._outside < SHRUNK * self._summed) & (self._summed > NOTHING * self._squared_norms))
        for part in range(0, len(lost), PANEL):
            some = lost[part : part + PANEL]
            rest = self._rows[:, some] - self._directions[:, : len(self)] @ self._candidates[: len(self), some]
            self._outside[some] = self._summed[some] = np.einsum("ij,ij->j", rest, rest)
            self._aligned[some] = self._unexplained @ rest
