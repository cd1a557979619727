"""Any criterion with any search. Most published methods are of this kind."""

from __future__ import annotations

from dataclasses import dataclass

from skarce.criteria import Criterion
from skarce.designs.choice import Access
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.searches import Search
from skarce.searches.search import Start
from skarce.searches.spanning_start import FRUITLESS, SpanningStart, better_start
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

SMALL = 48  # a search that has found more functions than this has not stopped too early


@dataclass(frozen=True)
class Selection(MomentMethod):
    """Select functions by a criterion, in the order of a search.

    Parameters
    ----------
    criterion : Criterion
        What makes a set good.
    search : Search
        In which order sets are tried.
    start : SpanningStart or None
        Where the search begins. None begins where the search does by default.
    second_start : SpanningStart or None
        Where the search begins again if it may have stopped too early: if the second start alone is worth nearly as much as the
        model that was found. The better model is the result. None never begins again.
    second_look : bool
        Whether a small model is compared with functions that span the others, at one ridge for all. If those are better, the
        search begins again from them, and the better model is the result. This is meant for kernels, which may be so wide that no
        single one helps a small model, although many together would.
    keep_path : bool
        Whether models above the chosen one are kept, if the search has nested models.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place. None keeps the model.
    """

    criterion: Criterion
    search: Search
    start: SpanningStart | None = None
    second_start: SpanningStart | None = None
    second_look: bool = False
    keep_path: bool = False
    crowded: float | None = None

    def __post_init__(self) -> None:
        self.search.check(self.criterion)

    @property
    def warns_if_half(self) -> bool:
        return self.search.n_basis is None

    @property
    def access(self) -> Access:
        return self.search.access

    def n_landmarks(self, n_rows: int) -> int:
        return self.criterion.most_landmarks

    def solve(self, judge: Criterion, moments: Moments, journal: Journal) -> Fit:
        start = None if self.start is None else self.start.of(moments, journal.budget.max_active)
        fit = self.search.run(judge, moments, journal, start)
        second = None if fit.outcome.is_early else self._promising(fit, judge, moments, journal.budget)
        return fit if second is None else self._again(fit, second, judge, moments, journal)

    def _promising(self, fit: Fit, judge: Criterion, moments: Moments, budget: Budget) -> Start | None:
        """Return a start that is better than the model that was found, or nearly as good.

        If candidates look alike, no single one helps a small model, although many together would: the search stopped too early.
        """
        if self.second_look and len(fit.active) <= SMALL:
            return better_start(judge, moments, _worth(fit, judge, moments), budget)
        start = None if self.second_start is None else self.second_start.of(moments, budget.max_active)
        if start is None:
            return None
        seconds = _worth(Fit(*start, Outcome.FOLLOWING), judge, moments, settle=True)
        return start if seconds >= _worth(fit, judge, moments) - FRUITLESS else None

    def _again(self, fit: Fit, start: Start, judge: Criterion, moments: Moments, journal: Journal) -> Fit:
        """Search again from a second start. Return the better model."""
        branch = journal.branch()
        other = self.search.run(judge, moments, branch, start)
        if not _worth(other, judge, moments) > _worth(fit, judge, moments):
            journal.count(branch)
            return fit
        journal.rewind(0)
        journal.take(branch)
        return other


def _worth(fit: Fit, judge: Criterion, moments: Moments, *, settle: bool = False) -> float:
    """Return the worth of a fit, at its own ridges or at those that the criterion settles on."""
    state = judge.new_state(moments, fit.active, fit.ridges)
    state.noise = fit.noise
    if settle:
        judge.settle(state)
    return judge.worth(state)
