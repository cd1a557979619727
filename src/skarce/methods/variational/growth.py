r"""A variational model that grows from nothing, one candidate at a time.

If there are about as many candidates as rows, too many of them survive a start with all: they share the signal of a few, and noise
is mistaken for signal. In a model that grows from nothing, only candidates that stand out enter. Both ways end at fixed points of
the same bound. But the best of many candidates can stand out by chance, and the bound does not know among how many sets a model
was chosen. So models are compared with a prior on the set itself. Every number k of candidates is equally likely, and so is every
set of that size:

.. math:: L - \log\binom dk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, solve_lower
from skarce._parallel import on_one_blas_thread
from skarce._typing import Indices
from skarce.criteria.size_prior import log_number_of_sets
from skarce.methods.variational.direct import VariationalModel, iterate, resume, run_direct
from skarce.moments import Moments
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import DEPENDENT

STEPS = 5  # iterations after each candidate that enters
WORTH = 4.0  # a candidate may enter if its squared t statistic is larger
SLACK = 1.0  # a candidate is tried if its gain is at most this much too small, because the other precisions may improve with it
LARGEST = 100  # growth ends at this many candidates; larger models are found from the start with all


def run_from_both_ends(moments: Moments, journal: Journal, labels: Indices) -> VariationalModel:
    """Return the better of two models: one that starts from all candidates, and one that grows from none.

    The trace is that of the better model.
    """
    down, up = journal.branch(), journal.branch()
    model, grown = run_direct(moments, down, labels), grow(moments, up, labels)
    is_better = worth(grown) > worth(model)
    journal.take(up if is_better else down, other=down if is_better else up)
    return grown if is_better else model


@on_one_blas_thread
def grow(moments: Moments, journal: Journal, labels: Indices) -> VariationalModel:
    """Grow a model from nothing. The candidate that stands out most enters as long as that raises the worth of the model."""
    model = VariationalModel.empty(moments, labels)
    while len(model) < LARGEST and journal.exhausted() is None:
        larger = with_best_outside(model, labels, journal.budget)
        if larger is None:
            break
        model, candidate = larger
        journal.note("add", candidate, model.bound, len(model))
    iterate(model, journal)
    if not len(model):
        journal.note("solve", -1, model.bound, 0)
    return model


def worth(model: VariationalModel) -> float:
    """Return the bound plus the log prior of the set of candidates. Each candidate must have its own precision."""
    return model.bound - log_number_of_sets(model.moments.n_candidates, len(model))


def with_best_outside(model: VariationalModel, labels: Indices, limits: Budget) -> tuple[VariationalModel, int] | None:
    """Return the model with one more candidate, after a few iterations, and that candidate.

    Returns None if no candidate raises the worth of the model.
    """
    best = best_outside(model, labels)
    if best is None:
        return None
    d, k = model.moments.n_candidates, len(model)
    price = max(log_number_of_sets(d, k + 1) - log_number_of_sets(d, k), 0.0)
    if not most_gained(model, best) > price - SLACK:
        return None
    larger = _with(model, labels, best.candidate, best.ridge)
    iterate(larger, Journal(limits), most=STEPS)
    return (larger, best.candidate) if larger.bound > model.bound and worth(larger) > worth(model) else None


class Outside(NamedTuple):
    """A candidate that is not in the model.

    Attributes
    ----------
    candidate : its index
    ridge : the relative ridge that it would have
    ratio : its squared t statistic
    """

    candidate: int
    ridge: float
    ratio: float


def most_gained(model: VariationalModel, outside: Outside) -> float:
    r"""Return about how much a candidate raises the bound at most, if the precisions of the others stay.

    With :math:`T` for the squared t statistic and at most one more for :math:`\Gamma`, the bound grows at a relative ridge u by at
    most :math:`\frac12T/(1+u)+\frac12\log(u/\Gamma)`, and :math:`(1+u)^2=Tu` is best.
    """
    half, total = 0.5 * outside.ratio - 1.0, model.precisions.total_determined + 1.0
    ridge = half - math.sqrt(max(half * half - 1.0, 0.0))
    return 0.5 * (outside.ratio / (1.0 + ridge) + min(math.log(ridge / total), 0.0))


def best_outside(model: VariationalModel, labels: Indices) -> Outside | None:
    r"""Return the candidate that would have the largest t statistic.

    Only candidates that share their precision with no other are considered. With :math:`q=\varphi^T(t-\Phi\mu)` and
    :math:`S=\varphi^TP\varphi` the weight would be about :math:`q/S`, and the squared t statistic :math:`q^2/(sS)`. Returns None if
    no candidate stands out.
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
        cover = solve_lower(cholesky_of_nearly_singular(matrix), columns)
        left -= np.einsum("am,am->m", cover, cover)
    usable = (left > DEPENDENT * h) & (np.bincount(labels)[labels] == 1)
    usable[active] = False
    ratios = np.where(usable, rest**2, 0.0) / (noise * np.where(usable, left, 1.0))
    best = int(ratios.argmax())
    if not ratios[best] > WORTH:
        return None
    weight = rest[best] / left[best]
    return Outside(best, float(noise / (weight**2 * h[best])), float(ratios[best]))


def _with(model: VariationalModel, labels: Indices, candidate: int, ridge: float) -> VariationalModel:
    """Return the model with one more candidate, at this relative ridge."""
    place = int(np.searchsorted(model.candidates, candidate))
    active = np.insert(model.candidates, place, candidate)
    ridges = np.insert(model.ridges, place, ridge * model.moments.gram.diagonal[candidate])
    return resume(model.moments, labels, Fit(active, ridges, Outcome.FOLLOWING))
