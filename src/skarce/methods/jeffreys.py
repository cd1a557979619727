r"""Adaptive sparseness: expectation maximization with a Jeffreys prior on the variance of every weight (Figueiredo 2003).

.. math:: w \leftarrow U(\sigma^2 I + U G U)^{-1}U b, \quad U = \operatorname{diag}|w|, \qquad \sigma^2 \leftarrow |t - \Phi w|^2/n

The first update equals :math:`(G + \sigma^2\operatorname{diag}(1/w^2))^{-1}b`, but does not divide by a weight. At a fixed point
:math:`\varphi_i^T(t - \Phi w) = \sigma^2/w_i`, or :math:`w_i = 0`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower
from skarce._memory import require
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria import GCV
from skarce.designs.choice import ALL_ONE_BY_ONE, Access
from skarce.designs.problem import Problem
from skarce.methods.elimination.removals import most_missed
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.moments.moments import LOST_DIGITS, WIDE
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal, Stopwatch
from skarce.states.outcome import Outcome
from skarce.states.state import RESOLUTION

# A weight whose square is below this share of sigma^2 / phi'phi cannot come back: each update shrinks it by as much again.
PRUNED_EFFECT = 1e-12
LEAST_NOISE = 1e-10  # of the variance of the target: the objective is unbounded below as the noise goes to zero
LEAST_RESIDUAL = 1e-30  # of the energy of the target: below this, nothing is left
HIDING = 100.0  # a start with a ridge above this multiple of phi'phi has no effect of any candidate left, however clear it is


class JeffreysEM:
    """Members, weights and noise. `step` runs one iteration.

    Attributes
    ----------
    members : ndarray of shape (n_members,)
        The candidates that are still in the model.
    weights : ndarray of shape (n_members,)
        w, one for each member.
    noise : float
        sigma^2, at least `least_noise`.
    ridges : ndarray of shape (n_members,)
        sigma^2 / w^2 of the previous iterate. The weights are the ridge estimate with these ridges.
    gram, projections : ndarray
        Phi'Phi and Phi't of the members.
    least_noise : float
        The lower bound of the noise.
    used : float
        The degrees of freedom that the last step used.
    """

    weights: Floats
    noise: float

    def __init__(self, moments: Moments, members: Indices, initial_ridge: float) -> None:
        self._moments, self._n = moments, moments.n_samples
        self.members, self.gram, self.projections = members, moments.gram.block(members, members), moments.projections[members]
        self.least_noise = LEAST_NOISE * moments.target_energy / self._n
        self.ridges = np.full(len(members), initial_ridge)
        self._rows = moments.centered_if_few(members)
        self._solve()
        self.used = 0.0

    def step(self) -> float:
        """Run one iteration. Returns the largest change of a weight, relative to its standard deviation sigma / |phi|."""
        noise, sizes = self.noise, np.abs(self.weights)
        few = self._rows is not None and len(sizes) > WIDE * len(self._rows)
        weights, self.used = self._updated_by_rows(sizes, noise) if few else self._updated(sizes, noise)
        squared_norms = self.gram.diagonal()
        change = np.abs(weights - self.weights) * np.sqrt(squared_norms / noise)
        with np.errstate(divide="ignore"):
            self.ridges = noise / sizes**2
        self.weights = weights
        self._keep(weights**2 * squared_norms > PRUNED_EFFECT * noise)
        self.noise = self._noise()
        return float(change.max(initial=0.0))

    def _updated(self, sizes: Floats, noise: float) -> tuple[Floats, float]:
        """Return the next weights, and the degrees of freedom that they use."""
        matrix = self.gram * sizes
        matrix *= sizes[:, None]
        matrix.flat[:: len(matrix) + 1] += noise
        root = inverse_of_lower(cholesky_of_nearly_singular(matrix))
        weights = sizes * (root.T @ (root @ (sizes * self.projections)))
        return weights, len(sizes) - noise * float(np.einsum("ij,ij->", root, root))

    def _updated_by_rows(self, sizes: Floats, noise: float) -> tuple[Floats, float]:
        """Return the same from a system of the rows: w = U^2 Phi'(Phi U^2 Phi' + sigma^2 I)^-1 t (Woodbury)."""
        assert self._rows is not None
        assert self._moments.rows is not None
        scaled = self._rows * sizes
        matrix = scaled @ scaled.T
        matrix.flat[:: len(matrix) + 1] += noise
        root = inverse_of_lower(cholesky_of_nearly_singular(matrix))
        weights = sizes * (scaled.T @ (root.T @ (root @ self._moments.rows.target())))
        return weights, len(matrix) - noise * float(np.einsum("ij,ij->", root, root))

    def _solve(self) -> None:
        """Compute the weights for the current ridges, and the noise."""
        matrix = self.gram.copy()
        matrix.flat[:: len(matrix) + 1] += self.ridges
        self.weights = lapack.dpotrs(cholesky_of_nearly_singular(matrix), self.projections, lower=1)[0]
        self.noise = self._noise()

    def _noise(self) -> float:
        return max(self._residual() / self._n, self.least_noise)

    def _residual(self) -> float:
        """Return |t - Phi w|^2, from the rows if the difference of moments has lost digits. It has if the noise is very small."""
        explained = self.weights @ (2.0 * self.projections - self.gram @ self.weights)
        residual, energy = self._moments.target_energy - float(explained), self._moments.target_energy
        if residual < LOST_DIGITS * energy and self._moments.rows is not None:
            return max(self._moments.rows.residual_energy(self.members, self.weights), LEAST_RESIDUAL * energy)
        return max(residual, RESOLUTION * energy)

    def score(self) -> float:
        """Return -(n/2) log(q / v^2), the score of `GCV`."""
        freedom = max(self._n - self.used, RESOLUTION * self._n)
        return self._n * float(np.log(freedom) - 0.5 * np.log(self._residual()))

    def keep_most_missed(self, n_kept: int) -> None:
        """Keep only `n_kept` members: those without which the penalized error would grow most."""
        scales = np.abs(self.weights)
        kept = np.zeros(len(scales), dtype=bool)
        kept[most_missed(self.gram, self.projections, scales, self.noise, n_kept)] = True
        self._keep(kept)
        self._solve()

    def _keep(self, kept: Floats) -> None:
        if kept.all():
            return
        places = np.flatnonzero(kept)
        self.gram = self.gram[np.ix_(places, places)]
        self.members, self.projections = self.members[places], self.projections[places]
        self.weights, self.ridges = self.weights[places], self.ridges[places]
        self._rows = None if self._rows is None else self._rows[:, places]


@dataclass(frozen=True)
class Jeffreys(MomentMethod):
    """Adaptive sparseness: expectation maximization with a Jeffreys prior.

    Parameters
    ----------
    initial_ridge : float
        The ridge of every candidate at the start.
    criterion : GCV
        The criterion that the posterior reports.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place. None keeps the model.
    """

    initial_ridge: float = 0.01
    criterion: GCV = field(default_factory=GCV)
    crowded: float | None = None

    @property
    def warns_if_half(self) -> bool:
        return True

    @property
    def access(self) -> Access:
        return ALL_ONE_BY_ONE

    def run(self, problem: Problem, budget: Budget) -> Fit:
        self._check_start(problem)
        return super().run(problem, budget)

    def _check_start(self, problem: Problem) -> None:
        """Raise a ValueError if candidates are so small, in the units of the initial ridge, that it hides all of them."""
        moments, design = problem.moments, problem.design
        means = design.means(np.arange(moments.n_candidates))
        largest = float((moments.gram.diagonal + design.n_samples * means**2).max(initial=0.0))
        if moments.n_samples > 0.0 and 0.0 < HIDING * largest < self.initial_ridge:
            raise ValueError(
                f"initial_ridge={self.initial_ridge:g} hides every candidate: the largest phi'phi is {largest:.3g}. Scale the "
                f"candidates, or choose initial_ridge={0.01 * largest:.1g}."
            )

    def solve(self, judge: GCV, moments: Moments, journal: Journal) -> Fit:
        return run_jeffreys(moments, journal, self.initial_ridge)


@on_one_blas_thread
def run_jeffreys(moments: Moments, journal: Journal, initial_ridge: float) -> Fit:
    """Iterate until no weight changes by more than the tolerance.

    If too many functions are left, the ones that are missed most are kept, and the iteration continues with them.
    """
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    what = f"adaptive sparseness, which starts from all {len(usable)} candidates,"
    require(len(usable), len(usable), what, "Use fewer candidates (KernelBasis(centers=500))")
    if not len(usable):
        return Fit(usable, np.empty(0), Outcome.CONVERGED)
    watch = journal.stopwatch()
    state = JeffreysEM(moments, usable, initial_ridge)
    outcome = _iterate(state, journal, watch)
    cap = journal.budget.max_active
    if cap is not None and len(state.members) > cap:
        state.keep_most_missed(cap)
        outcome = _iterate(state, journal, journal.stopwatch()) or Outcome.SIZE_LIMIT
    at_bound = len(state.members) and state.noise <= state.least_noise
    return Fit(state.members, state.ridges, outcome or (Outcome.NO_NOISE if at_bound else Outcome.CONVERGED))


def _iterate(state: JeffreysEM, journal: Journal, watch: Stopwatch) -> Outcome | None:
    """Iterate until no weight changes by more than the tolerance. Returns the limit that stopped it earlier, or None.

    `watch` has measured something that takes as long as the first step. The posterior of the result takes as long as another step.
    """
    change = np.inf
    while len(state.members) and change > journal.budget.least_gain:
        if (limit := watch.exhausted(2.0)) is not None:
            return limit
        size = len(state.members)
        change = state.step()
        if len(state.members) < size:
            change = np.inf
        journal.note("em", -1, state.score(), len(state.members))
    return None
