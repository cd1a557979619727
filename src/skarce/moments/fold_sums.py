"""Sums of each fold of the rows. Those of all rows follow, and those of all rows but a fold: refits without it need no rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skarce.moments.folds import N_FOLDS
from skarce.moments.sums import Sums


@dataclass
class FoldSums:
    """Sums of each of five folds of the rows. The fold of a row is a hash of its inputs.

    They add up with ``+`` and `sum`, fold by fold, as `Sums` do.

    Attributes
    ----------
    folds : tuple of Sums
        The sums of each fold.
    """

    folds: tuple[Sums, ...]

    @classmethod
    def empty(cls, n_candidates: int, n_outputs: int) -> FoldSums:
        """Return the sums over no rows."""
        return cls(tuple(Sums.empty(n_candidates, n_outputs) for _ in range(N_FOLDS)))

    @classmethod
    def total(cls, parts: Iterable[FoldSums]) -> FoldSums:
        """Return the sums of each fold over all parts, at least one. The parts stay as they are."""
        return cls(tuple(Sums.total(of_fold) for of_fold in zip(*(part.folds for part in parts), strict=True)))

    def __repr__(self) -> str:
        return f"FoldSums({len(self.folds)} folds of {self.whole()!r})"

    @property
    def n_samples(self) -> float:
        """The sum of the sample weights."""
        return sum(sums.n_samples for sums in self.folds)

    def whole(self) -> Sums:
        """Return the sums over all rows."""
        return Sums.total(self.folds)

    def faded(self, factor: float) -> FoldSums:
        """Return a copy in which the weight of all rows is multiplied by `factor`."""
        return FoldSums(tuple(sums.faded(factor) for sums in self.folds))

    def __add__(self, other: FoldSums) -> FoldSums:
        _check_has_folds(other)
        if not isinstance(other, FoldSums):
            return NotImplemented
        return FoldSums(tuple(own + others for own, others in zip(self.folds, other.folds, strict=True)))

    def __radd__(self, other: object) -> FoldSums:
        """Add to zero, so that `sum(parts)` works."""
        _check_has_folds(other)
        return self if other == 0 else NotImplemented


def _check_has_folds(other: object) -> None:
    """Raise a TypeError if these are sums without folds."""
    if isinstance(other, Sums):
        raise TypeError("sums with folds and sums without them do not add up. Call block_sums with the same folds= for all blocks.")
