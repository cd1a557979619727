"""Small dense linear algebra: a Cholesky factor that grows and shrinks, and direct calls of LAPACK.

The active block is small (tens to hundreds), so call overhead matters as much as arithmetic. These functions call LAPACK directly.
They do not check for NaN or infinity: whoever owns the data does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from skarce._device import device_of, is_on_device, namespace, package_of, to_device
from skarce._typing import Floats

RISES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6)  # relative increases of the diagonal, tried in turn on a nearly singular matrix
# The diagonal rules from some rise on, so that one of these always works if the matrix is finite and its diagonal positive.
SURE_RISES = (*RISES, 1e-4, 1e-2, 1.0, 1e2, 1e4)

SPEED = 5e9  # floating-point operations per second that one core has at least, for estimates of long steps
LARGE = 256  # with more rows, half of a symmetric product is computed and mirrored


class NotPositiveDefiniteError(ArithmeticError):
    """A pivot of a Cholesky factorization is negative or zero: the columns are dependent to working precision."""


def cholesky(matrix: Floats, ridges: Floats | None = None) -> Floats:
    """Return the lower factor L with L L' = matrix, or with `ridges` added to its diagonal.

    Raise `NotPositiveDefiniteError` if there is none. The matrix stays as it is.
    """
    if not len(matrix):
        return np.empty((0, 0))
    factor = np.array(matrix, order="F")  # the memory order that LAPACK overwrites
    if ridges is not None:
        factor.T.reshape(-1)[:: len(factor) + 1] += ridges
    factor, info = lapack.dpotrf(factor, lower=1, clean=1, overwrite_a=1)
    if info != 0:
        raise NotPositiveDefiniteError(f"leading minor {info} of a {matrix.shape} matrix is not positive")
    return factor


def cholesky_on_device(matrix: Any) -> Any:
    """Return the lower factor of a matrix on a device. Raise `NotPositiveDefiniteError` if there is none."""
    xp = namespace(matrix)
    try:
        lower = xp.linalg.cholesky(matrix)
    except Exception as error:  # packages have errors of their own for matrices that are not positive definite
        if "positive" not in str(error).lower() and "LinAlg" not in type(error).__name__:
            raise
        raise NotPositiveDefiniteError(str(error)) from None
    if not bool(xp.all(xp.isfinite(xp.linalg.diagonal(lower)))):  # some packages return NaN instead
        raise NotPositiveDefiniteError("a matrix on a device is not positive definite")
    return lower


def cholesky_of_nearly_singular(
    matrix: Floats, rises: Sequence[float] = SURE_RISES, factorize: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Factorize a matrix that rounding may have made singular. Raise its diagonal by the smallest amount that works.

    A factorization that succeeded in the order in which functions entered may fail by rounding in the order of their indices.
    Kernels in single precision are symmetric to seven digits only, and so are matrices made from them. The diagonal of `matrix`
    is overwritten.
    """
    diagonal = matrix.diagonal().copy()
    for rise in rises:
        matrix.flat[:: len(matrix) + 1] = diagonal * (1.0 + rise)
        try:
            return (factorize or cholesky)(matrix)
        except NotPositiveDefiniteError:
            continue
    raise NotPositiveDefiniteError(f"columns are dependent: raising the diagonal by a share of {rises[-1]:g} does not help")


def cholesky_of_nearly_singular_on_device(matrix: Any, rises: Sequence[float] = SURE_RISES) -> Any:
    """Do the same for a matrix on a device, which stays as it is."""
    eye = namespace(matrix).eye(matrix.shape[0], dtype=matrix.dtype, device=device_of(matrix))
    for rise in rises:
        try:
            return cholesky_on_device(matrix * (1.0 + rise * eye) if rise else matrix)
        except NotPositiveDefiniteError:
            continue
    raise NotPositiveDefiniteError(f"columns are dependent: raising the diagonal by a share of {rises[-1]:g} does not help")


