r"""Adaptive sparseness: expectation maximisation with a Jeffreys prior on the variance of every weight (Figueiredo 2003).

.. math:: w \leftarrow U(\sigma^2 I + U G U)^{-1}U b, \quad U = \operatorname{diag}|w|, \qquad \sigma^2 \leftarrow |t - \Phi w|^2/n

equals :math:`(G + \sigma^2\operatorname{diag}(1/w^2))^{-1}b` without dividing by a weight. At a fixed point
:math:`\varphi_i^T(t - \Phi w) = \sigma^2/w_i`, or :math:`w_i = 0`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import inverse_of_lower
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.active_set import RESOLUTION
from skarce.designs.choice import fits
from skarce.moments import Moments
from skarce.posterior import Outcome
from skarce.posterior_of import factor_of_nearly_singular
from skarce.searches.journal import Found, Journal

# A weight whose square is below this share of sigma^2 / phi'phi cannot come back: its next one is smaller by as much.
PRUNED = 1e-12
LEAST_NOISE = 1e-10  # of the variance of the target: the objective is unbounded below as the noise goes to zero


class JeffreysEM:
    """Members, weights and noise; `step` takes one iteration.

    Attributes
    ----------
    members : candidates that are still in
    weights : w, one for each of them
    noise : sigma^2, not below `least_noise`
    ridges : those of which the weights are the ridge estimate, sigma^2 / w^2 of the iterate before
    """

    def __init__(self, members: Indices, gram: Floats, projections: Floats, energy: float, n: float, initial_ridge: float) -> None:
        self.members, self.gram, self.projections = members, gram, projections
        self._energy, self._n = energy, n
        self.least_noise = LEAST_NOISE * energy / n
        self.ridges = np.full(len(members), initial_ridge)
        matrix = gram.copy()
        matrix.flat[:: len(gram) + 1] += initial_ridge
        self.weights = lapack.dpotrs(factor_of_nearly_singular(matrix), projections, lower=1)[0] if len(gram) else np.empty(0)
        self.noise = self._noise()
        self.used = 0.0  # degrees of freedom of the last step

    def step(self) -> float:
        """One iteration; returns the largest change of a weight, relative to its standard deviation sigma / |phi|."""
        noise, sizes = self.noise, np.abs(self.weights)
        matrix = self.gram * sizes
        matrix *= sizes[:, None]
        matrix.flat[:: len(matrix) + 1] += noise
        root = inverse_of_lower(factor_of_nearly_singular(matrix))
        weights = sizes * (root.T @ (root @ (sizes * self.projections)))
        self.used = len(sizes) - noise * float(np.einsum("ij,ij->", root, root))
        lengths = self.gram.diagonal()
        change = np.abs(weights - self.weights) * np.sqrt(lengths / noise)
        with np.errstate(divide="ignore"):
            self.ridges = noise / sizes**2
        self.weights = weights
        self._keep(weights**2 * lengths > PRUNED * noise)
        self.noise = self._noise()
        return float(change.max(initial=0.0))

    def _noise(self) -> float:
        return max(self._residual() / self._n, self.least_noise)

    def _residual(self) -> float:
        explained = self.weights @ (2.0 * self.projections - self.gram @ self.weights)
        return max(self._energy - float(explained), RESOLUTION * self._energy)

    def score(self) -> float:
        """-(n/2) log(q / v^2), as `GCV` has it."""
        freedom = max(self._n - self.used, RESOLUTION * self._n)
        return self._n * float(np.log(freedom) - 0.5 * np.log(self._residual()))

    def _keep(self, kept: Floats) -> None:
        if kept.all():
            return
        places = np.flatnonzero(kept)
        self.gram = self.gram[np.ix_(places, places)]
        self.members, self.projections = self.members[places], self.projections[places]
        self.weights, self.ridges = self.weights[places], self.ridges[places]


@on_one_blas_thread
def run_jeffreys(moments: Moments, journal: Journal, initial_ridge: float) -> Found:
    """Iterate until no weight changes by more than the tolerance."""
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    if not fits(len(usable), len(usable)):
        raise ValueError(
            f"adaptive sparseness starts from all {len(usable)} candidates, whose Gram matrix is above the memory budget. Use "
            "fewer candidates (KernelBasis(centers=500)), or sklearn.set_config(working_memory=...)."
        )
    gram, projections = moments.gram.block(usable, usable), moments.projections[usable]
    state = JeffreysEM(usable, gram, projections, moments.target_energy, moments.n_samples, initial_ridge)
    outcome, change = Outcome.CONVERGED, np.inf
    while len(state.members) and change > journal.limits.tol:
        size = len(state.members)
        change = state.step()
        if len(state.members) < size:
            change = np.inf
        journal.note("em", -1, state.score(), len(state.members))
        if (limit := journal.exhausted()) is not None:
            outcome = limit
            break
    if outcome is Outcome.CONVERGED and len(state.members) and state.noise <= state.least_noise:
        outcome = Outcome.NO_NOISE
    return _capped(state, moments, journal.limits.max_active, outcome)


def _capped(state: JeffreysEM, moments: Moments, max_active: int | None, outcome: Outcome) -> Found:
    if max_active is None or len(state.members) <= max_active:
        return Found(state.members, state.ridges, outcome)
    sizes = np.abs(state.weights) * np.sqrt(moments.gram.diagonal[state.members])
    kept = np.sort(np.argsort(-sizes, kind="stable")[:max_active])
    return Found(state.members[kept], state.ridges[kept], Outcome.SIZE_LIMIT)
