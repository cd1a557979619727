"""Stricter rules for who stays in a variational model: by the bound itself, by significance, or by number."""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy import stats

from skarce._linalg import symmetric_inverse
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats
from skarce.posterior_of import factor_of_nearly_singular
from skarce.searches.journal import Journal
from skarce.solvers.variational_direct import Model, climb


@on_one_blas_thread
def delete_by_bound(model: Model, journal: Journal) -> Model:
    """Take out the weakest group as long as the bound of what is left, settled again, is larger."""
    while len(model) and journal.exhausted() is None:
        weakest = int((model.strengths / model.groups.sizes).argmin())
        smaller = _without(model, weakest, journal)
        if not smaller.bound > model.bound:
            return model
        journal.note("delete", int(model.candidates[model.groups.label == weakest][0]), smaller.bound, len(smaller))
        model = smaller
    return model


@on_one_blas_thread
def delete_insignificant(model: Model, journal: Journal, level: float) -> Model:
    """Take out the least significant group, and settle again, until all pass their test at this level."""
    while len(model) and journal.exhausted() is None:
        p_values = group_p_values(model)
        worst = int(p_values.argmax())
        if p_values[worst] < level:
            return model
        candidate = int(model.candidates[model.groups.label == worst][0])
        model = _without(model, worst, journal)
        journal.note("delete", candidate, model.bound, len(model))
    return model


@on_one_blas_thread
def cap(model: Model, journal: Journal, max_active: int) -> Model:
    """The strongest groups that together have no more than `max_active` candidates; of a larger one, its strongest members."""
    strengths = model.weights**2 * model.lengths
    by_group = (model.strengths / model.groups.sizes)[model.groups.label]
    order = np.lexsort((-strengths, model.groups.label, -by_group))
    labels = model.groups.label[order]
    last_of_group = np.flatnonzero(np.append(labels[1:] != labels[:-1], True)) + 1
    fitting = last_of_group[last_of_group <= max_active]
    chosen = np.zeros(len(model), dtype=bool)
    chosen[order[: int(fitting[-1]) if len(fitting) else max_active]] = True
    model.keep(chosen)
    climb(model, journal)
    return model


def group_p_values(model: Model) -> Floats:
    """F tests of each group (of one: t tests) with the full covariance of the weights and N - Gamma degrees of freedom."""
    now, moments = model.precisions, model.moments
    matrix = moments.gram.block(model.candidates, model.candidates)
    matrix.flat[:: len(matrix) + 1] += model.ridges
    inverse = symmetric_inverse(factor_of_nearly_singular(matrix))
    freedom = max(moments.n_samples - now.total_determined, 1.0)
    ratios = np.empty(len(now.ridges))
    for group in range(len(ratios)):
        members = np.flatnonzero(model.groups.label == group)
        weights = model.weights[members]
        ratios[group] = weights @ np.linalg.solve(inverse[np.ix_(members, members)], weights) / (len(members) * now.noise)
    return stats.f.sf(ratios, model.groups.sizes, freedom)


def _without(model: Model, group: int, journal: Journal) -> Model:
    smaller = copy(model)
    smaller.keep(model.groups.label != group)
    climb(smaller, Journal(journal.limits))
    return smaller
