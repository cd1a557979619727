"""Fast GCV exactly as printed: after every action the noise is estimated again while the precisions stay fixed.

Sundararajan, Shevade and Keerthi, section 3.1, step 10, and section 3.2, item 7. Generalized cross validation depends on
zeta = alpha sigma^2 only. If alpha is fixed while sigma^2 moves, every zeta is multiplied by the same factor, so V may rise, and
up to L more estimates repair it. This method exists for comparison; fixing zeta instead avoids all of this.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skarce._parallel import on_one_blas_thread
from skarce.criteria import GCV
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.searches.best_action import BestAction
from skarce.states.active_set import ActiveSet
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

FIRST_NOISE = 0.1  # of the variance of the target (step 1)


@dataclass(frozen=True)
class HeldPrecision(MomentMethod):
    """Best actions by generalized cross validation with the printed noise update.

    Parameters
    ----------
    criterion : GCV
        The criterion that the posterior reports.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place. None keeps the model.
    """

    criterion: GCV = field(default_factory=GCV)
    crowded: float | None = None

    @property
    def warns_if_half(self) -> bool:
        return True

    def solve(self, judge: GCV, moments: Moments, journal: Journal) -> Fit:
        return run_held_precision(judge, moments, journal)


@on_one_blas_thread
def run_held_precision(criterion: GCV, moments: Moments, journal: Journal) -> Fit:
    """Take best actions with the printed noise update until no action helps and the noise no longer moves.

    The printed floor alpha_min = 1/N is applied to targets of unit variance. A floor in user units would make the result depend on
    the units.
    """
    budget, n = journal.budget, moments.n_samples
    variance = moments.target_energy / n
    state = ActiveSet(moments, squares=True)
    noise, has_moved = FIRST_NOISE * variance, True
    while True:
        limit = journal.exhausted()
        if limit is not None:
            return Fit(state.active.copy(), state.ridges.copy(), limit)
        floored = replace(criterion, lowest_ridge=noise / variance / n)
        action, index, ridge, gain = BestAction.best(floored, state, budget.room(len(state)))
        if state.is_exact() or (gain <= budget.least_gain and not has_moved):
            outcome = Outcome.SIZE_LIMIT if budget.room(len(state)) == 0 else Outcome.CONVERGED
            return Fit(state.active.copy(), state.ridges.copy(), outcome)
        candidate = -1
        if gain > budget.least_gain:
            candidate = index if action == "add" else int(state.active[index])
            BestAction.apply(state, action, index, ridge)
        else:
            action = "noise"
        fresh = criterion.noise_at(state, n)
        has_moved = bool(abs(np.log(fresh / noise)) > budget.least_gain)
        state.keep(np.arange(len(state)), state.ridges * (fresh / noise))
        noise = fresh
        journal.note(action, candidate, criterion.score(state, n), len(state))
