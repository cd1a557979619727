"""A variational model that follows a stream: a few steps from the last model, and a test of what was pruned (VBLS errata 3.12)."""

from __future__ import annotations

import numpy as np

from skarce._linalg import solve_lower
from skarce._parallel import on_one_blas_thread
from skarce._typing import Indices
from skarce.active_set import DEPENDENT
from skarce.moments import Moments
from skarce.posterior import Outcome
from skarce.posterior_of import factor_of_nearly_singular
from skarce.searches.journal import Found, Journal
from skarce.solvers.variational_direct import Model, climb, resume

STEPS = 5  # after each batch, and after each candidate that came back
MOST_BACK = 3  # candidates that come back in one batch
WORTH = 4.0  # the squared t statistic from which on a candidate has a place in a model


@on_one_blas_thread
def follow(moments: Moments, journal: Journal, labels: Indices, last: Found) -> Model:
    """Where the last model goes with moments that have changed a little; of pruned candidates the best may come back."""
    model = resume(moments, labels, last)
    climb(model, journal, most=STEPS)
    for _ in range(MOST_BACK):
        candidate = best_outside(model, labels)
        if candidate is None:
            break
        model = _with(model, labels, *candidate)
        climb(model, journal, most=STEPS)
    return model


def best_outside(model: Model, labels: Indices) -> tuple[int, float] | None:
    r"""The candidate (of those with a precision of their own) that would have the largest t statistic, with its relative ridge.

    With :math:`q=\varphi^T(t-\Phi\mu)` and :math:`S=\varphi^TP\varphi` its weight would be about :math:`q/S`, and
    :math:`q^2/(sS)` its squared t statistic.
    """
    moments, active, noise = model.moments, model.candidates, model.precisions.noise
    h = moments.gram.diagonal
    if moments.n_samples <= len(active) + 2:
        return None
    columns = moments.gram.columns(active)
    left, rest = h.copy(), moments.projections - model.weights @ columns
    if len(active):
        matrix = columns[:, active]
        matrix.flat[:: len(active) + 1] += model.ridges
        cover = solve_lower(factor_of_nearly_singular(matrix), columns)
        left -= np.einsum("am,am->m", cover, cover)
    usable = (left > DEPENDENT * h) & (np.bincount(labels)[labels] == 1)
    usable[active] = False
    ratios = np.where(usable, rest**2, 0.0) / (noise * np.where(usable, left, 1.0))
    best = int(ratios.argmax())
    if not ratios[best] > WORTH:
        return None
    weight = rest[best] / left[best]
    return best, float(noise / (weight**2 * h[best]))


def _with(model: Model, labels: Indices, candidate: int, ridge: float) -> Model:
    place = int(np.searchsorted(model.candidates, candidate))
    active = np.insert(model.candidates, place, candidate)
    ridges = np.insert(model.ridges, place, ridge * model.moments.gram.diagonal[candidate])
    return resume(model.moments, labels, Found(active, ridges, Outcome.FOLLOWING))
