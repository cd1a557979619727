"""Distance kernels and their slopes on a device, as `kernel_slopes` has them on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._device import at_least, device_of, namespace, placed, to_device, to_host
from skarce._typing import Floats
from skarce.model_selection.kernel_slopes import KernelSlopes


class DeviceKernelSlopes(KernelSlopes):
    """One of the four kernels between rows and centers. Their pairs are on a device, all else is on the host."""

    def __init__(self, name: str, rows: Floats, centers: Floats, like: Any) -> None:
        xp, device = namespace(like), device_of(like)
        self._name = name
        self._rows, self._centers = placed(rows, xp, device), placed(centers, xp, device)
        self._squares = self._rows**2, self._centers**2

    def values_and_slopes(self, widths: Floats) -> tuple[Any, Any]:
        """Return Phi and its slope in q on the device, both of shape (n, m)."""
        at = to_device(np.ascontiguousarray(widths), self._rows)
        return _shape(self._name, self._absolute(at) if self._name == "laplacian" else self._squared(at))

    def sums_over_pairs(self, factors: Any) -> Floats:
        """Return the sums for each input, on the host."""
        xp = namespace(factors)
        if self._name == "laplacian":
            return np.array([float(xp.sum(factors * difference)) for difference in self._differences()])
        by_row, by_center = xp.sum(factors, axis=1), xp.sum(factors, axis=0)
        mixed = xp.sum(self._rows * (factors @ self._centers), axis=0)
        return to_host(by_row @ self._squares[0] + by_center @ self._squares[1] - 2.0 * mixed)

    def _squared(self, widths: Any) -> Any:
        distances = (self._rows * (-2.0 * widths)) @ self._centers.T
        distances += (self._squares[0] @ widths)[:, None]
        distances += (self._squares[1] @ widths)[None, :]
        return at_least(distances, 0.0)

    def _absolute(self, widths: Any) -> Any:
        total: Any = 0.0
        for place, difference in enumerate(self._differences()):
            total = difference * widths[place] + total
        return total

    def _differences(self) -> Any:
        """Yield absolute differences of all pairs, one input at a time."""
        for place in range(self._rows.shape[1]):
            yield abs(self._rows[:, place][:, None] - self._centers[:, place][None, :])


def _shape(name: str, q: Any) -> tuple[Any, Any]:
    """Return value and slope of the kernel at q."""
    xp = namespace(q)
    if name in ("rbf", "laplacian"):
        phi = xp.exp(-q)
        return phi, -phi
    z = xp.sqrt(q * (6.0 if name == "matern32" else 10.0))
    decay = xp.exp(-z)
    if name == "matern32":
        return (1.0 + z) * decay, -3.0 * decay
    return (1.0 + z + z * z / 3.0) * decay, (-5.0 / 3.0) * (1.0 + z) * decay
