"""Sequential forward floating selection."""

from __future__ import annotations

from dataclasses import dataclass

from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Floating(OneByOne):
    """Add the best candidate, then take functions away while that beats the best model of the smaller size (Pudil et al. 1994).

    Any number of functions may leave after an addition. A removal that is not better than the best model of its size so far is
    undone. An addition always stands. From `initial` functions it begins with taking away, so that it also comes down from many.

    Parameters
    ----------
    patience, share, threshold, n_basis, initial, always_in : as in `PlusTakeAway`
    """

    def _go(self, walk: Walk) -> Outcome:
        records = Records(walk)
        _float(walk, records)
        while True:
            if walk.is_enough():
                return walk.end(Outcome.GOAL_REACHED)
            if walk.is_past_the_best(self.patience, self.share):
                return Outcome.NONE_BETTER_FOUND
            if not walk.has_room():
                return walk.full(Outcome.NONE_BETTER_FOUND)
            if not walk.add_best():
                return walk.end(Outcome.NONE_BETTER_FOUND)
            records.note(walk)
            _float(walk, records, newest=int(walk.state.active[-1]))


class Records:
    """The best worth so far of each size."""

    def __init__(self, walk: Walk) -> None:
        self._of_size = {len(walk): walk.worth}

    def note(self, walk: Walk) -> None:
        self._of_size[len(walk)] = max(walk.worth, self._of_size.get(len(walk), walk.worth))

    def of(self, size: int, otherwise: float) -> float:
        """A size that was never reached, below a start from some functions, has no record."""
        return self._of_size.get(size, otherwise)


def _float(walk: Walk, records: Records, newest: int = -1) -> None:
    """Take functions away while each removal sets a record."""
    while len(walk) > 2:
        position = walk.worst()
        # Without the newest it is the set before, which is no better than itself.
        if position is None or int(walk.state.active[position]) == newest:
            return
        before = walk.here()
        walk.remove(position)
        if walk.worth <= records.of(len(walk), before.worth) + walk.needed:
            walk.go_back(before)
            return
        records.note(walk)
        newest = -1
