"""All candidates together: one precision by evidence with the full covariance, or no prior at all."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats
from skarce.criteria.one_precision import EvidenceFit
from skarce.moments import Moments
from skarce.moments.directions import Directions, directions_of
from skarce.moments.standardized import Standardized, standardized
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import resolved_energy

UNDETERMINED = 1e-12  # of the largest eigenvalue of a correlation matrix; without a prior, directions below this are not fitted
COLLAPSED = 1e6  # with a ridge this many times the largest eigenvalue, nothing is fitted


def run_shared(moments: Moments, journal: Journal, solver: str) -> Fit:
    """Find the common precision of all standardized weights, and the noise, that maximize the evidence (VBLS errata 3.8)."""
    data = standardized(moments, 'prior="shared"')
    if not len(data.candidates):
        return Fit(data.candidates, np.empty(0), Outcome.CONVERGED)
    directions = directions_of(data.moments.gram, np.arange(len(data.candidates)))
    projected = directions.project(data.moments.projections)
    fit = EvidenceFit.of(directions.eigenvalues, projected, resolved_energy(moments), moments.n_samples, None)
    iterate = _by_newton if solver == "direct" else _by_em
    ridge, outcome = iterate(fit, journal, len(data.candidates))
    if ridge >= min(COLLAPSED * float(directions.eigenvalues[-1]), fit.bounds[1]):
        return Fit(data.candidates[:0], np.empty(0), outcome)
    return _found(data, np.full(len(data.candidates), ridge), directions.weights(projected, ridge), outcome)


def run_without_prior(moments: Moments, journal: Journal) -> Fit:
    """Fit least squares in the directions that the data determine. The noise is |t - Phi w|^2 / (N - rank)."""
    data = standardized(moments, 'prior="none"')
    directions = directions_of(data.moments.gram, np.arange(len(data.candidates)))
    kept = directions.eigenvalues > UNDETERMINED * directions.eigenvalues.max(initial=0.0)
    directions = Directions(
        directions.eigenvalues[kept], directions.root, directions.vectors[:, kept], directions.pivots, directions.heights
    )
    weights = directions.weights(directions.project(data.moments.projections), 0.0)
    n, rank = moments.n_samples, len(directions.eigenvalues)
    residual = moments.residual_energy(data.candidates, weights / data.norms)
    noise = residual / (n - rank if n > rank else n)
    with np.errstate(divide="ignore"):
        journal.note("solve", -1, -0.5 * n * (float(np.log(residual / n)) + 1.0), len(data.candidates))
    outcome = Outcome.CONVERGED if n > rank else Outcome.NO_NOISE
    return _found(data, np.zeros(len(data.candidates)), weights, outcome, noise)


def _found(data: Standardized, ridges: Floats, weights: Floats, outcome: Outcome, noise: float | None = None) -> Fit:
    return Fit(data.candidates, ridges * data.norms**2, outcome, noise=noise, weights=weights / data.norms)


def _by_newton(fit: EvidenceFit, journal: Journal, size: int) -> tuple[float, Outcome]:
    def is_enough(ridge: float) -> bool:
        if fit.score(ridge) > journal.score:  # the last steps move by rounding alone
            journal.note("ridge", -1, fit.score(ridge), size)
        return journal.exhausted() is not None

    ridge = fit.best_ridge(is_enough=is_enough)
    return ridge, Outcome.NO_NOISE if ridge <= fit.bounds[0] else journal.exhausted() or Outcome.CONVERGED


def _by_em(fit: EvidenceFit, journal: Journal, size: int) -> tuple[float, Outcome]:
    r"""Run expectation maximization in the eigenvectors: :math:`\alpha=m/E|w|^2` and :math:`s=E|t-\Phi w|^2/N`."""
    e, z, n = fit.squared_norms, fit.projections, fit.n_samples
    target_energy = fit.unexplained + float(fit.energies.sum())
    noise = 0.1 * target_energy / n
    precision, weights = 1e-4 / noise, np.zeros(len(z))
    while True:
        limit = journal.exhausted()
        ridge = noise * precision
        shrinkage = ridge / (e + ridge)
        before, weights = weights, z / (e + ridge)
        residual = fit.unexplained + float(fit.energies @ shrinkage**2)
        energy = residual + ridge * float(weights @ weights)
        score = -0.5 * (n * np.log(noise) + energy / noise + float(np.log1p(e / ridge).sum()))
        if limit is None:
            journal.note("sweep", -1, float(score) + 0.5 * n * (1.0 - float(np.log(n))), size)
        moved = np.sqrt(float((e * (weights - before) ** 2).max()) / target_energy)
        if limit is not None or moved < journal.budget.tol or ridge > COLLAPSED * e[-1] or ridge < fit.bounds[0]:
            return ridge, Outcome.NO_NOISE if ridge < fit.bounds[0] else limit or Outcome.CONVERGED
        spread = noise / (e + ridge)
        # Directions without data keep their prior variance.
        precision = size / (float(weights @ weights) + float(spread.sum()) + (size - len(e)) / precision)
        noise = (residual + float(e @ spread)) / n
