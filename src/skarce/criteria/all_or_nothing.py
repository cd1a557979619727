"""What criteria have in common whose functions share a ridge, or have none: one alone can only be left out, not changed."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria.criterion import Changes, Members


class AllOrNothing(ABC):
    """A function is in with the ridge of all, or it is out."""

    @abstractmethod
    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        """What taking out each of the functions at `positions` gains."""

    def changes(self, members: Members, n_samples: float) -> Changes:
        n_active = len(members.ridges)
        return Changes(np.full(n_active, np.inf), self.removal_gains(members, np.arange(n_active), n_samples))

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        return self.removal_gains(members, np.arange(len(members.ridges)), n_samples) >= 0.0

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Floats, Floats]:
        raise TypeError(
            f"{type(self).__name__} has no ridge for each weight that joint steps could move: use Forward or BestAction."
        )
