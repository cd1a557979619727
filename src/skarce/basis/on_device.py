"""Candidates at rows on a device: kernels, inputs, and transformers that support the array API. They are evaluated there, in double
precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.utils import get_tags

from skarce._device import device_of, doubles, joined, namespace, package_of, placed, rows_at_a_time, taken, to_device, where
from skarce._parallel import slices
from skarce._scales import CANDIDATES, CANDIDATES_IN_RANGE
from skarce._typing import Floats
from skarce.basis.kernels import (
    FAR,
    LARGEST_EXPONENT,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Rbf,
    Sigmoid,
    UserKernel,
)

Values = Callable[[Any, Any, Any], Any]  # (kernel, rows, centers) -> k(rows[i], centers[j]), all on one device


class DeviceEvaluation:
    """Some functions at rows on a device. Phi is not kept; rows of it are computed on demand, and stay on the device.

    Attributes
    ----------
    n_rows : the number of rows
    n_candidates : the number of functions
    """

    def __init__(self, X: Any, n_candidates: int, values: Callable[[Any], Any]) -> None:
        self._X, self._values = X, values
        self.n_rows, self.n_candidates = X.shape[0], n_candidates

    def values(self, rows: slice) -> Any:
        """Return Phi[rows] in double precision, as an array that may be overwritten."""
        return self._values(doubles(self._X[rows, :]))

    def selected(self, indices: Any) -> DeviceEvaluation:
        """Return the same with some of the functions."""
        return DeviceEvaluation(self._X, len(indices), lambda rows: taken(self._values(rows), indices, axis=1))

    def times(self, mixing: Floats) -> DeviceEvaluation:
        """Return mixtures of the functions, Phi M, with a matrix M in memory."""
        mixed = placed(mixing, namespace(self._X), device_of(self._X))
        return DeviceEvaluation(self._X, mixing.shape[1], lambda rows: self._values(rows) @ mixed)

    def parts(self) -> list[slice]:
        """Return slices of the rows such that Phi of one of them fits."""
        return slices(self.n_rows, rows_at_a_time(self._X, self.n_candidates))

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield slices of the rows, and Phi at each."""
        for rows in self.parts():
            yield rows, self.values(rows)


def kernels_on_device(kernel: Kernel, X: Any, centers: Floats) -> DeviceEvaluation:
    """Return kernels between rows on a device and centers in memory. The centers are copied to the device."""
    at = placed(centers.astype(np.float64), namespace(X), device_of(X))
    values = SHAPES[type(kernel)]

    def checked(rows: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):  # of packages that use NumPy inside
            phi = values(kernel, rows, at)
        if not kernel.is_bounded:
            check_range(phi)
        return phi

    return DeviceEvaluation(X, len(centers), checked)


def inputs_on_device(X: Any) -> DeviceEvaluation:
    """Return the inputs themselves as candidates."""
    xp = namespace(X)
    return DeviceEvaluation(X, X.shape[1], lambda rows: xp.asarray(rows, copy=True))


def works_on_device(transformer: Any) -> bool:
    """Tell whether a transformer of scikit-learn supports the array API, and so do all steps if it is a pipeline."""
    steps = getattr(transformer, "steps", None)
    if steps is not None:
        return all(step in (None, "passthrough") or works_on_device(step) for _, step in steps)
    return bool(getattr(get_tags(transformer), "array_api_support", False))


def transformer_on_device(transformer: Any, X: Any, n_candidates: int) -> DeviceEvaluation:
    """Return the output columns of a transformer that was fitted in memory. Its numbers are copied to the device."""
    there = _moved(transformer, X)

    def values(rows: Any) -> Any:
        with config_context(array_api_dispatch=True):
            phi = there.transform(namespace(rows).asarray(rows, copy=True))  # with copy=False it works in place
        if package_of(phi) != package_of(rows) or device_of(phi) != device_of(rows):
            raise TypeError(
                f"{type(transformer).__name__} must return {where(rows)}, like its inputs, but its answer is {where(phi)}."
            )
        phi = doubles(phi)
        check_range(phi)
        return phi

    return DeviceEvaluation(X, n_candidates, values)


def _moved(transformer: Any, like: Any) -> Any:
    """Return a copy of a fitted transformer whose arrays of real numbers are on the device of an array."""
    moved = copy(transformer)
    for name, value in vars(transformer).items():
        if name == "steps":
            moved.steps = [(step, _moved(part, like) if hasattr(part, "transform") else part) for step, part in value]
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            setattr(moved, name, placed(value, namespace(like), device_of(like)))
    return moved


