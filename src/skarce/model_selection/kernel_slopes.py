r"""Distance kernels, their slopes, and sums over pairs of rows and centers that need no array of pairs for each input.

All four kernels are functions of :math:`q_{ij} = \sum_p g_p\,\delta_p(x_i, c_j)`, with squared differences
:math:`\delta_p = (x_{ip} - c_{jp})^2`, or absolute differences for the Laplacian:

==============  ======================================  ===========================
kernel          value                                   slope in q
==============  ======================================  ===========================
``rbf``         exp(-q)                                 -exp(-q)
``laplacian``   exp(-q)                                 -exp(-q)
``matern32``    (1 + z) exp(-z), z = sqrt(6 q)          -3 exp(-z)
``matern52``    (1 + z + z^2/3) exp(-z), z = sqrt(10 q)  -5/3 (1 + z) exp(-z)
==============  ======================================  ===========================

The derivative of a value in :math:`\log g_p` is the slope times :math:`g_p\,\delta_p`.
"""

from __future__ import annotations

import numpy as np

from skarce._parallel import for_each, shares
from skarce._typing import Floats

NAMES = ("rbf", "laplacian", "matern32", "matern52")


class KernelSlopes:
    """One of the four kernels between rows (n, d) and centers (m, d), as a function of the widths, one for each input."""

    def __init__(self, name: str, rows: Floats, centers: Floats) -> None:
        self._name, self._rows, self._centers = name, rows, centers
        self._squares = rows**2, centers**2

    def values_and_slopes(self, widths: Floats) -> tuple[Floats, Floats]:
        """Return Phi and its slope in q, both of shape (n, m)."""
        phi, slope = np.empty((2, len(self._rows), len(self._centers)))

        def work(part: slice) -> None:
            if self._name == "laplacian":
                self._absolute_distances(widths, part, phi[part])
            else:
                self._squared_distances(widths, part, phi[part])
            _shape(self._name, phi[part], slope[part])

        for_each(work, shares(len(phi)), operations=20.0 * phi.size)
        return phi, slope

    def sums_over_pairs(self, factors: Floats) -> Floats:
        r"""Return :math:`\sum_{ij} E_{ij}\,\delta_p(x_i, c_j)` for each input p, from products with X and C (SSGE errata 5.5)."""
        if self._name == "laplacian":
            return self._sums_of_absolute(factors)
        by_row, by_center = factors.sum(axis=1), factors.sum(axis=0)
        mixed = np.einsum("ip,ip->p", self._rows, factors @ self._centers)
        return by_row @ self._squares[0] + by_center @ self._squares[1] - 2.0 * mixed

    def _squared_distances(self, widths: Floats, part: slice, out: Floats) -> None:
        np.matmul(self._rows[part] * (-2.0 * widths), self._centers.T, out=out)
        out += (self._squares[0][part] @ widths)[:, None]
        out += self._squares[1] @ widths
        np.maximum(out, 0.0, out=out)

    def _absolute_distances(self, widths: Floats, part: slice, out: Floats) -> None:
        out[...] = 0.0
        difference = np.empty_like(out)
        for width, x, c in zip(widths, self._rows[part].T, self._centers.T, strict=True):
            np.subtract.outer(width * x, width * c, out=difference)
            np.abs(difference, out=difference)
            out += difference

    def _sums_of_absolute(self, factors: Floats) -> Floats:
        sums, difference = np.empty(self._rows.shape[1]), np.empty_like(factors)
        for p, (x, c) in enumerate(zip(self._rows.T, self._centers.T, strict=True)):
            np.subtract.outer(x, c, out=difference)
            np.abs(difference, out=difference)
            sums[p] = np.vdot(factors, difference)
        return sums


def _shape(name: str, out: Floats, slope: Floats) -> None:
    """Replace q, which is in `out`, by the value of the kernel, and write the slope into `slope`."""
    if name in ("rbf", "laplacian"):
        np.exp(np.negative(out, out=out), out=out)
        np.negative(out, out=slope)
        return
    z = np.sqrt(np.multiply(out, 6.0 if name == "matern32" else 10.0, out=out), out=out)
    decay = np.exp(-z)
    if name == "matern32":
        np.multiply(decay, -3.0, out=slope)
        out += 1.0
    else:
        np.multiply(decay, 1.0 + z, out=slope)
        slope *= -5.0 / 3.0
        np.add(out, 1.0 + out * out / 3.0, out=out)
    out *= decay
