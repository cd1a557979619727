"""The dense linear algebra of the evidence of widths, where its arrays are: on the cores of the host, or on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from skarce._device import device_of, is_on_device, namespace, to_host
from skarce._linalg import (
    SURE_RISES,
    NotPositiveDefiniteError,
    cholesky_of_nearly_singular,
    cholesky_on_device,
    inverse_of_lower_on_device,
)
from skarce._parallel import add_squares, product
from skarce._typing import Floats


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


def outer_product(left: Any, right: Any) -> Any:
    """Return left right', with a row for each row of both."""
    return left @ right.T if is_on_device(left) else product(left, right.T)


def factored(matrix: Any, ridge: float) -> Factored | DeviceFactored:
    """Factorize S + rho I. The matrix S may be overwritten."""
    return DeviceFactored(matrix, ridge) if is_on_device(matrix) else Factored(matrix, ridge)


class Factored:
    """The Cholesky factor and the inverse of S + rho I, and the determinant of I + S/rho. The matrix S is overwritten."""

    def __init__(self, matrix: Floats, ridge: float) -> None:
        self.ridge = ridge
        matrix.flat[:: len(matrix) + 1] += ridge
        self._lower = cholesky_of_nearly_singular(matrix)
        self._inverse, _ = lapack.dpotri(self._lower, lower=1)
        self.log_determinant = float(np.log(self._lower.diagonal() ** 2 / ridge).sum())
        self.freedom = len(matrix) - ridge * float(self._inverse.trace())  # the sum of e/(e + rho) over the eigenvalues of S

    def solve(self, right: Floats) -> Floats:
        """Return (S + rho I)^-1 right."""
        solution, _ = lapack.dpotrs(self._lower, right, lower=1)
        return solution

    def product_from_right(self, left: Floats) -> Floats:
        """Return left (S + rho I)^-1, from the lower half of the inverse."""
        return blas.dsymm(1.0, self._inverse, left.T, lower=1).T

    @property
    def half_of_inverse(self) -> Floats:
        """The inverse with zeros on one side of the diagonal."""
        return self._inverse.T


class DeviceFactored:
    """The same on a device, by the linear algebra of its package: one Cholesky factorization, one inverse, and products."""

    def __init__(self, matrix: Any, ridge: float) -> None:
        xp, self.ridge = namespace(matrix), ridge
        lower = _raised_cholesky(matrix, ridge)
        self._root = inverse_of_lower_on_device(lower)
        diagonal = to_host(xp.linalg.diagonal(lower))
        self.log_determinant = float(np.log(diagonal**2 / ridge).sum())
        self.freedom = matrix.shape[0] - ridge * total_square(self._root)

    def solve(self, right: Any) -> Any:
        """Return (S + rho I)^-1 right."""
        return self._root.T @ (self._root @ right)

    def product_from_right(self, left: Any) -> Any:
        """Return left (S + rho I)^-1."""
        return (left @ self._root.T) @ self._root

    @property
    def half_of_inverse(self) -> Any:
        """Half of the inverse: sums over pairs count both sides of the diagonal."""
        return 0.5 * (self._root.T @ self._root)


def _raised_cholesky(matrix: Any, ridge: float) -> Any:
    """Return the lower factor of S + rho I. Its diagonal is raised by the smallest share that works, as on the host."""
    eye = namespace(matrix).eye(matrix.shape[0], dtype=matrix.dtype, device=device_of(matrix))
    matrix = matrix + ridge * eye
    for rise in SURE_RISES:
        try:
            return cholesky_on_device(matrix * (1.0 + rise * eye) if rise else matrix)
        except NotPositiveDefiniteError:
            continue
    raise NotPositiveDefiniteError("columns are dependent: raising the diagonal does not help")
