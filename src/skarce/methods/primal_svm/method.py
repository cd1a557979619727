r"""Support vector machines in the primal, on functions that enter one by one (Keerthi, Chapelle and DeCoste 2006).

With labels :math:`t_i = \pm1`, the objective is

.. math:: J = \tfrac12w^TKw + \tfrac C2\sum_ic_i\max(0, 1 - t_if_i)^2, \qquad f = b + \Phi w,

where K is the kernel matrix of the chosen centers. If functions are not kernels, it is diagonal, with the variances of the
functions over the rows, as if these were scaled to unit variance. J is piecewise quadratic, so Newton steps on the rows that
violate the margin reach its minimum after a few sets of such rows.

Which function enters: of some candidates, drawn at random, the one that lowers J most if its weight moves alone. 59 candidates hold
one of the best twentieth with a probability of 95 %. All weights move again each time the set has grown by a tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skarce._memory import require
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.designs.folds import kernels_of
from skarce.designs.problem import Problem
from skarce.methods.method import Method
from skarce.methods.primal_svm.by_passes import ByPasses
from skarce.methods.primal_svm.growth import Growth
from skarce.methods.primal_svm.penalty import JITTER, Penalty, own_precisions
from skarce.methods.pursuit.losses import SquaredHingeLoss
from skarce.methods.pursuit.row_model import LossOfRows
from skarce.methods.pursuit.row_pursuit import energies_of
from skarce.posteriors.latent import LatentFit, LatentPosterior
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class PrimalSVM(Method[LatentFit]):
    """A support vector machine with squared hinge loss, on a greedily chosen basis.

    Parameters
    ----------
    C : float
        The weight of the loss relative to the penalty.
    n_candidates : int
        How many candidates are compared before one enters.
    random_state : int
        Seeds the draws of candidates.
    """

    C: float = 1.0
    n_candidates: int = 59
    random_state: int = 0

    @property
    def sense(self) -> int:
        return -1

    @on_one_blas_thread
    def run(self, problem: Problem, budget: Budget) -> LatentFit:
        journal = Journal(budget)
        growth, outcome, means = self.grown(problem, journal)
        model = growth.model
        _, curvature = model.rows.slopes(model.latent)
        hessian = model.hessian(curvature)
        return fit_of(growth.indices, model.weights, model.penalty, hessian, means, model.objective, outcome, journal)

    def run_all(self, problems: Sequence[Problem], budget: Budget) -> list[LatentFit]:
        if problems[0].design.has_passes:
            return ByPasses(self, problems, budget).run()
        return super().run_all(problems, budget)

    def grown(self, problem: Problem, journal: Journal) -> tuple[Growth, Outcome, Floats]:
        """Return the functions that enter, how that ended, and the means of all candidates, which functions are about."""
        evaluation, means = problem.evaluation()
        observed = problem.observations
        n_compared = min(self.n_candidates, evaluation.n_candidates)
        require(len(observed), n_compared, f"n_candidates={n_compared} at {len(observed)} rows", "Lower n_candidates")
        rows = LossOfRows(SquaredHingeLoss(self.C), 2.0 * observed.targets - 1.0, observed.weights)
        rng = np.random.default_rng([self.random_state, problem.output])
        squares = energies_of(evaluation, means, observed.weights)
        penalty = Penalty(kernels_of(problem.design.candidates), squares / observed.weights.sum())
        growth = Growth(evaluation, penalty, rows, journal, rng, n_compared)
        growth.offer(np.flatnonzero(squares > 0.0))
        with journal.shown():
            outcome = growth.run(fit_intercept=problem.design.fit_intercept)
        return growth, outcome, means

    def posterior(self, fit: LatentFit, problem: Problem) -> LatentPosterior:
        return LatentPosterior.of(fit, 0.0)


def fit_of(
    indices: Indices,
    weights: Floats,
    penalty: Floats,
    hessian: Floats,
    means: Floats,
    objective: float,
    outcome: Outcome,
    journal: Journal,
) -> LatentFit:
    """Return the end of a search, with the means of all candidates. Weights begin with the constant if there is one."""
    jitter = JITTER * max(float(np.trace(hessian)), 1.0)
    matrix = hessian.copy()
    matrix.flat[:: len(matrix) + 1] += jitter  # the constant may have no curvature
    precisions = own_precisions(penalty, len(weights) - len(indices), jitter)
    return LatentFit.of(indices, weights, precisions, matrix, means, score=objective, outcome=outcome, trace=journal.trace())
