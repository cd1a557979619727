"""Any criterion with any search. Most published methods are of this kind."""

from __future__ import annotations

from dataclasses import dataclass

from skarce.criteria import Criterion
from skarce.designs.choice import Access
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.searches import Search
from skarce.searches.spanning_start import SpanningStart
from skarce.states.fit import Fit
from skarce.states.journal import Journal


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
    keep_path : bool
        Whether models above the chosen one are kept, if the search has nested models.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place. None keeps the model.
    """

    criterion: Criterion
    search: Search
    start: SpanningStart | None = None
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
        return self.search.run(judge, moments, journal, start)
