"""The dense linear algebra of the evidence of widths, where its arrays are: on the cores of the host, or on a device."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from skarce._device import is_on_device, namespace, to_host
from skarce._linalg import (
    cholesky_of_nearly_singular,
    cholesky_of_nearly_singular_on_device,
    inverse_of_lower,
    inverse_of_lower_on_device,
    with_raised_diagonal,
)
from skarce._parallel import add_squares, for_each, shares, slices
from skarce._typing import Floats

PANEL = 128  # columns of a triangular matrix that are multiplied together: the zeros beyond them cost nothing


def squares_of(columns: Any) -> Any:
    """Return A'A."""
    if is_on_device(columns):
        return columns.T @ columns
    gram = np.zeros((columns.shape[1], columns.shape[1]))
    add_squares(columns, gram)
    return gram


def total_square(values: Any) -> float:
    """Return the sum of the squares of all values."""
    return float(namespace(values).sum(values * values)) if is_on_device(values) else float(np.vdot(values, values))


def column_products(left: Any, right: Any) -> Floats:
    """Return the product of each column of one array with the same column of another, on the host."""
    return to_host(namespace(left).sum(left * right, axis=0)) if is_on_device(left) else np.einsum("no,no->o", left, right)


def trace(matrix: Any) -> float:
    """Return the trace of a matrix."""
    return float(namespace(matrix).linalg.trace(matrix)) if is_on_device(matrix) else float(matrix.trace())


def add_outer(matrix: Any, left: Any, right: Any) -> None:
    """Add left right' to a matrix in place, with a row of `left` for each of its rows, and a row of `right` for each column."""
    if is_on_device(matrix):
        matrix += left @ right.T
        return
    for one, other in zip(left.T, right.T, strict=True):
        _add_outer_of_vectors(matrix, one, other)


def _add_outer_of_vectors(matrix: Floats, left: Floats, right: Floats) -> None:
    """Add left right' to a matrix in either memory order, without an array of its size."""
    if not matrix.size:
        return
    if matrix.flags.f_contiguous:
        blas.dger(1.0, left, right, a=matrix, overwrite_a=1)
    else:
        blas.dger(1.0, right, left, a=matrix.T, overwrite_a=1)


def factored(matrix: Any, ridge: float) -> Factored | DeviceFactored:
    """Factorize S + rho I. The matrix S may be overwritten."""
    return DeviceFactored(matrix, ridge) if is_on_device(matrix) else Factored(matrix, ridge)


class Factored:
    """The Cholesky factor and the inverse of S + rho I, and the determinant of I + S/rho. The matrix S is overwritten."""

    def __init__(self, matrix: Floats, ridge: float) -> None:
        self.ridge = ridge
        in_order = matrix if matrix.flags.f_contiguous else matrix.T  # the order that LAPACK wants; the matrix is symmetric
        in_order.flat[:: len(matrix) + 1] += ridge
        self._lower = cholesky_of_nearly_singular(in_order)
        self.log_determinant = float(np.log(self._lower.diagonal() ** 2 / ridge).sum())

    @cached_property
    def _inverse(self) -> Floats:
        inverse, _ = lapack.dpotri(self._lower, lower=1)
        return inverse

    @property
    def freedom(self) -> float:
        """The sum of e/(e + rho) over the eigenvalues of S."""
        return len(self._lower) - self.ridge * float(self._inverse.trace())

    def solve(self, right: Floats) -> Floats:
        """Return (S + rho I)^-1 right."""
        solution, _ = lapack.dpotrs(self._lower, right, lower=1)
        return solution

    def shrunk(self, root: Floats) -> tuple[Floats, float]:
        """Return A (S + rho I)^-1 for a root A of S = A'A, and the sum of e/(e + rho) over the eigenvalues of S.

        With the Cholesky factor L of S + rho I, the first is A L^-T L^-1, and the second is the sum of the squares of A L^-T.
        """
        inverse_root = inverse_of_lower(self._lower)
        half, whole = np.empty(root.shape), np.empty(root.shape)
        panels = slices(root.shape[1], PANEL)

        def work(rows: slice) -> None:
            for panel in panels:
                np.matmul(root[rows, : panel.stop], inverse_root[panel, : panel.stop].T, out=half[rows, panel])
            for panel in panels:
                np.matmul(half[rows, panel.start :], inverse_root[panel.start :, panel], out=whole[rows, panel])

        for_each(work, shares(len(root)), operations=2.0 * root.size * root.shape[1])
        return whole, total_square(half)

    @property
    def half_of_inverse(self) -> Floats:
        """The inverse with zeros on one side of the diagonal."""
        return self._inverse.T


class DeviceFactored:
    """The same on a device, by the linear algebra of its package: one Cholesky factorization, one inverse, and products."""

    def __init__(self, matrix: Any, ridge: float) -> None:
        xp, self.ridge = namespace(matrix), ridge
        lower = cholesky_of_nearly_singular_on_device(with_raised_diagonal(matrix, np.full(matrix.shape[0], ridge)))
        self._root = inverse_of_lower_on_device(lower)
        diagonal = to_host(xp.linalg.diagonal(lower))
        self.log_determinant = float(np.log(diagonal**2 / ridge).sum())
        self.freedom = matrix.shape[0] - ridge * total_square(self._root)

    def solve(self, right: Any) -> Any:
        """Return (S + rho I)^-1 right."""
        return self._root.T @ (self._root @ right)

    def shrunk(self, root: Any) -> tuple[Any, float]:
        """Return A (S + rho I)^-1 for a root A of S, and the sum of e/(e + rho) over the eigenvalues of S."""
        half = root @ self._root.T
        return half @ self._root, total_square(half)

    @property
    def half_of_inverse(self) -> Any:
        """Half of the inverse: sums over pairs count both sides of the diagonal."""
        return 0.5 * (self._root.T @ self._root)
