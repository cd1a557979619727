"""Variational Bayesian least squares as a method: the solver for each prior, and models that follow a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from skarce._typing import Indices
from skarce.criteria import IndividualEvidence
from skarce.criteria.variational import LikelihoodWithoutPrior, VariationalBound
from skarce.designs.problem import Problem
from skarce.methods.method import MomentMethod
from skarce.methods.variational.choice import choose, small_enough
from skarce.methods.variational.direct import VariationalModel, iterate, resume, run_direct
from skarce.methods.variational.growth import run_from_both_ends
from skarce.methods.variational.prior import Prior
from skarce.methods.variational.stream import follow
from skarce.methods.variational.sweeps import run_backfitting
from skarce.methods.variational.together import run_shared, run_without_prior
from skarce.moments import Moments
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.judge import Judge
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class VariationalLeastSquares(MomentMethod):
    """Probabilistic backfitting with the priors of Ting et al.

    Parameters
    ----------
    prior : Prior
        Which weights share a precision.
    solver : {"direct", "em"}
        ``"direct"`` solves ridge regressions. ``"em"`` runs the sweeps of the paper.
    grows : bool
        Whether a model that grows from nothing is tried in addition to the one that shrinks from all candidates.
    factorized : bool
        Whether a shared prior also uses the independent weights of the paper.
    significance : "bound", float or None
        A stricter rule for which candidates stay; see `choose`.
    follows : bool
        Whether models of a stream continue from the last one until the number of rows has doubled.
    last : tuple of Fit
        The fits of the last batch, one for each output.
    """

    prior: Prior = field(default_factory=Prior)
    solver: str = "direct"
    grows: bool = True
    factorized: bool = False
    significance: Any = None
    follows: bool = True
    last: tuple[Fit, ...] = ()

    @property
    def has_full_covariance(self) -> bool:
        """Whether precisions are learned with the full covariance of the weights."""
        return self.prior.is_shared and not self.factorized

    @property
    def is_bounded(self) -> bool:
        """Whether the criterion is the factorized bound of the paper."""
        return not (self.prior.is_none or self.has_full_covariance)

    @property
    def is_followed(self) -> bool:
        """Whether models of a stream continue from the last one, by steps that raise the bound."""
        return self.follows and self.is_bounded and self.solver == "direct"

    @property
    def follows_rows(self) -> bool:
        """Whether a step for each row is enough for some rows: each weight has its own precision, and there is no stricter rule."""
        return self.is_followed and self.significance is None and isinstance(self.prior.kind, str) and self.prior.kind == "ard"

    def following(self, posteriors: Sequence[Any]) -> Self:
        """Return the method that continues from these models, if precisions are learned by the bound with ``solver="direct"``."""
        if not self.is_followed:
            return self
        return replace(self, last=tuple(Fit(p.active, p.ridges, p.outcome) for p in posteriors))

    @property
    def criterion(self) -> Judge:  # type: ignore[override]
        if self.prior.is_none:
            return LikelihoodWithoutPrior()
        return IndividualEvidence() if self.has_full_covariance else VariationalBound()

    def run(self, problem: Problem, budget: Budget) -> Fit:
        if not self.last:
            return super().run(problem, budget)
        return _Following(self, self.last[problem.output]).run(problem, budget)

    def solve(self, judge: Judge, moments: Moments, journal: Journal) -> Fit:
        labels = self.prior.labels(moments.n_candidates)
        if self.prior.is_none:
            fit = run_without_prior(moments, journal) if self.solver == "direct" else run_backfitting(moments, journal, None)
        elif self.has_full_covariance:
            fit = run_shared(moments, journal, self.solver)
        elif self.solver == "em":
            fit = run_backfitting(moments, journal, labels)
        else:
            # Candidates of a group cannot enter one at a time.
            both = self.grows and len(np.unique(labels)) == len(labels)
            return self.chosen((run_from_both_ends if both else run_direct)(moments, journal, labels), journal)
        return strongest(fit, moments, journal.budget.max_active)

    def resumed(self, judge: Judge, moments: Moments, last: Fit | None, journal: Journal) -> Fit:
        """Continue from a fit to nearly the same moments. Solve from scratch if there is no such fit, or it has no functions."""
        if last is None or not len(last.active) or not self.is_bounded:
            return self.solve(judge, moments, journal)
        model = resume(moments, self.prior.labels(moments.n_candidates), last)
        iterate(model, journal)
        return self.chosen(model, journal)

    def chosen(self, model: VariationalModel, journal: Journal) -> Fit:
        """Return the fit after the stricter rules, if there are any. A fit that a limit ended gets as small as it has to be."""
        model, outcome = choose(model, journal, self.significance, journal.budget.max_active)
        return small_enough(model, outcome, journal, int(model.moments.n_samples)).fit(outcome)

    def posterior(self, fit: Fit, problem: Problem) -> VariationalPosterior:
        posterior, moments = super().posterior(fit, problem), problem.moments
        return VariationalPosterior.of(
            posterior,
            squared_norms=moments.gram.diagonal[posterior.active],
            group_sizes=self.prior.group_sizes(moments.n_candidates)[posterior.active],
            is_factorized=self.is_bounded,
        )


@dataclass(frozen=True)
class _Following(MomentMethod):
    """Takes a few steps from the model of the last batch."""

    method: VariationalLeastSquares
    last: Fit

    @property
    def criterion(self) -> Judge:  # type: ignore[override]
        return self.method.criterion

    def solve(self, judge: Judge, moments: Moments, journal: Journal) -> Fit:
        model = follow(moments, journal, self.method.prior.labels(moments.n_candidates), self.last)
        return replace(self.method.chosen(model, journal), outcome=journal.exhausted() or Outcome.FOLLOWING)


def strongest(fit: Fit, moments: Moments, max_active: int | None) -> Fit:
    """Keep the `max_active` functions of a full model whose weights contribute most to the fit."""
    if max_active is None or len(fit.active) <= max_active:
        return fit
    squared_norms = moments.gram.diagonal[fit.active]
    weights = fit.weights
    if weights is None:
        weights = moments.projections[fit.active] / (squared_norms + fit.ridges)
    kept: Indices = np.sort(np.argsort(-(weights**2) * squared_norms, kind="stable")[:max_active])
    return Fit(fit.active[kept], fit.ridges[kept], Outcome.SIZE_LIMIT)
