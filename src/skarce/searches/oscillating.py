"""Up and down around the size that forward selection has found."""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce._validation import is_count
from skarce.searches.forward import grow
from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Oscillating(OneByOne):
    """From the model of forward selection, swing: add s, take 2s away, add s (Somol and Pudil 2000, in the form of Barrio et al.).

    A swing that ends in a better model of the same size stands, and s is 1 again; any other is undone, and s grows by one. The
    search ends when `depth` swings in a row have failed.

    Parameters
    ----------
    depth : the largest s
    patience, share, threshold, n_basis, initial, always_in : as in `PlusTakeAway`, for the forward selection
    """

    depth: int = field(default=5, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_count(self.depth):
            raise ValueError(f"depth must be a whole number of at least 1, got {self.depth!r}.")

    def _go(self, walk: Walk) -> Outcome:
        outcome = grow(walk, self.patience, self.share)
        walk.go_back(walk.best)
        size = 1
        while size <= self.depth and len(walk) - size >= 1:
            size = 1 if _swing(walk, size) else size + 1
        return Outcome.NONE_BETTER_FOUND if outcome is Outcome.NO_ADDITION_HELPS else outcome


def _swing(walk: Walk, size: int) -> bool:
    """Whether it led to a better model; if not, everything is as before."""
    before = walk.here()
    # Only models of the same size are compared: what a swing passes on its way is not looked at.
    is_complete = (
        all(walk.add_best(remember=False) for _ in range(size))
        and all(walk.remove_worst(remember=False) for _ in range(2 * size))
        and all(walk.add_best(remember=False) for _ in range(size))
    )
    if is_complete and walk.worth > before.worth + walk.needed:
        walk.compare()
        return True
    walk.go_back(before)
    return False
