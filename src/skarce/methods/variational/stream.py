"""A variational model on a stream: a few steps from the last model, and a test of pruned candidates (VBLS errata 3.12)."""

from __future__ import annotations

from skarce._parallel import on_one_blas_thread
from skarce._typing import Indices
from skarce.methods.variational.direct import VariationalModel, iterate, resume
from skarce.methods.variational.growth import STEPS, with_best_outside
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal

MOST_BACK = 3  # candidates that may come back in one batch


@on_one_blas_thread
def follow(moments: Moments, journal: Journal, labels: Indices, last: Fit) -> VariationalModel:
    """Continue from the last model with moments that have changed a little. The best pruned candidates may come back."""
    model = resume(moments, labels, last)
    iterate(model, journal, most=STEPS)
    for _ in range(MOST_BACK):
        larger = with_best_outside(model, labels, journal.budget)
        if larger is None:
            break
        model, candidate = larger
        journal.note("add", candidate, model.bound, len(model))
    return model
