"""The original relevance vector classifier: all candidates, all precisions re-estimated together (Tipping 2001, section 3)."""

from __future__ import annotations

import numpy as np

from skarce._memory import fits, memory_budget
from skarce.basis.candidates import Evaluation
from skarce.likelihoods import Labels
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.steps import PRECISION_RANGE
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

PRUNED = 1e6  # in units of the largest curvature: above, a function has no effect that could be seen
PRIOR_VARIANCE = 4.0  # of the latent function under all candidates together, to begin with


def check_memory(evaluation: Evaluation) -> None:
    """All candidates at all rows are held, and a square matrix of as many rows as there are candidates."""
    n, m = evaluation.n_rows, evaluation.n_candidates
    if not (fits(n, m) and fits(m, m)):
        raise ValueError(
            f'solver="em" holds {m} candidates at {n} rows and their {m} x {m} Hessian, above the budget of '
            f"{memory_budget() / 2**20:.0f} MiB. Use solver='fast', fewer candidates (centers=500), or "
            "sklearn.set_config(working_memory=...)."
        )


def run_em(evaluation: Evaluation, labels: Labels, journal: Journal, *, fit_intercept: bool) -> tuple[Laplace, Outcome | None]:
    """Re-estimate alpha = gamma / w^2 and prune until the score settles; the model, and the limit that stopped it or None."""
    empty = Laplace.empty(labels, fit_intercept=fit_intercept)
    columns = evaluation.columns(np.arange(evaluation.n_candidates))
    energies = labels.weights @ columns**2
    usable = np.flatnonzero(energies > 0.0)
    start = energies.sum() / (PRIOR_VARIANCE * labels.weights.sum())
    model = empty.with_added(columns[:, usable], np.full(len(usable), start), usable)
    while len(model):
        limit = journal.exhausted()
        if limit is not None:
            return model, limit
        before = model.score
        with np.errstate(divide="ignore", over="ignore"):
            # Where the gradient vanishes: gamma + 2 r / alpha = alpha w^2, r the rate of the penalty.
            squared = model.weights[model.learned] ** 2
            determined = np.maximum(model.well_determined, 1e-300)
            updated = (determined + np.sqrt(determined**2 + 8.0 * model.penalty_rates * squared)) / (2.0 * squared)
        largest = 0.25 * model.energies[model.learned]
        pruned = np.flatnonzero(~(updated < PRUNED * largest))
        model = model.without(pruned) if len(pruned) else model
        kept = np.maximum(np.delete(updated, pruned), PRECISION_RANGE[0] * np.delete(largest, pruned))
        model = model.at(kept)
        journal.note("em", -1, model.score, len(model))
        if not len(pruned) and abs(model.score - before) < 0.1 * journal.limits.tol:
            break
    return model, None
