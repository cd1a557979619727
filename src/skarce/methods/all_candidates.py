"""All candidates with one precision, by evidence: ABF, and the full Gaussian process that backward elimination starts from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, symmetric_inverse
from skarce._scales import check_parameter
from skarce._typing import Floats, Indices
from skarce.criteria import IndividualEvidence
from skarce.criteria.one_precision import fit_of_all
from skarce.designs.choice import ALL_AT_ONCE, Access
from skarce.designs.design import Rows
from skarce.designs.problem import Problem
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.members import Members
from skarce.states.outcome import Outcome

NO_FREEDOM = 1e-9  # of n: with as many functions as rows, what is left is rounding


@dataclass(frozen=True)
class PriorEvidence(IndividualEvidence):
    """The log evidence of functions that share one prior variance v, which is given or learned. Their ridge is already found.

    If v is given, the best noise with all functions is the ridge times v. This equals |t - Phi w|^2 / (n - gamma), because the
    evidence is stationary there. With fewer functions and the same ridge, the noise is the same quotient, but not less than with
    all functions.

    Parameters
    ----------
    weight_variance : float or None
        v, for the target at hand. None if it is learned.
    """

    weight_variance: float | None = None

    def scaled(self, target_scale: float) -> Self:
        variance = self.weight_variance
        if variance is None:
            return self
        return replace(self, weight_variance=check_parameter("weight_variance", variance, variance * target_scale**2))

    def score(self, members: Members, n_samples: float) -> float:
        if self.weight_variance is None:
            return super().score(members, n_samples)
        noise = self.noise_at(members, n_samples)
        return -0.5 * (n_samples * float(np.log(noise)) + members.energy / noise + members.log_determinant)

    def value(self, score: Floats | float, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return the log density of the targets, with all constants."""
        if self.weight_variance is None or n_samples <= 0.0:
            return super().value(score, n_samples, n_total, target_scale)
        return score - 0.5 * n_samples * np.log(2.0 * np.pi) + n_samples * np.log(target_scale)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return |t - Phi w|^2 / (n - gamma) with gamma = sum(1 - rho R_kk), at least rho v. Without functions: t't / n."""
        if self.weight_variance is None or not len(members.ridges):
            return members.energy / n_samples
        ridge = float(members.ridges[0])
        error = members.energy - ridge * float(members.weights @ members.weights)
        freedom = n_samples - len(members.ridges) + ridge * float(members.spread().sum())
        least = ridge * self.weight_variance
        return max(error / freedom, least) if freedom > NO_FREEDOM * n_samples else least


@dataclass(frozen=True)
class AllCandidates(MomentMethod):
    """All candidates with one precision by evidence.

    Parameters
    ----------
    weight_variance : float or None
        The prior variance of the weights in user units. None learns it.
    criterion : PriorEvidence
        The criterion without a target; `judge` adds the prior variance.
    """

    weight_variance: float | None = None
    criterion: PriorEvidence = field(default_factory=PriorEvidence)

    @property
    def access(self) -> Access:
        return ALL_AT_ONCE

    def width_options(self, rows: Rows) -> dict[str, Any]:
        """Return the prior variance, so that widths are learned under the same prior."""
        return {"weight_variance": self.weight_variance}

    def judge(self, problem: Problem) -> PriorEvidence:
        return PriorEvidence(weight_variance=self.weight_variance)

    def solve(self, judge: PriorEvidence, moments: Moments, journal: Journal) -> Fit:
        return run_all_candidates(moments, journal, judge.weight_variance)


class FullModel(NamedTuple):
    """All usable candidates at the ridge of largest evidence."""

    candidates: Indices
    ridge: float
    weights: Floats
    energy: float  # t'P t = |t - Phi w|^2 + rho |w|^2
    log_determinant: float  # of I + Phi Phi'/rho
    outcome: Outcome


def full_model(moments: Moments, journal: Journal, weight_variance: float | None) -> FullModel | None:
    """Return all candidates at the ridge of largest evidence.

    Returns None if no candidate is usable, or if the best ridge is at its upper bound: then noise alone is as likely.
    """
    usable, directions, fit = fit_of_all(moments, weight_variance)
    if not len(fit.squared_norms):
        return None

    def is_enough(ridge: float) -> bool:
        journal.note("ridge", -1, fit.score(ridge), len(usable))
        return journal.exhausted() is not None

    ridge = fit.best_ridge(journal.budget.tol, is_enough)
    lowest, highest = fit.bounds
    if weight_variance is None and ridge >= highest:
        return None
    outcome = Outcome.NO_NOISE if ridge <= lowest else journal.exhausted() or Outcome.CONVERGED
    weights = directions.weights(fit.projections, ridge)
    return FullModel(usable, ridge, weights, fit.energy(ridge), fit.log_determinant(ridge), outcome)


def run_all_candidates(moments: Moments, journal: Journal, weight_variance: float | None) -> Fit:
    """Return the full model as a fit, without functions if there is no full model. Respects `max_active`."""
    full = full_model(moments, journal, weight_variance)
    if full is None:
        return Fit.empty(Outcome.CONVERGED)
    n_usable, most = len(full.candidates), journal.budget.max_active
    if most is not None and most < n_usable:
        kept = strongest(moments, full.candidates, full.ridge, most)
        return Fit(kept, np.full(most, full.ridge), Outcome.SIZE_LIMIT)
    return Fit(full.candidates, np.full(n_usable, full.ridge), full.outcome, weights=full.weights)


def strongest(moments: Moments, candidates: Indices, ridge: float, n_kept: int | None) -> Indices:
    """Return the candidates of largest effect w^2 / h. The effect is how much t'P t rises if one of them is taken out."""
    matrix = moments.gram.block(candidates, candidates)
    matrix.flat[:: len(candidates) + 1] += ridge
    inverse = symmetric_inverse(cholesky_of_nearly_singular(matrix))
    effects = (inverse @ moments.projections[candidates]) ** 2 / inverse.diagonal()
    return np.sort(candidates[np.argsort(-effects, kind="stable")[:n_kept]])
