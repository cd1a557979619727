"""Stricter rules for who stays in a variational model: by the bound itself, by significance, or by number."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import stats

from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.methods.variational.precisions import Groups, Mask
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome


class Choosable(Protocol):
    """A variational model, of numbers or of classes, that can do with fewer candidates."""

    @property
    def candidates(self) -> Indices: ...

    @property
    def groups(self) -> Groups: ...

    @property
    def bound(self) -> float: ...

    @property
    def effects(self) -> Floats:
        """mu^2 h of each candidate: how much of the fit is its own."""
        ...

    def __len__(self) -> int: ...

    def p_values(self) -> Floats:
        """Of tests of each group against zero."""
        ...

    def kept(self: Chosen, chosen: Mask, journal: Journal) -> Chosen:
        """Only the candidates where `chosen` is true, settled again."""
        ...


Chosen = TypeVar("Chosen", bound=Choosable)


def choose(model: Chosen, journal: Journal, significance: Any, max_active: int | None) -> tuple[Chosen, Outcome]:
    """What is left by these rules, where there are any, and how it ended."""
    if isinstance(significance, str):
        model = delete_by_bound(model, journal)
    elif significance is not None:
        model = delete_insignificant(model, journal, float(significance))
    outcome = journal.exhausted() or Outcome.CONVERGED
    if max_active is not None and len(model) > max_active:
        model, outcome = cap(model, journal, max_active), Outcome.SIZE_LIMIT
    return model, outcome


@on_one_blas_thread
def delete_by_bound(model: Chosen, journal: Journal) -> Chosen:
    """Take out the weakest group as long as the bound of what is left, settled again, is larger."""
    while len(model) and journal.exhausted() is None:
        weakest = int(_strength_of_groups(model).argmin())
        smaller = _without(model, weakest, journal)
        if not smaller.bound > model.bound:
            return model
        journal.note("delete", int(model.candidates[model.groups.label == weakest][0]), smaller.bound, len(smaller))
        model = smaller
    return model


@on_one_blas_thread
def delete_insignificant(model: Chosen, journal: Journal, level: float) -> Chosen:
    """Take out the least significant group, and settle again, until all pass their test at this level."""
    while len(model) and journal.exhausted() is None:
        p_values = model.p_values()
        worst = int(p_values.argmax())
        if p_values[worst] < level:
            return model
        candidate = int(model.candidates[model.groups.label == worst][0])
        model = _without(model, worst, journal)
        journal.note("delete", candidate, model.bound, len(model))
    return model


@on_one_blas_thread
def cap(model: Chosen, journal: Journal, max_active: int) -> Chosen:
    """The strongest groups that together have no more than `max_active` candidates; of a larger one, its strongest members."""
    by_group = _strength_of_groups(model)[model.groups.label]
    order = np.lexsort((-model.effects, model.groups.label, -by_group))
    labels = model.groups.label[order]
    last_of_group = np.flatnonzero(np.append(labels[1:] != labels[:-1], True)) + 1
    fitting = last_of_group[last_of_group <= max_active]
    chosen = np.zeros(len(model), dtype=bool)
    chosen[order[: int(fitting[-1]) if len(fitting) else max_active]] = True
    return model.kept(chosen, journal)


def group_p_values(groups: Groups, weights: Floats, covariance: Floats, freedom: float = np.inf) -> Floats:
    """F tests of each group (of one: t tests) with the full covariance of the weights; chi-squared for infinite freedom."""
    ratios = np.empty(len(groups.sizes))
    for group in range(len(ratios)):
        members = np.flatnonzero(groups.label == group)
        ratios[group] = weights[members] @ np.linalg.solve(covariance[np.ix_(members, members)], weights[members])
    if np.isinf(freedom):
        return stats.chi2.sf(ratios, groups.sizes)
    return stats.f.sf(ratios / groups.sizes, groups.sizes, freedom)


def _strength_of_groups(model: Choosable) -> Floats:
    """The mean over the members of each."""
    return model.groups.total(model.effects) / model.groups.sizes


def _without(model: Chosen, group: int, journal: Journal) -> Chosen:
    return model.kept(model.groups.label != group, Journal(journal.budget))