def check_range(phi: Any) -> None:
    """Raise a ValueError if candidates on a device are not finite, or too large."""
    largest = float(namespace(phi).max(abs(phi))) if phi.shape[0] else 0.0
    if not largest <= CANDIDATES.largest:
        raise ValueError(f"a candidate has a value of {largest:.3g} at a row, but {CANDIDATES_IN_RANGE}")


def _distances(kernel: Any, rows: Any, centers: Any) -> Any:
    """Return minus squared distances of scaled inputs, by one matrix product, as `kernels` does."""
    xp = namespace(rows)
    u, v = _scaled(kernel, rows), _scaled(kernel, centers)
    u_squares, v_squares = xp.sum(u * u, axis=1)[:, None], xp.sum(v * v, axis=1)[:, None]
    left = joined([u * np.sqrt(2.0).item(), -u_squares, xp.ones_like(u_squares)], axis=1)
    right = joined([v * np.sqrt(2.0).item(), xp.ones_like(v_squares), -v_squares], axis=1)
    return xp.clip(left @ right.T, max=0.0)


def _scaled(kernel: Any, rows: Any) -> Any:
    """Return inputs in units of the width. Those that are far away come near enough that squares do not overflow."""
    xp, far = namespace(rows), FAR["d"] / max(1.0, rows.shape[1] ** 0.5)
    scale = np.broadcast_to(kernel.scale, rows.shape[1]).astype(np.float64)
    moved = (rows - to_device(kernel.origin.astype(np.float64), rows)) * to_device(scale, rows)
    return xp.clip(moved, min=-far, max=far)


def _rbf(kernel: Rbf, rows: Any, centers: Any) -> Any:
    return namespace(rows).exp(_distances(kernel, rows, centers))


def _matern(kernel: Any, rows: Any, centers: Any) -> Any:
    xp = namespace(rows)
    s = xp.clip(xp.sqrt(-2.0 * kernel.nu2 * _distances(kernel, rows, centers)), max=LARGEST_EXPONENT)
    return (1.0 + s if kernel.nu2 == 3 else 1.0 + s + s * s / 3.0) * xp.exp(-s)


def _laplacian(kernel: Laplacian, rows: Any, centers: Any) -> Any:
    xp = namespace(rows)
    scale = to_device(np.broadcast_to(kernel.scale, rows.shape[1]).astype(np.float64), rows)
    u, v = (xp.clip(values * scale, min=-FAR["d"], max=FAR["d"]) for values in (rows, centers))
    total = xp.zeros((rows.shape[0], centers.shape[0]), dtype=rows.dtype, device=device_of(rows))
    for place in range(rows.shape[1]):
        total -= abs(u[:, place][:, None] - v[:, place][None, :])
    return xp.exp(total)


def _linear(kernel: Any, rows: Any, centers: Any) -> Any:
    return rows @ (centers * kernel.gamma).T


def _polynomial(kernel: Polynomial, rows: Any, centers: Any) -> Any:
    return (_linear(kernel, rows, centers) + kernel.coef0) ** float(kernel.degree)


def _sigmoid(kernel: Sigmoid, rows: Any, centers: Any) -> Any:
    return namespace(rows).tanh(_linear(kernel, rows, centers) + kernel.coef0)


def _cosine(kernel: Cosine, rows: Any, centers: Any) -> Any:
    return _unit(rows) @ _unit(centers).T


def _unit(rows: Any) -> Any:
    """Return rows of unit length. They are brought near one first, because their squares might overflow."""
    xp = namespace(rows)
    sizes = xp.max(abs(rows), axis=1, keepdims=True)
    near = rows / xp.where(sizes > 0.0, sizes, xp.ones_like(sizes))
    norms = xp.sqrt(xp.sum(near * near, axis=1, keepdims=True))
    return near / xp.where(norms > 0.0, norms, xp.ones_like(norms))


def _user(kernel: UserKernel, rows: Any, centers: Any) -> Any:
    """Call the function of the user on arrays on the device. It must answer there."""
    values = kernel.function(rows, centers, **kernel.params)
    if package_of(values) != package_of(rows) or device_of(values) != device_of(rows):
        raise TypeError(f"the kernel function must return {where(rows)}, like its inputs, but its answer is {where(values)}.")
    if tuple(values.shape) != (rows.shape[0], centers.shape[0]):
        raise ValueError(
            f"the kernel function must return shape {(rows.shape[0], centers.shape[0])} for {rows.shape[0]} rows and "
            f"{centers.shape[0]} centers, got {tuple(values.shape)}."
        )
    return doubles(values)


SHAPES: dict[type, Values] = {
    Rbf: _rbf,
    Matern32: _matern,
    Matern52: _matern,
    Laplacian: _laplacian,
    Polynomial: _polynomial,
    Linear: _linear,
    Sigmoid: _sigmoid,
    Cosine: _cosine,
    UserKernel: _user,
}
