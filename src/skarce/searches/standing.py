"""Which of the models on the way is the best, and which improvement was the last that counts."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Standing:
    """Size and worth of the best model so far, and of the last that counts: an improvement by no more than `needed` does not."""

    size: int
    worth: float
    needed: float
    counted_size: int = field(init=False)
    counted_worth: float = field(init=False)
    top: float = field(init=False)

    def __post_init__(self) -> None:
        self.counted_size, self.counted_worth, self.top = self.size, self.worth, self.worth

    def judge(self, size: int, worth: float, nearer: int = 0) -> bool:
        """Whether this model is the best so far, or a smaller one that is not worse by as much as counts.

        `nearer` says by how many functions it is nearer to a size that was asked for than the best so far.
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
        """Whether a model has grown since the last improvement by `patience`, or `share` of that size and one, if more."""
        return size - self.counted_size >= max(patience, round(share * self.counted_size) + 1)
