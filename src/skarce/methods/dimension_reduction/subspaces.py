r"""Minimization over subspaces: the Grassmann manifold.

Let N span the complement of B. Then a subspace near that of B is spanned by :math:`B + NT`, and T may be any matrix. With
:math:`B + NT = QR`, a function of the subspace with the gradient G at Q has the gradient :math:`N^T(I - QQ^T)GR^{-T}` by T.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space, solve_triangular
from scipy.optimize import minimize

from skarce._typing import Floats

STEPS_PER_CHART = 30  # before T is measured from a new B
Score = Callable[[Floats], tuple[float, Floats]]


class Subspace(NamedTuple):
    """A subspace by an orthonormal basis in columns, its score, the norm of the gradient there, and the number of steps."""

    basis: Floats
    score: float
    slope: float
    n_iter: int


def minimize_over_subspaces(score: Score, start: Floats, *, tol: float, max_iter: int) -> Subspace:
    """Find a local minimum. `score` gives the value and the gradient at an orthonormal basis; only its span may matter."""
    found = Subspace(start, *slope_at(score, start), 0)
    while found.slope > tol and found.n_iter < max_iter:
        later = _in_chart(score, found, tol, min(STEPS_PER_CHART, max_iter - found.n_iter))
        if not later.n_iter > found.n_iter:
            break
        found = later
    return found


def slope_at(score: Score, basis: Floats) -> tuple[float, float]:
    """The score, and the norm of its gradient along the manifold."""
    value, gradient = score(basis)
    return value, float(np.linalg.norm(gradient - basis @ (basis.T @ gradient)))


def chart(score: Score, basis: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    """The score and its gradient as functions of T, flattened."""
    complement, shape = null_space(basis.T), (basis.shape[0] - basis.shape[1], basis.shape[1])

    def at(step: Floats) -> tuple[float, Floats]:
        Q, R = np.linalg.qr(basis + complement @ step.reshape(shape))
        value, gradient = score(Q)
        along = gradient - Q @ (Q.T @ gradient)
        return value, (complement.T @ solve_triangular(R, along.T).T).ravel()

    return at


def _in_chart(score: Score, begin: Subspace, tol: float, max_iter: int) -> Subspace:
    d, K = begin.basis.shape
    least = tol / np.sqrt((d - K) * K)  # of an element: the norm of all is then at most tol
    options = {"gtol": least, "maxiter": max_iter, "ftol": 1e-13}
    found = minimize(chart(score, begin.basis), np.zeros((d - K) * K), jac=True, method="L-BFGS-B", options=options)
    basis = np.linalg.qr(begin.basis + null_space(begin.basis.T) @ found.x.reshape(d - K, K))[0]
    return Subspace(basis, *slope_at(score, basis), begin.n_iter + int(found.nit))
