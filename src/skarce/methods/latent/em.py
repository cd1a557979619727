"""The original relevance vector machine: all candidates, all precisions re-estimated together (Tipping 2001, section 3)."""

from __future__ import annotations

import numpy as np

from skarce._linalg import SURE_RISES
from skarce._memory import require
from skarce._typing import Floats
from skarce.basis.candidates import Evaluation
from skarce.likelihoods import Observations
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.steps import PRECISION_RANGE
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

PRUNED = 1e6  # in units of the largest curvature: above, a function has no effect that could be seen
PATIENCE = 100  # steps in a row that neither prune nor raise the best score, after which they go round in circles
PRIOR_VARIANCE = 4.0  # of the latent function under all candidates together, to begin with


def check_memory(evaluation: Evaluation) -> None:
    """Raise if all candidates at all rows, or the square matrix of all candidates, need too much memory."""
    n, m = evaluation.n_rows, evaluation.n_candidates
    remedy = "Use solver='fast', or fewer candidates (centers=500)"
    require(n, m, f'The matrix of all {m} candidates at {n} rows, which solver="em" holds,', remedy)
    require(m, m, f'The Hessian of all {m} candidates, which solver="em" holds,', remedy)


def run_em(
    evaluation: Evaluation, observations: Observations, journal: Journal, *, fit_intercept: bool
) -> tuple[Laplace, Outcome | None]:
    """Re-estimate the precisions and prune until the score settles; the model, and the limit that stopped it or None."""
    # All candidates together are often dependent, and there is no smaller model to go back to.
    model = _with_all(evaluation, Laplace.empty(observations, fit_intercept=fit_intercept, rises=SURE_RISES))
    best, n_idle = model, 0
    while len(model):
        limit = journal.exhausted(ahead=model.seconds)
        if limit is not None:
            return model, limit
        before, updated, largest = model.score, _updated(model), model.functions.largest_curvatures[model.learned]
        pruned = np.flatnonzero(~(updated < PRUNED * largest))
        model = model.without(pruned) if len(pruned) else model
        model = model.at(np.maximum(np.delete(updated, pruned), PRECISION_RANGE[0] * np.delete(largest, pruned)))
        journal.note("em", -1, model.score, len(model))
        if not len(pruned) and abs(model.score - before) <= 0.1 * journal.budget.tol:
            break
        if len(pruned) or model.score > best.score + 0.1 * journal.budget.tol:
            best, n_idle = model, 0
        else:
            n_idle += 1
        if n_idle >= PATIENCE:
            return best, None
    return model, None


def _with_all(evaluation: Evaluation, empty: Laplace) -> Laplace:
    """Return the model with all candidates that are not zero, at one precision."""
    columns, weights = evaluation.columns(np.arange(evaluation.n_candidates)), empty.observations.energy_weights
    energies = weights @ columns**2
    usable = np.flatnonzero(energies > 0.0)
    start = energies.sum() / (PRIOR_VARIANCE * weights.sum())
    return empty.with_added(columns[:, usable], np.full(len(usable), start), usable)


def _updated(model: Laplace) -> Floats:
    """Return alpha such that gamma + 2 r / alpha = alpha w^2, r being the rate of the penalty: there the gradient vanishes."""
    squared = model.weights[model.learned] ** 2
    determined = np.maximum(model.well_determined, 1e-300)
    with np.errstate(divide="ignore", over="ignore"):
        return (determined + np.sqrt(determined**2 + 8.0 * model.penalty_rates * squared)) / (2.0 * squared)
