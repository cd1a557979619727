r"""Matching pursuit with the logistic loss, for labels.

The gradient of the loss chooses a function, and Newton's method moves the weights. Separable classes would let weights grow without
end, so each function has a weak prior: what it brings to the log odds has the standard deviation 10 over the rows. The log evidence
by the Laplace approximation at this prior says how many functions there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular
from skarce._parallel import on_one_blas_thread
from skarce.designs.problem import Problem
from skarce.methods.method import Method
from skarce.methods.pursuit.losses import LogisticLoss
from skarce.methods.pursuit.row_model import LossOfRows
from skarce.methods.pursuit.row_pursuit import PursuitModel, RowPursuit, Stops, pursue
from skarce.posteriors.latent import LatentFit, LatentPosterior
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class LogisticPursuit(Method[LatentFit]):
    """Matching pursuit with the logistic loss.

    Parameters
    ----------
    variant : {"back-fitting", "pre-fitting", "basic"}
        Which function enters, and which weights move then.
    patience : int
        The search ends if this many steps in a row have not improved the best model.
    n_basis : int or None
        Exactly this many functions. None lets the evidence decide.
    """

    needs_rows: ClassVar[bool] = True

    variant: str = "back-fitting"
    patience: int = 16
    n_basis: int | None = None

    @property
    def sense(self) -> int:
        return 1

    @on_one_blas_thread
    def run(self, problem: Problem, budget: Budget) -> LatentFit:
        evaluation, means = problem.evaluation()
        observed, journal = problem.observations, Journal(budget)
        pursuit = RowPursuit.of(evaluation, means, self.variant, observed.weights, observed.likelihood.latent_scale)
        rows = LossOfRows(LogisticLoss(), observed.targets, observed.weights)
        start = pursuit.start(rows, fit_intercept=problem.design.fit_intercept)
        stops = Stops(self.patience, budget.least_gain, self.n_basis)
        found, outcome = pursue(pursuit, start, _log_evidence, lambda model: model, stops, journal)
        if outcome is Outcome.NO_ADDITION_HELPS and not len(found):
            outcome = Outcome.NOTHING_HELPS
        _, curvature = rows.slopes(found.model.latent)
        return LatentFit.of(
            found.indices,
            found.model.weights,
            found.model.penalty.diagonal(),
            found.model.hessian(curvature),
            means,
            score=_log_evidence(found),
            outcome=outcome,
            trace=journal.trace(),
        )

    def posterior(self, fit: LatentFit, problem: Problem) -> LatentPosterior:
        return LatentPosterior.of(fit, problem.observations.level)


def _log_evidence(present: PursuitModel) -> float:
    """Return -l - w'Aw/2 + log|A|/2 - log|H|/2."""
    model = present.model
    _, curvature = model.rows.slopes(model.latent)
    factor = cholesky_of_nearly_singular(model.hessian(curvature))
    return float(-model.objective + 0.5 * np.log(model.penalty.diagonal()).sum() - np.log(factor.diagonal()).sum())
