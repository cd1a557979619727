"""The order in which sets are tried: the questions that methods ask of a search."""

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
    """Tries sets of candidates in some order. It asks a criterion and knows no mathematics."""

    @property
    def n_basis(self) -> int | None:
        """Exactly this many functions, if they were asked for. Default: the score decides."""
        return None

    @property
    def moves_ridges(self) -> bool:
        """Whether it moves the ridges of single functions. Default: no."""
        return False

    @property
    def removes(self) -> bool:
        """Whether it takes functions out. Default: yes."""
        return True

    def check(self, criterion: Criterion) -> None:
        """Raise a TypeError if this search cannot go with the criterion."""
        name, other = type(self).__name__, type(criterion).__name__
        if self.moves_ridges and not criterion.has_own_ridges:
            raise TypeError(f"{name} moves single ridges, and {other} has no ridge for each weight: use Forward or BestAction.")
        if self.removes and not criterion.allows_removal:
            raise TypeError(
                f"{name} takes functions out, and with {other} they cannot leave, because the penalty depends on the order of "
                "entry: use Forward."
            )

    @on_one_blas_thread
    def run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None = None) -> Fit:
        """Search from `start` (candidates and ridges), or from where the search begins by itself."""
        self.check(criterion)
        return self._run(criterion.prepared(moments), moments, journal, start)

    @abstractmethod
    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        """Go from set to set, note every step in the journal, and stop when `journal.exhausted()` says so."""

    @property
    def access(self) -> Access:
        """How columns of the Gram matrix are asked for. Default: in batches."""
        return IN_BATCHES

    def replay(self, worths: Floats, least: int, n_samples: float, tol: float) -> int:
        """Return the size of the model it would have taken with another tolerance, among nested ones of these worths.

        Default: there are no nested models.
        """
        raise TypeError(f"{type(self).__name__} keeps no nested models to choose from.")
