r"""What criteria have in common that publish the generalized cross validation of a set, whatever rule chose it.

.. math:: V = N q / v^2, \qquad q = t^TP^2t, \quad v = \operatorname{tr}P

Their ridges are shared or none, so a single function can only be left out, not changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria.criterion import Changes, Members
from skarce.criteria.gcv import GCV

_GCV = GCV()


class PublishedGCV:
    """Score, published value and noise by generalized cross validation; active functions may only be removed."""

    @property
    def sense(self) -> int:
        """Smaller is better."""
        return -1

    def score(self, members: Members, n_samples: float) -> float:
        return _GCV.score(members, n_samples)

    def changes(self, members: Members, n_samples: float) -> Changes:
        n_active = len(members.ridges)
        return Changes(np.full(n_active, np.inf), self.removal_gains(members, np.arange(n_active), n_samples))

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        return self.removal_gains(members, np.arange(len(members.ridges)), n_samples) >= 0.0

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        return _GCV.removal_gains(members, positions, n_samples)

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Floats, Floats]:
        raise TypeError(
            f"{type(self).__name__} has no ridge for each weight that joint steps could move: use Forward or BestAction."
        )

    def value(self, score: Any, n_samples: float, n_total: float, factor: float) -> Any:
        """V in the units of the squared target."""
        return _GCV.value(score, n_samples, n_total, factor)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """q / v."""
        return _GCV.noise_at(members, n_samples)
