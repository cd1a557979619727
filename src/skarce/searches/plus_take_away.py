"""A few in, a few out."""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce._validation import is_count
from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class PlusTakeAway(OneByOne):
    """Add the best candidate `plus` times, take the worst function away `minus` times, and so on (Kittler 1986).

    With more to add than to take away the model grows from nothing; the other way round it shrinks from all candidates to none,
    and taking away comes first. (1, 0) is forward selection, (0, 1) backward elimination.

    Parameters
    ----------
    plus : additions in a step
    minus : removals in a step
    patience, share : a growing search ends after a complete step with `patience` functions more than at the last improvement,
        or with `share` of their number and one, if that is more
    threshold : the least improvement of the score that counts, times half the number of samples: for GCV a relative reduction
    n_basis : exactly so many functions, whatever the score says; None lets it decide
    initial : the candidates to start from; None starts from none, or from all
    always_in : candidates that are in from the start and stay
    """

    plus: int = field(default=2, kw_only=False)
    minus: int = field(default=1, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(is_count(number) or (isinstance(number, int) and number == 0) for number in (self.plus, self.minus)):
            raise ValueError(f"plus and minus must be whole numbers of at least 0, got {self.plus!r} and {self.minus!r}.")
        if self.plus == self.minus:
            raise ValueError(f"plus and minus must differ, or the search never ends; got {self.plus!r} for both.")

    @property
    def goes_down(self) -> bool:
        return self.minus > self.plus

    @property
    def removes(self) -> bool:
        return self.minus > 0

    def _go(self, walk: Walk) -> Outcome:
        growing = not self.goes_down
        if growing and not len(walk) and walk.has_room():
            walk.add_best()
        while True:
            if walk.is_enough(growing=growing):
                return walk.end(Outcome.GOAL_REACHED)
            if growing and walk.is_past_the_best(self.patience, self.share):
                return Outcome.NONE_BETTER_FOUND
            if growing and not walk.has_room(self.plus - self.minus):
                return walk.full(Outcome.NONE_BETTER_FOUND)
            size = len(walk)
            self._step(walk)
            if len(walk) <= size if growing else len(walk) >= size:
                return walk.end(Outcome.NONE_BETTER_FOUND)

    def _step(self, walk: Walk) -> None:
        if self.goes_down:
            all(walk.remove_worst() for _ in range(self.minus))
            all(walk.add_best() for _ in range(self.plus))
        elif all(walk.add_best() for _ in range(self.plus)):
            all(walk.remove_worst() for _ in range(self.minus))


@dataclass(frozen=True, repr=False)
class Backward(OneByOne):
    """Take the worst function away again and again, from all candidates; the model is the best of those on the way.

    Parameters
    ----------
    patience, share, threshold, n_basis, initial, always_in : as in `PlusTakeAway`
    """

    @property
    def goes_down(self) -> bool:
        return True

    def _go(self, walk: Walk) -> Outcome:
        return PlusTakeAway(0, 1, patience=self.patience, share=self.share)._go(walk)
