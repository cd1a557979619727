"""The interface between methods and searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.designs.choice import IN_BATCHES, Access
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal

Start = tuple[Indices, Floats]  # candidates and their ridges


@dataclass(frozen=True)
class Search(ABC):
    """Tries sets of candidates in some order. A search asks a criterion how good they are, and knows no mathematics itself."""

    @property
    def n_basis(self) -> int | None:
        """The exact number of functions that was asked for. Default: None, the score decides."""
        return None

    @property
    def moves_ridges(self) -> bool:
        """Whether the search changes the ridges of single functions. Default: False."""
        return False

    @property
    def starts_anywhere(self) -> bool:
        """Whether the search can begin with any functions at any ridges, and then both adds and removes some. Default: False."""
        return False

    @property
    def removes(self) -> bool:
        """Whether the search removes functions. Default: True."""
        return True

    def check(self, criterion: Criterion) -> None:
        """Raise a TypeError if this search cannot be used with the criterion."""
        name, other = type(self).__name__, type(criterion).__name__
        if self.moves_ridges and not criterion.has_own_ridges:
            raise TypeError(f"{name} changes single ridges, but {other} has no ridge for each weight: use Forward or BestAction.")
        if self.removes and not criterion.allows_removal:
            raise TypeError(
                f"{name} removes functions, but with {other} they cannot leave, because the penalty depends on the order of entry: "
                "use Forward."
            )

    @on_one_blas_thread
    def run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None = None) -> Fit:
        """Search from `start` (candidates and their ridges), or from the usual start of this search if it is None."""
        self.check(criterion)
        return self._run(criterion.prepared(moments), moments, journal, start)

    @abstractmethod
    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        """Go from set to set, note every step in the journal, and stop if `journal.exhausted()` returns a limit."""

    @property
    def access(self) -> Access:
        """How the search reads columns of the Gram matrix. Default: in batches."""
        return IN_BATCHES

    def replay(self, worths: Floats, least: int, n_samples: float, tol: float) -> int:
        """Return the size that the search would have chosen at another tolerance, among nested models with these worths.

        Default: an error, because there are no nested models.
        """
        raise TypeError(f"{type(self).__name__} keeps no nested models to choose from.")
