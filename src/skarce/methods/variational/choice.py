"""Stricter rules for which candidates stay in a variational model: by the bound, by significance, or by number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import stats

from skarce._linalg import seconds_to_invert
from skarce._memory import fits
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.methods.variational.precisions import Groups, Mask
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

FEW_ROWS = 1000  # with fewer rows than this, a fit that ended early may keep this many functions


class Choosable(Protocol):
    """A variational model, for regression or classification, whose candidates can be reduced."""

    @property
    def candidates(self) -> Indices:
        """The candidates in the model."""
        ...

    @property
    def groups(self) -> Groups:
        """Which candidates share a precision."""
        ...

    @property
    def bound(self) -> float:
        """The variational bound, without its constant."""
        ...

    @property
    def effects(self) -> Floats:
        """mu^2 h of each candidate: how much it contributes to the fit."""
        ...

    def __len__(self) -> int: ...

    def p_values(self) -> Floats:
        """Return the p value of each group, from a test of its weights against zero."""
        ...

    def kept(self: Chosen, chosen: Mask, journal: Journal) -> Chosen:
        """Return the model with only the candidates for which `chosen` is true, iterated again to convergence."""
        ...


Chosen = TypeVar("Chosen", bound=Choosable)


def choose(model: Chosen, journal: Journal, significance: Any, max_active: int | None) -> tuple[Chosen, Outcome]:
    """Apply the stricter rules, if there are any. Returns the reduced model and the outcome.

    Parameters
    ----------
    model : Choosable
        The model to reduce.
    journal : Journal
        Where the steps are noted.
    significance : "bound", float or None
        ``"bound"`` deletes groups by the bound. A number deletes them by tests at this level. None deletes nothing.
    max_active : int or None
        The largest number of candidates.
    """
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
    """Remove the weakest group as long as the model without it, iterated again to convergence, has a larger bound."""
    watch = journal.stopwatch(seconds_to_invert(len(model)))
    while len(model) and watch.exhausted(2.0) is None:  # this step and the final model
        weakest = int(_strength_of_groups(model).argmin())
        smaller = _without(model, weakest, journal)
        if not smaller.bound > model.bound:
            return model
        journal.note("delete", int(model.candidates[model.groups.label == weakest][0]), smaller.bound, len(smaller))
        model = smaller
    return model


@on_one_blas_thread
def delete_insignificant(model: Chosen, journal: Journal, level: float) -> Chosen:
    """Remove the least significant group and iterate again to convergence, until all groups are significant at this level."""
    watch = journal.stopwatch(seconds_to_invert(len(model)))
    while len(model) and watch.exhausted(2.0) is None:  # this step and the final model
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
    """Keep the strongest groups that together have at most `max_active` candidates.

    If the strongest group alone has more, its strongest members are kept.
    """
    by_group = _strength_of_groups(model)[model.groups.label]
    order = np.lexsort((-model.effects, model.groups.label, -by_group))
    labels = model.groups.label[order]
    last_of_group = np.flatnonzero(np.append(labels[1:] != labels[:-1], True)) + 1
    fitting = last_of_group[last_of_group <= max_active]
    chosen = np.zeros(len(model), dtype=bool)
    chosen[order[: int(fitting[-1]) if len(fitting) else max_active]] = True
    # Some models solve for the weights again even at a limit. That is not a step of the fit.
    return model.kept(chosen, journal if journal.exhausted() is None else journal.branch())


def small_enough(model: Chosen, outcome: Outcome, journal: Journal, n_rows: int) -> Chosen:
    """Return the strongest functions of a fit that a limit ended, or whose covariance does not fit into memory, without a step.

    The data determine no more weights than there are rows. So no more are kept, or 1000 if rows are fewer.
    """
    limits = [journal.budget.max_active, max(n_rows, FEW_ROWS)]
    most = min(limit for limit in limits if limit is not None)
    is_large = outcome.is_early or not fits(len(model), len(model))
    at_once = Journal(replace(journal.budget, max_steps=0))
    return cap(model, at_once, most) if is_large and len(model) > most else model


def group_p_values(groups: Groups, weights: Floats, covariance: Floats, freedom: float = np.inf) -> Floats:
    """Return the p values of F tests of each group (t tests for groups of one), with the full covariance of the weights.

    The tests are chi-squared tests if `freedom` is infinite.
    """
    ratios = np.empty(len(groups.sizes))
    for group in range(len(ratios)):
        members = np.flatnonzero(groups.label == group)
        ratios[group] = weights[members] @ np.linalg.solve(covariance[np.ix_(members, members)], weights[members])
    if np.isinf(freedom):
        return stats.chi2.sf(ratios, groups.sizes)
    return stats.f.sf(ratios / groups.sizes, groups.sizes, freedom)


def _strength_of_groups(model: Choosable) -> Floats:
    """Return the mean effect of the members of each group."""
    return model.groups.total(model.effects) / model.groups.sizes


def _without(model: Chosen, group: int, journal: Journal) -> Chosen:
    """Return the model without a group, iterated again. Its steps count against the limits, but do not enter the trace."""
    trial = journal.branch()
    smaller = model.kept(model.groups.label != group, trial)
    journal.count(trial)
    return smaller
