r"""Ridge regression in orthonormal coordinates, for functions that are so nearly dependent that H loses digits.

With the coordinates R of the active functions, the full factorization

.. math:: \begin{pmatrix} R \\ \Lambda^{1/2} \end{pmatrix} = \begin{pmatrix} Q_1 & N \\ Q_2 & \cdot \end{pmatrix}
    \begin{pmatrix} T \\ 0 \end{pmatrix}

gives :math:`H = T^TT` and :math:`I - RH^{-1}R^T = NN^T` without a difference of numbers that are nearly equal. With
:math:`\varphi = Qc + e` and :math:`t = Qz + s` follow

.. math::
    \varphi^TP\varphi = |e|^2 + |N^Tc|^2, \quad \varphi^TP^2\varphi = |e|^2 + |NN^Tc|^2, \quad
    \varphi^TPt = s^Te + (N^Tz)^T(N^Tc), \quad \varphi^TP^2t = s^Te + (NN^Tz)^T(NN^Tc).

With L active functions and M candidates this costs O(L^2 M + L^3), and no pass over the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import solve_lower
from skarce._typing import Floats, Indices
from skarce.states.coordinates import Frame

PANEL = 64  # columns that LAPACK works on at a time


class Covered(NamedTuple):
    """What ridge regression on the active functions leaves of every candidate.

    Attributes
    ----------
    leftover : phi'P phi
    alignment : phi'P t
    remainder : phi'P^2 phi
    overlap : phi'P^2 t
    """

    leftover: Floats
    alignment: Floats
    remainder: Floats
    overlap: Floats


class RidgeFit:
    """Ridge regression on functions with coordinates R.

    Parameters
    ----------
    coordinates : array of shape (n_directions, n_active)
        R, the coordinates of the functions.
    target : array of shape (n_directions,)
        z, the coordinates of the target.
    rest : float
        |s|^2, the energy of the target outside the directions.
    ridges : array of shape (n_active,)
        The diagonal of Lambda.

    Attributes
    ----------
    lower : array of shape (n_active, n_active)
        The Cholesky factor of H, found without H.
    weights : array of shape (n_active,)
        w = H^-1 Phi_A't.
    residual : float
        t'P^2 t.
    penalty : float
        w'Lambda w.
    """

    def __init__(self, coordinates: Floats, target: Floats, rest: float, ridges: Floats) -> None:
        n_directions, size = self._shape = coordinates.shape
        stacked = np.zeros((n_directions + size, size), order="F")
        stacked[:n_directions] = coordinates
        stacked[range(n_directions, n_directions + size), range(size)] = np.sqrt(ridges)
        self._reflectors, self._factors, _, _ = lapack.dgeqrf(stacked, lwork=PANEL * size, overwrite_a=1)
        upper = np.triu(self._reflectors[:size])
        # The Cholesky factor is unique: its diagonal is positive.
        self._signs = np.where(upper.diagonal() < 0.0, -1.0, 1.0)
        self.lower = upper.T * self._signs
        turned = self._turned(np.append(target, np.zeros(size)), transposed=True)
        self.weights = solve_lower(self.lower, self._signs * turned[:size], transposed=True)
        # P t = s + Q N N'z
        turned[:size] = 0.0
        left = self._turned(turned, transposed=False)[:n_directions]
        self.residual = rest + float(left @ left)
        self.penalty = float(ridges @ self.weights**2)

    @classmethod
    def of(cls, frame: Frame, active: Indices, ridges: Floats) -> RidgeFit:
        """Return ridge regression on these functions, which the directions must span."""
        return cls(frame.candidates[:, active], frame.target, frame.rest, ridges)

    def factor(self) -> tuple[Floats, Floats]:
        """Return Q1 and N, of shapes (n_directions, n_active) and (n_directions, n_directions)."""
        n_directions, size = self._shape
        square = np.zeros((n_directions + size, n_directions + size), order="F")
        square[:, :size] = self._reflectors
        factor, _, _ = lapack.dorgqr(square, self._factors, lwork=PANEL * len(square), overwrite_a=1)
        return factor[:n_directions, :size] * self._signs, factor[:n_directions, size:]

    def _turned(self, column: Floats, *, transposed: bool) -> Floats:
        turned, _, _ = lapack.dormqr("L", "T" if transposed else "N", self._reflectors, self._factors, column[:, None], PANEL)
        return turned[:, 0]


def covered(fit: RidgeFit, frame: Frame) -> Covered:
    """Return what ridge regression leaves of every candidate."""
    _, last = fit.factor()
    once, once_target = last.T @ frame.candidates, last.T @ frame.target
    twice, twice_target = last @ once, last @ once_target
    return Covered(
        frame.outside + np.einsum("ij,ij->j", once, once),
        frame.aligned + once_target @ once,
        frame.outside + np.einsum("ij,ij->j", twice, twice),
        frame.aligned + twice_target @ twice,
    )


def cover_of(fit: RidgeFit, frame: Frame) -> Floats:
    """Return L^-1 Phi_A'Phi = Q1'C, with the Cholesky factor L of H."""
    return fit.factor()[0].T @ frame.candidates