def cholesky_of_copy(matrix: Floats) -> Floats:
    """Return the lower factor of a symmetric matrix; the entries above its diagonal are arbitrary. Saves one copy."""
    # The matrix is symmetric, so its transpose is the same matrix in the memory order that LAPACK can overwrite.
    factor, info = lapack.dpotrf(matrix.copy().T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise NotPositiveDefiniteError(f"leading minor {info} of a {matrix.shape} matrix is not positive")
    return factor


def inverse_of_lower(factor: Floats) -> Floats:
    """Return L^-1 of a lower triangular factor with a zero upper half. It works by halves, so matrix products dominate."""
    n = len(factor)
    if n <= 64:
        return _small_inverse_of_lower(factor)
    half = n // 2
    inverse = np.zeros((n, n))
    top = inverse[:half, :half] = inverse_of_lower(factor[:half, :half])
    bottom = inverse[half:, half:] = inverse_of_lower(factor[half:, half:])
    # [[A, 0], [B, C]]^-1 = [[A^-1, 0], [-C^-1 B A^-1, C^-1]]
    inverse[half:, :half] = -bottom @ (factor[half:, :half] @ top)
    return inverse


def inverse_of_lower_on_device(lower: Any) -> Any:
    """Return the inverse of a lower factor on a device. The array API has no triangular solver; PyTorch has one."""
    xp = namespace(lower)
    if package_of(lower) == "torch":
        eye = xp.eye(lower.shape[0], dtype=lower.dtype, device=lower.device)
        return xp.linalg.solve_triangular(lower, eye, upper=False)
    return xp.linalg.inv(lower)


def _small_inverse_of_lower(factor: Floats) -> Floats:
    if not len(factor):
        return np.empty((0, 0))
    inverse, info = lapack.dtrtri(factor, lower=1)
    if info != 0:
        raise NotPositiveDefiniteError(f"diagonal element {info} of a triangular factor is zero")
    return inverse


def solve_lower(factor: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Return L^-1 right, or L^-T right if `transposed`."""
    if not len(factor):
        return np.zeros_like(right)
    solution, _ = lapack.dtrtrs(factor, right, lower=1, trans=int(transposed))
    return solution


def squared_lengths(factor: Floats, rows: Any) -> Any:
    """Return |L^-1 v|^2 for every row v, on the device of the rows."""
    if is_on_device(rows):
        spread = rows @ to_device(inverse_of_lower(factor).T, rows)
        return namespace(rows).sum(spread * spread, axis=1)
    rest = solve_lower(factor, np.ascontiguousarray(rows.T))
    return np.einsum("ai,ai->i", rest, rest)


def lower_product(lower: Floats, right: Floats, out: Floats, *, transposed: bool = False) -> None:
    """Write lower @ right, or lower' @ right, into `out` (C-ordered). With a triangular matrix it is half the work."""
    if transposed and len(lower) <= LARGE:
        np.matmul(lower.T, right, out=out)
        return
    out[:] = right
    if out.size:
        # In Fortran order the rows of out are columns: out' := out' lower', or out' lower.
        blas.dtrmm(1.0, lower, out.T, side=1, lower=1, trans_a=int(not transposed), overwrite_b=1)


def symmetric_product(matrix: Floats, diagonal: Floats) -> Floats:
    """Return S D S of a symmetric matrix S and a diagonal that is not negative. If it is large, half of it is computed."""
    if len(matrix) <= LARGE:
        return np.asarray((matrix * diagonal) @ matrix)
    scaled = matrix * np.sqrt(diagonal)
    return np.asarray(scaled @ scaled.T)  # NumPy computes half of a matrix times its transpose


def add_square(matrix: Floats, factor: float, vector: Floats) -> None:
    """Add factor v v' to a symmetric matrix (C-ordered) in place."""
    if len(vector):
        blas.dger(factor, vector, vector, a=matrix.T, overwrite_a=1)  # BLAS sees the transpose, which is the same matrix


def outer(left: Floats, right: Floats, like: Any) -> Any:
    """Return left right' of two vectors on the host, next to a matrix, wherever that is."""
    return to_device(left, like)[:, None] * to_device(right, like)[None, :]


def with_raised_diagonal(matrix: Any, rise: Floats) -> Any:
    """Return a matrix with a vector on the host added to its diagonal. On the host, the matrix itself changes."""
    if not is_on_device(matrix):
        matrix.flat[:: len(matrix) + 1] += rise
        return matrix
    eye = namespace(matrix).eye(matrix.shape[0], dtype=matrix.dtype, device=device_of(matrix))
    return matrix + eye * to_device(rise, matrix)[:, None]


def squared_lower(lower: Floats) -> Floats:
    """Return L'L of a lower triangular matrix as a full symmetric matrix. If it is large, half of it is computed and mirrored."""
    if len(lower) <= LARGE:
        return lower.T @ lower
    half, _ = lapack.dlauum(lower, lower=1)
    half = np.tril(half)
    diagonal = half.diagonal().copy()
    half += half.T
    half.flat[:: len(half) + 1] = diagonal
    return half


def symmetric_inverse(factor: Floats) -> Floats:
    """Return (L L')^-1 as a full symmetric matrix."""
    if not len(factor):
        return np.empty((0, 0))
    return squared_lower(inverse_of_lower(factor))


def seconds_to_invert(size: int) -> float:
    """Return how long it takes at most to factorize and invert a matrix of this size: about 2 n^3 operations."""
    return 2.0 * float(size) ** 3 / SPEED


class GrowingCholesky:
    """Lower Cholesky factor of a symmetric matrix that changes by one row and column at a time.

    Examples
    --------
    >>> import numpy as np
    >>> factor = GrowingCholesky()
    >>> factor.append(np.array([]), 4.0)
    >>> factor.append(np.array([2.0]), 5.0)
    >>> factor.lower
    array([[2., 0.],
           [1., 2.]])
    """

    def __init__(self, lower: Floats | None = None) -> None:
        self._store = np.zeros((8, 8), order="F")
        self._size = 0
        if lower is not None:
            self._reserve(len(lower))
            self._size = len(lower)
            self._store[: self._size, : self._size] = lower

    def __len__(self) -> int:
        return self._size

    @property
    def lower(self) -> Floats:
        """The factor L. This is a view: copy it before you keep it."""
        return self._store[: self._size, : self._size]

    def solve(self, right: Floats) -> Floats:
        """Return (L L')^-1 right."""
        if not self._size:
            return np.zeros_like(right)
        solution, _ = lapack.dpotrs(self.lower, right, lower=1)
        return solution

    def append(self, column: Floats, diagonal: float) -> None:
        """Add a last row and column to the matrix: `column`, and `diagonal` at the corner. Costs O(size**2)."""
        row = solve_lower(self.lower, column)
        pivot = diagonal - row @ row
        if not pivot > 0.0:
            raise NotPositiveDefiniteError("the appended column lies in the span of the others")
        self.append_row(row, float(np.sqrt(pivot)))

    def append_row(self, row: Floats, pivot: float) -> None:
        """Add a last row to the factor itself, if it is known already."""
        self._reserve(self._size + 1)
        self._store[self._size, : self._size] = row
        self._store[self._size, self._size] = pivot
        self._size += 1

    def remove(self, position: int) -> None:
        """Drop one row and column. Only the part behind it changes: L22 L22' + l l' is factorized again."""
        lower = self.lower
        tail = lower[position + 1 :, position + 1 :]
        left = lower[position + 1 :, position]
        refreshed = cholesky(tail @ tail.T + np.multiply.outer(left, left))
        last = self._size - 1
        self._store[position:last, :position] = lower[position + 1 :, :position].copy()
        self._store[position:last, position:last] = refreshed
        self._store[last, : self._size] = 0.0
        self._store[: self._size, last] = 0.0
        self._size = last

    def shift(self, position: int, amount: float) -> None:
        """Add `amount` to one diagonal element. Only the part from `position` on is factorized again."""
        tail = self.lower[position:, position:]
        changed = tail @ tail.T
        changed[0, 0] += amount
        self._store[position : self._size, position : self._size] = cholesky(changed)

    def _reserve(self, size: int) -> None:
        if size <= len(self._store):
            return
        larger = np.zeros((2 * size, 2 * size), order="F")
        larger[: self._size, : self._size] = self.lower
        self._store = larger
