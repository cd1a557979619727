r"""What is common to criteria that publish generalized cross validation, even if another rule chose the set.

.. math:: V = N q / v^2, \qquad q = t^TP^2t, \quad v = \operatorname{tr}P
"""

from __future__ import annotations

from typing import Any, ClassVar

from skarce._typing import Floats, Indices
from skarce.criteria.criterion import Criterion
from skarce.criteria.gcv import GCV
from skarce.states.members import Members

_GCV = GCV()


class PublishedGCV(Criterion):
    """Score, published value and noise by generalized cross validation. The ridges of single functions do not change."""

    sense: ClassVar[int] = -1
    kind: ClassVar[str] = GCV.kind

    def score(self, members: Members, n_samples: float) -> float:
        return _GCV.score(members, n_samples)

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        return _GCV.removal_gains(members, positions, n_samples)

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return V in the units of the squared target."""
        return _GCV.value(score, n_samples, n_total, target_scale)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return q / v."""
        return _GCV.noise_at(members, n_samples)
