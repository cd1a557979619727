r"""Iteratively reweighted least squares for a Laplacian prior (Park, Sparse kernel regression using IRWLS procedure).

Minimizes :math:`J(a) = \frac12|t - \Phi a|^2 + \mu|a|_1` by :math:`a \leftarrow (G + \mu W)^{-1}b`,
:math:`W = \operatorname{diag}(1/|a_i|)` (errata 1.2: mu is n lambda of the printed objective). With :math:`u = \sqrt{|a|}` nothing
is infinite and no eigenvalue is below mu:

.. math:: a \leftarrow u\,(U G U + \mu I)^{-1} U b, \qquad U = \operatorname{diag}u .

A weight that is zero stays zero. So all weights start at the same value, the standard deviation of the target. For targets of unit
variance the first iterate is the ridge estimate with mu. From there, the penalty may only grow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower
from skarce._typing import Floats, Indices

LEAST_FALL = 1e-10  # relative: functions that leave slow the iteration down without end, and what they change is negligible
PRUNED_NORM = 1e-6  # a function leaves if its norm |a| |phi| is at most this share of the largest, or of the norm of the target


class LaplaceIRLS:
    """Members and weights. `step` runs one iteration.

    Attributes
    ----------
    members : ndarray of shape (n_members,)
        The candidates that are still in the model.
    weights : ndarray of shape (n_members,)
        a, one for each member.
    magnitudes : ndarray of shape (n_members,)
        |a| of the previous iterate, the inverse of diag(W). The weights are the ridge estimate with ridges mu / magnitudes.
    gram, projections : ndarray
        Phi'Phi and Phi't of the members.
    energy : float
        t't.
    """

    def __init__(self, members: Indices, gram: Floats, projections: Floats, energy: float, n_samples: float) -> None:
        self.energy = energy
        self.members = members
        self.gram = gram
        self.projections = projections
        self.weights = self.magnitudes = np.full(len(members), np.sqrt(energy / n_samples))

    def objective(self, penalty: float) -> float:
        """Return J."""
        fit = 0.5 * self.weights @ self.gram @ self.weights - self.projections @ self.weights
        return float(0.5 * self.energy + fit + penalty * np.abs(self.weights).sum())

    def step(self, penalty: float) -> float:
        """Run one iteration, and return the objective after it. Small weights are dropped unless that would undo the gain."""
        before = self.objective(penalty)
        self.magnitudes = np.abs(self.weights)
        self.weights = reweighted(self.gram, self.projections, self.magnitudes, penalty)
        after = self.objective(penalty)
        sizes = np.abs(self.weights) * np.sqrt(self.gram.diagonal())
        kept = sizes > PRUNED_NORM * sizes.max(initial=np.sqrt(self.energy))
        if kept.all():
            return after
        whole = self.members, self.gram, self.projections, self.weights, self.magnitudes
        self._keep(kept)
        pruned = self.objective(penalty)
        if pruned <= max(before, after):
            return pruned
        self.members, self.gram, self.projections, self.weights, self.magnitudes = whole
        return after

    def minimize(self, penalty: float, tol: float, max_steps: int, is_late: Callable[[], bool] = lambda: False) -> int:
        """Iterate until J falls by at most `tol` times itself, or until it is late. Returns the number of steps, at least one."""
        score = np.inf
        for step in range(max_steps):
            before, score = score, self.step(penalty)
            if not len(self.members) or not before - score > max(tol, LEAST_FALL) * abs(score) or is_late():
                return step + 1
        return max_steps

    def _keep(self, kept: Floats) -> None:
        places = np.flatnonzero(kept)
        self.gram = self.gram[np.ix_(places, places)]
        self.members, self.projections = self.members[places], self.projections[places]
        self.weights, self.magnitudes = self.weights[places], self.magnitudes[places]


def reweighted(gram: Floats, projections: Floats, magnitudes: Floats, penalty: float) -> Floats:
    """Return u (U G U + mu I)^-1 U b."""
    if not len(gram):
        return np.empty(0)
    root = np.sqrt(magnitudes)
    lower = _lower(gram, root, penalty)
    return root * lapack.dpotrs(lower, root * projections, lower=1)[0]


def hat_trace(gram: Floats, magnitudes: Floats, penalty: float) -> float:
    """Return tr H with H = Phi (G + mu W)^-1 Phi', the hat matrix of GCV (eq. 5): L - mu tr (U G U + mu I)^-1."""
    if not len(gram):
        return 0.0
    root = inverse_of_lower(_lower(gram, np.sqrt(magnitudes), penalty))
    return len(gram) - penalty * float(np.einsum("ij,ij->", root, root))


def _lower(gram: Floats, root: Floats, penalty: float) -> Floats:
    matrix = gram * root
    matrix *= root[:, None]
    matrix.flat[:: len(gram) + 1] += penalty
    return cholesky_of_nearly_singular(matrix)
