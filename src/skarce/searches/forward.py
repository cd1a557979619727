"""One addition after the other, and of all models on the way the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.active_set import ActiveSet
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.posterior import Outcome
from skarce.searches.journal import Found, Journal


@dataclass(frozen=True)
class Forward:
    """Add the best candidate again and again; the model is the best of those on the way.

    A criterion may have more to say here than others ask: `settle(state)` re-estimates after an addition what all functions
    share, `worth(state)` judges models by something else than the score (infinite: this one is enough), and
    `penalty(state, size)` gives ridges and mixing of the first functions where they are not those of the state.

    Parameters
    ----------
    patience : the search ends when so many additions in a row did not improve on the best model
    threshold : the least improvement of the score that counts, times half the number of samples: for GCV a relative reduction
    n_basis : exactly so many functions, whatever the score says; None lets it decide
    """

    patience: int = 2
    threshold: float = 1e-4
    n_basis: int | None = None

    def __post_init__(self) -> None:
        if not self.patience >= 1:
            raise ValueError(f"patience must be a whole number of at least 1, got {self.patience!r}.")
        if not self.threshold >= 0.0:
            raise ValueError(f"threshold must be at least 0, got {self.threshold!r}.")
        if self.n_basis is not None and not self.n_basis >= 1:
            raise ValueError(
                f"n_basis must be a whole number of at least 1, or None to let the score decide; got {self.n_basis!r}."
            )

    @on_one_blas_thread
    def run(
        self,
        criterion: Criterion,
        moments: Moments,
        journal: Journal,
        start: tuple[Indices, Floats] | None = None,
    ) -> Found:
        """Search from `start` (candidates and ridges), or from the empty model."""
        state = ActiveSet(moments, *(start or ()), squares=criterion.needs_squares)
        needed = max(journal.limits.tol, 0.5 * self.threshold * moments.n_samples)
        worth = self._worth(criterion, state, criterion.score(state, moments.n_samples))
        best = _Best(worth, needed, len(state), state.ridges.copy())
        outcome = self._grow(criterion, state, journal, best)
        size = min(best.size, len(state))
        ridges, mixing = best.ridges[:size], None
        if hasattr(criterion, "penalty"):
            ridges, mixing = criterion.penalty(state, size)
        return Found(state.active[:size].copy(), ridges, outcome, mixing)

    def _grow(self, criterion: Criterion, state: ActiveSet, journal: Journal, best: _Best) -> Outcome:
        """Add until the model is enough, patience or candidates are spent, or a limit is reached."""
        while True:
            if best.worth == np.inf or len(state) == self.n_basis:
                return Outcome.GOAL_REACHED
            if self.n_basis is None and best.failures >= self.patience:
                return Outcome.NO_ADDITION_HELPS
            limit = journal.exhausted()
            if limit is not None:
                return limit
            if journal.limits.room(len(state)) == 0:
                return Outcome.SIZE_LIMIT if best.size == len(state) else Outcome.NO_ADDITION_HELPS
            if not self._add_best(criterion, state):
                return Outcome.NO_ADDITION_HELPS if self.n_basis is None else Outcome.TOO_FEW_CANDIDATES
            score = criterion.score(state, state.moments.n_samples)
            journal.note("add", int(state.active[-1]), score, len(state))
            best.compare(self._worth(criterion, state, score), state)

    @staticmethod
    def _add_best(criterion: Criterion, state: ActiveSet) -> bool:
        """Let the best usable candidate in; False where there is none."""
        ranking = criterion.ranking(state)
        candidate = int(ranking.argmax())
        if not ranking[candidate] > 0.0:
            return False
        ridge, _ = criterion.addition(state, candidate)
        if not np.isfinite(ridge):
            return False
        size = len(state)
        state.add(candidate, ridge)
        if state.has_sign_violation():
            state.refresh()
        if hasattr(criterion, "settle"):
            criterion.settle(state)
        return len(state) > size

    def _worth(self, criterion: Criterion, state: ActiveSet, score: float) -> float:
        """What makes one model on the way better than another: its size where that is fixed, else what the criterion says."""
        if self.n_basis is not None:
            return float(len(state))
        return float(criterion.worth(state)) if hasattr(criterion, "worth") else score


@dataclass
class _Best:
    """The best model so far, and how many additions in a row have not improved on it by what is needed."""

    worth: float
    needed: float
    size: int
    ridges: Floats
    failures: int = 0

    def __post_init__(self) -> None:
        self._reference = self.worth

    def compare(self, worth: float, state: ActiveSet) -> None:
        if worth > self.worth:
            self.worth, self.size, self.ridges = worth, len(state), state.ridges.copy()
        improved = worth > self._reference + self.needed
        self.failures = 0 if improved else self.failures + 1
        if improved:
            self._reference = worth
