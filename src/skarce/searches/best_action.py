"""One action per step: the addition, change or removal that gains most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from skarce._parallel import blas_threads
from skarce._typing import Floats, Indices
from skarce.active_set import ActiveSet
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.posterior import Outcome
from skarce.searches.journal import Found, Journal


@dataclass(frozen=True)
class BestAction:
    """Take the best single action until none gains more than the tolerance (Tipping and Faul 2003).

    Parameters
    ----------
    check_every : the maintained quantities are compared with exact identities after this many steps
    max_drift : and computed afresh where they are off by more than this
    """

    check_every: int = 25
    max_drift: float = 1e-8

    def run(
        self,
        criterion: Criterion,
        moments: Moments,
        journal: Journal,
        start: tuple[Indices, Floats] | None = None,
    ) -> Found:
        """Search from `start` (candidates and ridges), or from the empty model."""
        with blas_threads(1):
            state = ActiveSet(moments) if start is None else ActiveSet(moments, *start)
            outcome = self._climb(criterion, state, journal)
        return Found(state.active.copy(), state.ridges.copy(), outcome)

    def _climb(self, criterion: Criterion, state: ActiveSet, journal: Journal) -> Outcome:
        score = criterion.score(state.energy, state.log_determinant, state.moments.n_samples)
        is_fresh = True
        for step in count():
            limit = journal.exhausted()
            if limit is not None:
                return limit
            action, index, ridge, gain = self._best(criterion, state, journal.limits.room(len(state)))
            if gain <= journal.limits.tol:
                if is_fresh:
                    at_cap = journal.limits.room(len(state)) == 0
                    return Outcome.SIZE_LIMIT if at_cap else Outcome.CONVERGED
                state.refresh()
                is_fresh = True
                continue
            candidate = index if action == "add" else int(state.active[index])
            self._apply(state, action, index, ridge)
            score += gain
            journal.note(action, candidate, score, len(state))
            is_fresh = False
            if state.has_sign_violation() or (step % self.check_every == 0 and state.drift() > self.max_drift):
                state.refresh()
                score = criterion.score(state.energy, state.log_determinant, state.moments.n_samples)
                is_fresh = True

    @staticmethod
    def _best(criterion: Criterion, state: ActiveSet, room: int) -> tuple[str, int, float, float]:
        best = ("none", -1, 0.0, 0.0)
        if room:
            ranking = criterion.ranking(state)
            candidate = int(ranking.argmax())
            if ranking[candidate] > 1.0:
                best = ("add", candidate, *criterion.addition(state, candidate))
        if len(state):
            ridges, gains = criterion.changes(state, state.moments.n_samples)
            position = int(gains.argmax())
            if gains[position] > best[3]:
                action = "change" if np.isfinite(ridges[position]) else "delete"
                best = (action, position, float(ridges[position]), float(gains[position]))
        return best

    @staticmethod
    def _apply(state: ActiveSet, action: str, index: int, ridge: float) -> None:
        if action == "add":
            state.add(index, ridge)
        elif action == "change":
            state.change(index, ridge)
        else:
            state.remove(index)
