"""Backward elimination as a method: first all candidates by evidence, then nested models under one ridge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from skarce._typing import Floats
from skarce.designs.choice import ALL_AT_ONCE, Access
from skarce.designs.design import Rows
from skarce.designs.problem import Problem
from skarce.methods.all_candidates import PriorEvidence, full_model
from skarce.methods.elimination.path import StopRule, run_penalized_path
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

INVERSE_SHARE = 0.3  # the inverse of Phi'Phi + rho I takes about this share of the time of its eigenvectors
PRECISION_BUDGET = Budget(tol=1e-9, max_steps=100)  # for the search for the precision of the full model


@dataclass(frozen=True)
class Elimination(MomentMethod):
    """Learn a model of all candidates by evidence. Then functions leave (or enter) one at a time.

    Parameters
    ----------
    rule : StopRule
        Which of the nested models is chosen.
    weight_variance : float or None
        The prior variance of the weights for targets that span [-1, 1]. None learns it.
    n_basis : int or None
        Choose the model of exactly this many functions. None lets the rule decide.
    keep_path : bool
        Whether models larger than the chosen one are kept.
    criterion : PriorEvidence
        The criterion without a target; `judge` adds the prior variance.
    """

    rule: StopRule
    weight_variance: float | None = None
    n_basis: int | None = None
    keep_path: bool = False
    criterion: PriorEvidence = field(default_factory=PriorEvidence)

    trace_fields: ClassVar[tuple[str, ...]] = ("increment", "objective")

    @property
    def access(self) -> Access:
        return ALL_AT_ONCE

    def width_options(self, rows: Rows) -> dict[str, Any]:
        """Return the prior variances, so that widths are learned under the same prior."""
        return {"weight_variance": self._variances(rows)}

    def judge(self, problem: Problem) -> PriorEvidence:
        variances = self._variances(problem.design.rows)
        return PriorEvidence(weight_variance=None if variances is None else float(variances[problem.output]))

    def solve(self, judge: PriorEvidence, moments: Moments, journal: Journal) -> Fit:
        watch = journal.stopwatch()
        full = full_model(moments, Journal(PRECISION_BUDGET), judge.weight_variance)
        if full is None:
            return Fit.empty(Outcome.CONVERGED)
        watch.exhausted(INVERSE_SHARE)
        return run_penalized_path(judge, moments, journal, full, self.rule, self.n_basis, self.keep_path)

    def _variances(self, rows: Rows) -> Floats | None:
        """Return the prior variance of the weights of each output in user units, or None if it is learned."""
        if self.weight_variance is None:
            return None
        targets = rows.targets if rows.weights is None else rows.targets[rows.weights > 0.0]
        half = 0.5 * np.ptp(targets, axis=0)
        return self.weight_variance * np.where(half > 0.0, half, 1.0) ** 2
