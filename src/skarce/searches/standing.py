"""The best model so far, and the last improvement that counts."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Standing:
    """The best model so far, and the last model that improved the worth by more than `needed`.

    Parameters
    ----------
    size : int
        The number of functions of the best model so far.
    worth : float
        Its worth.
    needed : float
        An improvement counts only if it is larger than this.

    Attributes
    ----------
    counted_size : int
        The number of functions at the last improvement that counts.
    counted_worth : float
        The worth of that model.
    top : float
        The largest worth so far. The best model may be a smaller one that is worse by at most `needed`.
    """

    size: int
    worth: float
    needed: float
    counted_size: int = field(init=False)
    counted_worth: float = field(init=False)
    top: float = field(init=False)

    def __post_init__(self) -> None:
        self.counted_size, self.counted_worth, self.top = self.size, self.worth, self.worth

    def judge(self, size: int, worth: float, nearer: int = 0) -> bool:
        """Tell whether this model replaces the best one: it is better, or it is smaller and worse by less than `needed`.

        `nearer` is positive if its size is closer to the size that was asked for, and negative if it is farther away.
        """
        if nearer < 0:
            return False
        least = self.top - self.needed if size < self.size else self.worth
        is_best = nearer > 0 or worth > least
        if nearer > 0 or worth > self.counted_worth + self.needed:
            self.counted_size, self.counted_worth = size, worth
        self.top = worth if nearer > 0 else max(self.top, worth)
        if is_best:
            self.size, self.worth = size, worth
        return is_best

    def is_past(self, size: int, patience: int, share: float) -> bool:
        """Tell whether the model has grown since the last improvement by `patience`, or by `share` of that size plus one."""
        return size - self.counted_size >= max(patience, round(share * self.counted_size) + 1)
