r"""Matching pursuit with Huber's loss: rows far from the fit pull with a bounded force.

The loss is quadratic up to :math:`k\sigma` and linear beyond. The scale :math:`\sigma` is computed again after each step, from the
residuals and the degrees of freedom v that are left of N. As many residuals as there are weights can become zero, so the smallest
N - v of them say nothing, and :math:`\sigma` follows from the middle one of the others. For normal noise, the residuals have the
variance :math:`\sigma^2v/N`, so their quantile at :math:`1-v/2N` is :math:`\sigma\sqrt{v/N}\,\Phi^{-1}(1-v/4N)`. Without functions
this is the median over 0.6745. (If most residuals are zero, only the others count.) The median of all residuals would fall to zero
where half of the rows are interpolated, and the losses of all other rows with it.

Generalized cross validation takes twice the loss in place of the squares, :math:`V = 2N\sum\rho/v^2` with :math:`v = N - 1 - L`, so
it is the usual one if no row is far away. If one weight moves in each step and all others stay, v is the trace of the product of
projections, as it is for squares.

The covariance of the weights is :math:`\tau^2(\Phi^T\Phi)^{-1}` with :math:`\tau^2 = \frac{\sum\psi^2/v}{(\overline{\psi'})^2}`
(Huber 1981, section 7.6), where :math:`\psi` is the residual, cut off at the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from skarce._linalg import cholesky_of_nearly_singular
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats
from skarce.criteria import ExplainedVariance
from skarce.criteria.without_ridges import LEAST_FREEDOM
from skarce.designs.choice import ONE_BY_ONE, Access
from skarce.designs.problem import Problem
from skarce.methods.method import HALF, SETTLED, Method, n_distinct
from skarce.methods.pursuit.basic import Spanned, score_of
from skarce.methods.pursuit.losses import HuberLoss
from skarce.methods.pursuit.row_model import LossOfRows
from skarce.methods.pursuit.row_pursuit import PursuitModel, RowPursuit, Stops, pursue
from skarce.methods.selection import Selection
from skarce.moments import Moments
from skarce.posteriors.posterior import Posterior
from skarce.searches import Forward
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import RESOLUTION

NORMAL_MEDIAN = 0.6744897501960817  # of the absolute value of a standard normal variable
STEADY, MOST_ROUNDS = 1e-4, 50  # the scale has settled if it moves by less than this share, or after this many rounds
LEAST_SCALE = float(np.sqrt(RESOLUTION))  # of the standard deviation of the target
LEAST_INSIDE = 0.5  # share of the rows below the threshold: half of them are below the scale


@dataclass(frozen=True)
class HuberFit(Fit):
    """A fit by Huber's loss, for the scaled target.

    Attributes
    ----------
    found : PursuitModel or None
        The functions and weights at all rows. None if the target does not vary.
    score : float
        -(n/2) log(V / N).
    freedom : float
        The degrees of freedom v that are left.
    """

    found: PursuitModel | None = None
    score: float = -np.inf
    freedom: float = 0.0


class _Freedom:
    """The degrees of freedom that are left: each function uses one, or each move of a single weight its part of the trace."""

    def __init__(self, moments: Moments, variant: str) -> None:
        self._n_samples, self._n_moves = moments.n_samples, 0
        self._spanned = Spanned(moments) if variant == "basic" else None

    def at(self, present: PursuitModel) -> float:
        """Return v of a model that goes on from the last one asked for, or of that one."""
        if self._spanned is None:
            return self._n_samples - len(present)
        for candidate in present.moves[self._n_moves :]:
            self._spanned.project_out(candidate)
        self._n_moves = len(present.moves)
        return self._spanned.freedom


@dataclass(frozen=True)
class HuberPursuit(Method[HuberFit]):
    """Matching pursuit with Huber's loss.

    Parameters
    ----------
    variant : {"back-fitting", "pre-fitting", "basic"}
        Which function enters, and which weights move then.
    threshold : float
        Where the loss becomes linear, in units of the scale of the residuals.
    patience : int
        The search ends if this many steps in a row have not improved the best model.
    improvement : float
        The smallest relative reduction of V that counts.
    n_basis : int or None
        Exactly this many functions. None lets V decide.
    plain : Selection
        The method for targets that do not vary.
    """

    needs_rows: ClassVar[bool] = True

    variant: str = "back-fitting"
    threshold: float = 1.345
    patience: int = 16
    improvement: float = 1e-4
    n_basis: int | None = None
    plain: Selection = field(default_factory=lambda: Selection(ExplainedVariance(), Forward()))

    @property
    def sense(self) -> int:
        return -1

    @property
    def access(self) -> Access:
        return ONE_BY_ONE

    @on_one_blas_thread
    def run(self, problem: Problem, budget: Budget) -> HuberFit:
        evaluation, means = problem.evaluation()
        if problem.moments.n_samples <= 0.0 or problem.is_constant:
            return HuberFit(**vars(self.plain.run(problem, budget)))
        rows, n = problem.design.rows, problem.moments.n_samples
        journal = Journal(budget, value=lambda score: float(self._value(score, problem)))
        targets = problem.target_scale * (rows.targets[:, problem.output] - problem.design.target_means[problem.output])
        least = LEAST_SCALE * float(np.sqrt(problem.moments.target_energy / n))
        pursuit = RowPursuit.of(evaluation, means, self.variant, rows.row_weights)
        first = LossOfRows(HuberLoss(self.threshold * _scale(targets, rows.row_weights, least)), targets, rows.row_weights)
        freedom = _Freedom(problem.moments, self.variant)

        def settled(model: PursuitModel) -> PursuitModel:
            return self._settled(model, least, max(freedom.at(model), LEAST_FREEDOM) / n, journal)

        start = settled(pursuit.start(first, fit_intercept=problem.design.fit_intercept))
        stops = Stops(self.patience, 0.5 * self.improvement * n, self.n_basis)
        found, outcome = pursue(pursuit, start, lambda model: _score(model, freedom.at(model), n), settled, stops, journal)
        if outcome in SETTLED and self.n_basis is None and len(found) > HALF * n_distinct(problem):
            outcome = Outcome.HALF_USED
        elif outcome is Outcome.NO_ADDITION_HELPS and not len(found):
            outcome = Outcome.NOTHING_HELPS
        left = _Freedom(problem.moments, self.variant).at(found)
        fit = HuberFit(found.indices, np.zeros(len(found)), outcome, found=found, score=_score(found, left, n), freedom=left)
        return replace(fit, trace=journal.trace())

    def posterior(self, fit: HuberFit, problem: Problem) -> Posterior:
        if fit.found is None:
            return self.plain.posterior(fit, problem)
        design, scale, found = problem.design, problem.target_scale, fit.found
        order, fixed = np.argsort(fit.active), found.n_fixed
        active, mean = fit.active[order], found.model.weights[fixed:][order] / scale
        constant = float(found.model.weights[0]) / scale if fixed else 0.0
        center = design.means(active)
        noise = (_threshold(found) / self.threshold) ** 2
        effective = _effective_variance(found, fit.freedom, LEAST_SCALE * noise)
        trace = fit.trace.copy()
        trace["criterion"] = self._value(trace["criterion"], problem)
        return Posterior(
            active=active,
            mean=mean,
            center=center,
            intercept=float(design.target_means[problem.output] + constant - center @ mean),
            factor=np.sqrt(noise / effective) * cholesky_of_nearly_singular(_gram(found)[np.ix_(order, order)]),
            ridges=np.zeros(len(active)),
            noise_variance=noise / scale**2,
            n_samples=design.n_samples,
            fit_intercept=bool(fixed),
            criterion=float(self._value(fit.score, problem)),
            outcome=fit.outcome,
            trace=trace,
            n_iter=len(trace),
        )

    def _value(self, score: Floats | float, problem: Problem) -> Floats:
        """Return V in the units of the squared target."""
        return problem.design.n_samples * np.exp(-2.0 * np.asarray(score) / problem.moments.n_samples) / problem.target_scale**2

    def _settled(self, present: PursuitModel, least: float, free_share: float, journal: Journal) -> PursuitModel:
        """Return the model at the scale of its own residuals. Those of a model that fits much are smaller than the noise."""
        rows = present.model.rows
        for _ in range(MOST_ROUNDS):
            threshold = self.threshold * _scale(rows.targets - present.model.latent, rows.counts, least, free_share)
            if abs(threshold - _threshold(present)) <= STEADY * threshold or journal.exhausted() is not None:
                break
            present = present.with_loss(HuberLoss(threshold), self.variant, lambda: journal.exhausted() is not None)
        return present


def _scale(residuals: Floats, counts: Floats, least: float, free_share: float = 1.0) -> float:
    """Return the standard deviation of most rows, but at least `least`, if this share of the degrees of freedom is left.

    If most residuals are zero, as for targets most of which are equal, only the others count: a scale of zero would make all other
    rows outliers.
    """
    distances = np.abs(residuals)
    scale = _noise_of(distances, counts, free_share)
    others = distances > NORMAL_MEDIAN * least
    if scale <= least and others.any():
        scale = _noise_of(distances[others], counts[others], free_share)
    return max(scale, least)


def _noise_of(distances: Floats, counts: Floats, free_share: float) -> float:
    """Return the standard deviation of noise from its absolute residuals: their middle one without those that may have become zero.

    Normal noise of variance 1 leaves residuals of variance `free_share`, and so this quantile of them.
    """
    normal = np.sqrt(free_share) * ndtri(1.0 - 0.25 * free_share)
    return _quantile(distances, counts, 1.0 - 0.5 * free_share) / float(normal)


def _quantile(values: Floats, counts: Floats, share: float) -> float:
    """Return the smallest of the values that this share of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(counts[order])
    return float(values[order[np.searchsorted(total, share * total[-1])]])


