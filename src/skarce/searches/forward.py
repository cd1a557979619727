"""One addition after the other, and of all models on the way the best."""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce.designs.choice import Access
from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Forward(OneByOne):
    """Add the best candidate again and again; the model is the best of those on the way.

    Parameters
    ----------
    patience : the search ends when so many additions in a row did not improve on the best model
    threshold : the least improvement of the score that counts, times half the number of samples: for GCV a relative reduction
    n_basis : exactly so many functions, whatever the score says; None lets it decide
    share, initial, always_in : as in `PlusTakeAway`
    """

    patience: int = 2
    threshold: float = 1e-4
    n_basis: int | None = None
    share: float = field(default=0.0, kw_only=True)

    @property
    def removes(self) -> bool:
        return False

    @property
    def access(self) -> Access:
        return Access(one_by_one=True, n_columns=self.n_basis)

    def _go(self, walk: Walk) -> Outcome:
        return grow(walk, self.patience, self.share)


def grow(walk: Walk, patience: int, share: float) -> Outcome:
    """Add until the model is enough, patience or candidates are spent, or a limit is reached."""
    while True:
        if walk.is_enough():
            return Outcome.GOAL_REACHED
        if walk.is_past_the_best(patience, share):
            return Outcome.NO_ADDITION_HELPS
        if not walk.has_room():
            return walk.full(Outcome.NO_ADDITION_HELPS)
        if not walk.add_best():
            return walk.end(Outcome.NO_ADDITION_HELPS)
