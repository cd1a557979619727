r"""Kernels, evaluated in place on blocks.

A kernel prepares rows and centers once (scaling, squared norms). Then it writes blocks of any size into existing memory: no
temporary array is larger than one block, and single precision stays single precision.

==============  ==========================================================
``rbf``         exp(-gamma \|x - c\|^2)
``laplacian``   exp(-gamma \|x - c\|_1)
``matern32``    (1 + sqrt(3) s) exp(-sqrt(3) s), s = sqrt(2 gamma) \|x - c\|
``matern52``    (1 + sqrt(5) s + 5 s^2 / 3) exp(-sqrt(5) s)
``polynomial``  (gamma x'c + coef0)^degree
``linear``      x'c
``sigmoid``     tanh(gamma x'c + coef0)
``cosine``      x'c / (\|x\| \|c\|)
==============  ==========================================================

If there is one gamma per input (distance kernels only), gamma_p multiplies the p-th squared difference (the p-th absolute
difference in ``laplacian``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from sklearn.utils.extmath import row_norms

from skarce._typing import Floats
from skarce.basis import fused

# Scaled inputs farther than this from the origin have a distance kernel of zero, and their squares do not overflow.
FAR = {"d": 1e100, "f": 1e15}
LARGEST_EXPONENT = 800.0  # exp(-800) is zero in double precision


class Kernel(Protocol):
    """A function k(x, c) that fills blocks.

    Attributes
    ----------
    is_bounded : bool
        Whether no value is above 1 in size, whatever the inputs are.
    """

    is_bounded: ClassVar[bool]

    def prepare_rows(self, X: Floats) -> Floats:
        """Return the rows in the form that `fill` takes."""
        ...

    def prepare_centers(self, centers: Floats) -> Floats:
        """Return the centers in the form that `fill` takes."""
        ...

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        """Write k(rows[i], centers[j]) into out[i, j], for prepared rows and centers."""
        ...

    def diagonal(self, X: Floats) -> Floats:
        """Return k(x, x) for every row of X."""
        ...


@runtime_checkable
class Decaying(Kernel, Protocol):
    """A kernel that falls with the distance of a row and a center, below any share of its largest value.

    With the depth a of a distance, the kernel at depth a + b is at most k(a) k(b). So whatever lies b deeper than the nearest row
    has at most k(b) times the kernel of the nearest row.
    """

    def coordinates(self, prepared: Floats) -> Floats:
        """Return the scaled inputs among the terms of prepared rows or centers."""
        ...

    def separation(self, differences: Floats) -> Floats:
        """Return what differences of scaled inputs contribute to the separation of two points, which is a sum over the inputs."""
        ...

    def depth(self, separations: Floats) -> Floats:
        """Return the depths of separations."""
        ...

    def reach(self, share: float) -> float:
        """Return the difference in one scaled input at which the kernel is this share of its largest value."""
        ...


@dataclass(frozen=True)
class _Distance:
    """Base of kernels of squared distances: one matrix product gives -|u - v|^2 of the scaled inputs.

    Prepared rows are [sqrt(2) u, -|u|^2, 1] and prepared centers [sqrt(2) v, 1, -|v|^2], so that their product is the negative
    squared distance. First `origin` is subtracted from the inputs: distances stay the same, and rounding errors shrink.
    """

    scale: Floats  # factor of the inputs: sqrt(gamma), one number or one per input
    origin: Floats

    is_bounded: ClassVar[bool] = True

    def prepare_rows(self, X: Floats) -> Floats:
        return self._augmented(X, first=-1.0)

    def prepare_centers(self, centers: Floats) -> Floats:
        return self._augmented(centers, first=1.0)

    def _augmented(self, X: Floats, first: float) -> Floats:
        n, d = X.shape
        prepared = np.empty((n, d + 2), dtype=X.dtype)
        scaled = prepared[:, :d]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(X, self.origin, out=scaled, casting="same_kind")
            scaled *= np.asarray(self.scale, dtype=X.dtype)
            squares = _negative_squares(scaled)
        if not squares.min(initial=0.0) > -(FAR[X.dtype.char] ** 2):
            self._move_near(X, scaled)
            squares = _negative_squares(scaled)
        prepared[:, d] = squares if first < 0 else 1.0
        prepared[:, d + 1] = 1.0 if first < 0 else squares
        scaled *= X.dtype.type(np.sqrt(2.0))
        return prepared

    def _move_near(self, X: Floats, scaled: Floats) -> None:
        """Bring rows that are so far away that their squared distances overflow to where the kernel is zero all the same."""
        far = FAR[X.dtype.char] / max(1.0, np.sqrt(X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.subtract(X, self.origin, dtype=np.float64) * np.broadcast_to(self.scale, X.shape[1])
        # An input of scale 0 does not matter, however large it is: infinity times zero is then zero.
        np.copyto(scaled, np.clip(np.nan_to_num(steps, nan=0.0), -far, far), casting="same_kind")

    def diagonal(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def coordinates(self, prepared: Floats) -> Floats:
        return prepared[:, :-2]

    def separation(self, differences: Floats) -> Floats:
        return np.multiply(differences, 0.5 * differences)

    def depth(self, separations: Floats) -> Floats:
        return separations

    def reach(self, share: float) -> float:
        return float(np.sqrt(-2.0 * np.log(share)))


def _negative_squares(scaled: Floats) -> Floats:
    """Return -|u|^2 of each row."""
    return -np.einsum("ij,ij->i", scaled, scaled)


class Rbf(_Distance):
    """exp(-gamma |x - c|^2)."""

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        if fused.suits(rows, centers):
            fused.fill(rows, centers, out)
            return
        np.matmul(rows, centers.T, out=out)
        # If squares are large, their rounding may make a squared distance negative.
        if out.dtype != np.float64 or rows[:, -2].min(initial=0.0) < -1e6:
            np.minimum(out, 0.0, out=out)
        np.exp(out, out=out)


class _Matern(_Distance):
    nu2: int = 3

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        np.matmul(rows, centers.T, out=out)
        np.minimum(out, 0.0, out=out)
        np.multiply(out, -2.0 * self.nu2, out=out)
        np.sqrt(out, out=out)  # sqrt(nu2) s: the scaled inputs give gamma |x - c|^2, and s^2 is twice that
        np.minimum(out, LARGEST_EXPONENT, out=out)  # the kernel is zero from here on, and powers of the distance may overflow
        decay = np.exp(-out)
        if self.nu2 == 3:
            out += 1.0
        else:
            np.add(out, 1.0 + out * out / 3.0, out=out)
        out *= decay

    def depth(self, separations: Floats) -> Floats:
        return np.sqrt(2.0 * self.nu2 * separations)

    def reach(self, share: float) -> float:
        depth = least = -float(np.log(share))
        for _ in range(60):  # exp(-a) (1 + a) = share, or with a^2 / 3 for nu2 = 5: each step brings a closer
            depth = least + float(np.log1p(depth if self.nu2 == 3 else depth + depth * depth / 3.0))
        return depth / float(np.sqrt(self.nu2))


class Matern32(_Matern):
    """(1 + sqrt(3) s) exp(-sqrt(3) s): once differentiable."""

    nu2 = 3


class Matern52(_Matern):
    """(1 + sqrt(5) s + 5 s^2 / 3) exp(-sqrt(5) s): twice differentiable."""

    nu2 = 5


@dataclass(frozen=True)
class Laplacian:
    """exp(-gamma |x - c|_1). Differences are taken one input at a time, so that no (rows, centers, inputs) array exists."""

    scale: Floats  # gamma, one number or one per input

    is_bounded: ClassVar[bool] = True

    def prepare_rows(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            scaled = (X * np.asarray(self.scale, dtype=X.dtype)).astype(X.dtype, copy=False)
        far = FAR[X.dtype.char]
        return np.clip(scaled, -far, far)  # the kernel is zero there, and differences do not overflow

    prepare_centers = prepare_rows

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        out[...] = 0.0
        part = np.empty(out.shape, dtype=out.dtype)
        for x, c in zip(rows.T, centers.T, strict=True):
            np.subtract.outer(x, c, out=part)
            np.abs(part, out=part)
            out -= part
        np.exp(out, out=out)

    def diagonal(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def coordinates(self, prepared: Floats) -> Floats:
        return prepared

    def separation(self, differences: Floats) -> Floats:
        return np.abs(differences)

    def depth(self, separations: Floats) -> Floats:
        return separations

    def reach(self, share: float) -> float:
        return -float(np.log(share))


@dataclass(frozen=True)
class Polynomial:
    """(gamma x'c + coef0)^degree."""

    gamma: float = 1.0
    coef0: float = 1.0
    degree: float = 3

    is_bounded: ClassVar[bool] = False

    def prepare_rows(self, X: Floats) -> Floats:
        return X

    def prepare_centers(self, centers: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            return (centers * self.gamma).astype(centers.dtype, copy=False)

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        with np.errstate(all="ignore"):  # who uses the values checks that they are finite
            np.matmul(rows, centers.T, out=out)
            self._shape(out)

    def diagonal(self, X: Floats) -> Floats:
        with np.errstate(all="ignore"):
            values = self.gamma * row_norms(X, squared=True).astype(np.float64)
            self._shape(values)
        return values

    def _shape(self, values: Floats) -> None:
        values += self.coef0
        np.power(values, self.degree, out=values)


class Sigmoid(Polynomial):
    """tanh(gamma x'c + coef0)."""

    def _shape(self, values: Floats) -> None:
        values += self.coef0
        np.tanh(values, out=values)


class Linear(Polynomial):
    """x'c."""

    def _shape(self, values: Floats) -> None:
        pass


@dataclass(frozen=True)
class Cosine:
    """x'c of inputs scaled to unit length. Rows that are zero stay zero."""

    is_bounded: ClassVar[bool] = True

    def prepare_rows(self, X: Floats) -> Floats:
        sizes = np.abs(X).max(axis=1, initial=0.0, keepdims=True)  # rows near one first: their squares would overflow or underflow
        scaled = X / np.where(sizes > 0.0, sizes, 1.0).astype(X.dtype)
        norms = row_norms(scaled)[:, None]
        return scaled / np.where(norms > 0.0, norms, 1.0).astype(X.dtype)

    prepare_centers = prepare_rows

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        np.matmul(rows, centers.T, out=out)

    def diagonal(self, X: Floats) -> Floats:
        return (np.abs(X).max(axis=1, initial=0.0) > 0.0).astype(np.float64)


@dataclass(frozen=True)
class UserKernel:
    """A callable k(X, C) that returns an array of shape (n, m)."""

    function: Callable[..., Any]
    params: dict[str, Any] = field(default_factory=dict)

    is_bounded: ClassVar[bool] = False

    def prepare_rows(self, X: Floats) -> Floats:
        return X

    def prepare_centers(self, centers: Floats) -> Floats:
        return centers

    def fill(self, rows: Floats, centers: Floats, out: Floats) -> None:
        out[...] = self._values(rows, centers)

    def diagonal(self, X: Floats) -> Floats:
        return np.array([float(self._values(x[None], x[None])[0, 0]) for x in X])

    def _values(self, rows: Floats, centers: Floats) -> Floats:
        """Call the function, and raise a ValueError unless it returns finite real numbers in the right shape."""
        values = np.asarray(self.function(rows, centers, **self.params))
        if values.shape != (len(rows), len(centers)):
            raise ValueError(
                f"the kernel function must return shape {(len(rows), len(centers))} for {len(rows)} rows and {len(centers)} "
                f"centers, got {values.shape}."
            )
        if values.dtype.kind not in "fiub":
            raise ValueError(f"the kernel function must return real numbers, got an array of type {values.dtype}.")
        if not np.isfinite(values).all():
            row, center = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"the kernel function returned {values[row, center]}; every kernel must be finite.")
        return values


DISTANCE_KERNELS = {"rbf": Rbf, "laplacian": Laplacian, "matern32": Matern32, "matern52": Matern52}
PRODUCT_KERNELS = {"polynomial": Polynomial, "linear": Linear, "sigmoid": Sigmoid, "cosine": Cosine}
OTHER_NAMES = {"poly": "polynomial"}  # as in scikit-learn's support vector machines


def make_kernel(
    name: str | Callable[..., Any],
    gamma: Any,
    degree: float,
    coef0: float,
    params: dict[str, Any] | None,
    origin: Floats,
) -> Kernel:
    """Return the kernel of that name with its parameters, or a wrapped callable."""
    if callable(name):
        return UserKernel(name, dict(params or {}))
    if name == "laplacian":
        return Laplacian(np.asarray(gamma))
    if name in DISTANCE_KERNELS:
        return DISTANCE_KERNELS[name](np.sqrt(np.asarray(gamma, dtype=np.float64)), origin)
    if name == "cosine":
        return Cosine()
    if name == "linear":
        return Linear()
    return PRODUCT_KERNELS[name](float(gamma), coef0, degree)