def _score(present: PursuitModel, freedom: float, n_samples: float) -> float:
    """Return -(n/2) log(2 sum(rho) / v^2), or minus infinity if no degree of freedom would be left."""
    if len(present) and freedom < LEAST_FREEDOM:
        return -np.inf
    least = RESOLUTION * float(present.model.rows.counts @ present.model.rows.targets**2)
    return score_of(max(2.0 * present.model.rows.total(present.model.latent), least), freedom, n_samples)


def _effective_variance(found: PursuitModel, freedom: float, least: float) -> float:
    """Return tau^2, which the covariance of the weights has in place of the noise variance."""
    rows = found.model.rows
    slopes, curvature = rows.loss.slopes(rows.targets, found.model.latent)
    inside = float(rows.counts @ curvature) / float(rows.counts.sum())
    return max(float(rows.counts @ slopes**2) / max(freedom, LEAST_FREEDOM) / max(inside, LEAST_INSIDE) ** 2, least)


def _threshold(found: PursuitModel) -> float:
    loss = found.model.rows.loss
    assert isinstance(loss, HuberLoss)
    return loss.threshold


def _gram(found: PursuitModel) -> Floats:
    """Return Phi'Phi of the functions about their means, weights of rows counted."""
    phi, counts = found.model.columns[:, found.n_fixed :], found.model.rows.counts
    return (phi * counts[:, None]).T @ phi
