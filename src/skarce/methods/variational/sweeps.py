r"""The sweeps of the paper, corrected and in moment space.

A sweep costs O(m^2), and gives exactly the same as a sweep with explicit fake targets (VBLS errata 3.1).

=====================  ==============================================================
``mean``               :math:`\mu`, the means of the weights
``fake_variances``     :math:`\psi_z`, the variances of the fake targets
``target_variance``    :math:`\psi_y`, of the target around their sum; it fades as 1/sweeps
``precisions``         :math:`\alpha`, one for each group; empty without a prior
=====================  ==============================================================

Nothing here divides by the variance of a fake target, because it goes to zero if the candidate is irrelevant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, seconds_to_invert, solve_lower
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.methods.variational.direct import resume
from skarce.methods.variational.precisions import RELEVANT, Groups
from skarce.moments import Moments, whole_matrix
from skarce.moments.standardized import Standardized, standardized
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import RESOLUTION

FEWEST = 50  # sweeps at least, because the weights start at their best for the first precisions and hardly move at first
STILL = 1e-6  # a smaller change of gamma in a sweep counts as none


@dataclass(frozen=True)
class Sweeps:
    """The state of the sweeps. The table at the top of the module explains the fields."""

    mean: Floats
    fake_variances: Floats
    target_variance: float
    precisions: Floats

    @property
    def noise(self) -> float:
        """s, the noise variance, the only variance that the data determine."""
        return self.target_variance + float(self.fake_variances.sum())


@dataclass(frozen=True)
class SweepData:
    """Phi'Phi, Phi't, t't, N, and the groups that share a precision, which are None without a prior."""

    gram: Floats
    projections: Floats
    target_energy: float
    n_samples: float
    groups: Groups | None

    def sweep(self, at: Sweeps) -> Sweeps:
        """Return the state after one pass through all updates."""
        n, h, s, psi = self.n_samples, self.gram.diagonal(), at.noise, at.fake_variances
        gradient = self.projections - self.gram @ at.mean
        residual = self._residual(at.mean, gradient)
        alpha = self._spread_out(at.precisions)
        shrunk = h + psi * alpha
        mean = (h * at.mean + psi / s * gradient) / shrunk
        variances = psi / shrunk if self.groups is not None else np.zeros(len(psi))
        moved = mean - at.mean
        fake = (psi / s) ** 2 * residual - 2.0 * (psi / s) * moved * gradient + moved**2 * h
        fake = fake / n + psi * (1.0 - psi / s) + variances * h / n
        share = at.target_variance / s
        target = share**2 * residual / n + float(psi.sum()) * share
        precisions = at.precisions
        if self.groups is not None:
            precisions = self.groups.sizes / self.groups.total(mean**2 + variances)
        return Sweeps(mean, fake, target, precisions)

    def bound(self, at: Sweeps) -> float:
        """Return L with the best variances of the weights, without its constant."""
        s, psi = at.noise, at.fake_variances
        residual = self._residual(at.mean, self.projections - self.gram @ at.mean)
        likelihood = -0.5 * (self.n_samples * float(np.log(s)) + residual / s)
        if self.groups is None:
            return likelihood
        alpha, h = self._spread_out(at.precisions), self.gram.diagonal()
        return likelihood + 0.5 * float((np.log(psi * alpha / (h + psi * alpha)) - alpha * at.mean**2).sum())

    def determined(self, at: Sweeps) -> Floats:
        """Return gamma of every candidate."""
        h = self.gram.diagonal()
        return h / (h + at.fake_variances * self._spread_out(at.precisions))

    def _residual(self, mean: Floats, gradient: Floats) -> float:
        energy = self.target_energy - float(mean @ (self.projections + gradient))
        return max(energy, RESOLUTION * self.target_energy)

    def _spread_out(self, precisions: Floats) -> Floats:
        return np.zeros(len(self.projections)) if self.groups is None else precisions[self.groups.label]


@on_one_blas_thread
def run_backfitting(moments: Moments, journal: Journal, labels: Indices | None) -> Fit:
    """Sweep until no weight moves. `labels` are those of groups, or None for no prior (probabilistic backfitting)."""
    standard = standardized(moments, 'solver="em"')
    gram = standard.moments.gram
    groups = None if labels is None else Groups.of(labels[standard.candidates])
    data = SweepData(whole_matrix(gram), standard.moments.projections, moments.target_energy, moments.n_samples, groups)
    if not len(standard.candidates):
        return Fit(standard.candidates, np.empty(0), Outcome.CONVERGED)
    at, outcome, final = _start(data), None, seconds_to_invert(len(standard.candidates))
    while outcome is None:
        outcome = journal.exhausted(ahead=final)
        if outcome is not None:
            break
        before, at = at, data.sweep(at)
        journal.note("sweep", -1, data.bound(at), len(at.mean))
        moved = float(np.abs(at.mean - before.mean).max()) / np.sqrt(moments.target_energy)
        changed = float(np.abs(data.determined(at) - data.determined(before)).max())
        if journal.n_steps >= FEWEST and moved < journal.budget.tol and changed < STILL:
            outcome = Outcome.CONVERGED
    if labels is None:
        return _without_prior(standard, data, at, outcome)
    kept = np.flatnonzero(data.determined(at) > RELEVANT)
    found = Fit(standard.candidates[kept], (at.noise * data._spread_out(at.precisions) * standard.norms**2)[kept], outcome)
    # The limit of the sweeps: these candidates, with the best weights and noise for these ridges.
    if journal.n_steps < journal.budget.max_steps:
        journal.note("solve", -1, resume(moments, labels, found).bound, len(kept))
    return found


def _without_prior(standard: Standardized, data: SweepData, at: Sweeps, outcome: Outcome) -> Fit:
    """Return the fit of all candidates without a prior.

    The sweeps end at the noise |t - Phi w|^2 / N. It is corrected for the degrees of freedom of the fitted weights.
    """
    left = max(1.0 - len(at.mean) / data.n_samples, 0.0)
    if left == 0.0 and outcome is Outcome.CONVERGED:
        outcome = Outcome.NO_NOISE
    weights = at.mean / standard.norms
    return Fit(standard.candidates, np.zeros(len(weights)), outcome, noise=at.noise / (left or 1.0), weights=weights)


def _start(data: SweepData) -> Sweeps:
    """Return a weak prior and the weights for it.

    With the printed start (zero weights and precisions of one), relevant candidates would vanish.
    """
    m = len(data.projections)
    noise = 0.1 * data.target_energy / data.n_samples
    psi, target = np.full(m, 0.5 * noise / m), 0.5 * noise
    if data.groups is None:
        return Sweeps(np.zeros(m), psi, target, np.empty(0))
    weak = max(1e-5 / data.n_samples, 1e-11)
    matrix = data.gram.copy()
    matrix.flat[:: m + 1] += weak
    factor = cholesky_of_nearly_singular(matrix)
    mean = solve_lower(factor, solve_lower(factor, data.projections), transposed=True)
    return Sweeps(mean, psi, target, np.full(len(data.groups.sizes), weak / noise))
