"""The model with all candidates and one precision, by evidence (ABF; the full Gaussian process of backward elimination)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skarce._linalg import factor_of_nearly_singular, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.criteria import IndividualEvidence
from skarce.criteria.criterion import Members
from skarce.criteria.one_precision import fit_of_all
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

NO_FREEDOM = 1e-9  # of n: where functions as many as rows leave no more than rounding


@dataclass(frozen=True)
class GivenWeightVariance(IndividualEvidence):
    """The log evidence where all weights had the same, given prior variance v when the common ridge was found.

    With all functions the best noise is the ridge times v: where the evidence is stationary |t - Phi w|^2 / (n - gamma). With fewer
    functions and that ridge the same quotient is the noise, and no less than with all of them.
    """

    weight_variance: float = 1.0

    def scaled(self, factor: float) -> GivenWeightVariance:
        return GivenWeightVariance(weight_variance=self.weight_variance * factor**2)

    def score(self, members: Members, n_samples: float) -> float:
        noise = self.noise_at(members, n_samples)
        return -0.5 * (n_samples * float(np.log(noise)) + members.energy / noise + members.log_determinant)

    def value(self, score: Floats | float, n_samples: float, n_total: float, factor: float) -> Any:
        """The log density of the targets, with all constants."""
        if n_samples <= 0.0:
            return score
        return score - 0.5 * n_samples * np.log(2.0 * np.pi) + n_samples * np.log(factor)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """|t - Phi w|^2 / (n - gamma), gamma = sum(1 - rho R_kk), which for no functions is t't / n; not below rho v."""
        if not len(members.ridges):
            return members.energy / n_samples
        ridge = float(members.ridges[0])
        error = members.energy - ridge * float(members.weights @ members.weights)
        freedom = n_samples - len(members.ridges) + ridge * float(members.spread().sum())
        least = ridge * self.weight_variance
        return max(error / freedom, least) if freedom > NO_FREEDOM * n_samples else least


class FullModel(NamedTuple):
    """All usable candidates at the ridge of largest evidence."""

    candidates: Indices
    ridge: float
    weights: Floats
    energy: float  # t'P t = |t - Phi w|^2 + rho |w|^2
    log_determinant: float  # of I + Phi Phi'/rho
    outcome: Outcome


def full_model(moments: Moments, journal: Journal, weight_variance: float | None) -> FullModel | None:
    """All candidates at the ridge of largest evidence; None where that is at its upper bound, where noise alone is as likely."""
    usable, directions, fit = fit_of_all(moments, weight_variance)
    if not len(fit.lengths):
        return None

    def is_enough(ridge: float) -> bool:
        journal.note("ridge", -1, fit.score(ridge), len(usable))
        return journal.exhausted() is not None

    ridge = fit.best_ridge(journal.limits.tol, is_enough)
    lowest, highest = fit.bounds
    if weight_variance is None and ridge >= highest:
        return None
    outcome = Outcome.NO_NOISE if ridge <= lowest else journal.exhausted() or Outcome.CONVERGED
    weights = directions.weights(fit.projections, ridge)
    return FullModel(usable, ridge, weights, fit.energy(ridge), fit.log_determinant(ridge), outcome)


def run_all_candidates(moments: Moments, journal: Journal, weight_variance: float | None) -> Fit:
    """The same as a set; of no functions where there is no such model."""
    full = full_model(moments, journal, weight_variance)
    if full is None:
        return Fit(np.empty(0, dtype=np.intp), np.empty(0), Outcome.CONVERGED)
    n_usable, most = len(full.candidates), journal.limits.max_active
    if most is not None and most < n_usable:
        kept = _strongest(moments, full.candidates, full.ridge, most)
        return Fit(kept, np.full(most, full.ridge), Outcome.SIZE_LIMIT)
    return Fit(full.candidates, np.full(n_usable, full.ridge), full.outcome, weights=full.weights)


def _strongest(moments: Moments, candidates: Indices, ridge: float, n_kept: int | None) -> Indices:
    """Those of largest effect w^2 / h, what t'P t rises by without one of them."""
    matrix = moments.gram.block(candidates, candidates)
    matrix.flat[:: len(candidates) + 1] += ridge
    inverse = symmetric_inverse(factor_of_nearly_singular(matrix))
    effects = (inverse @ moments.projections[candidates]) ** 2 / inverse.diagonal()
    return np.sort(candidates[np.argsort(-effects, kind="stable")[:n_kept]])
