r"""A prior against kernels so narrow that rows do not see each other.

If the kernel between different rows is zero, the signal at each row is a number of its own: it imitates noise. The evidence cannot
tell the two apart. But a signal without neighbors predicts nothing, and it takes the place of the noise. With
:math:`m_i = \sum_j k(x_i, c_j)` over all places :math:`c_j` other than :math:`x_i`, the share of rows with neighbors is

.. math:: s = \frac1N\sum_i\frac{m_i}{1 + m_i},

and the prior density is :math:`s^c`. It is close to one if most rows have several neighbors, and hardly feels rows that lie apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._device import namespace, to_host
from skarce._typing import Floats

STRENGTH = 10.0  # c
LEAST = 1e-12  # a smaller share comes from rounding


@dataclass(frozen=True)
class NeighborPrior:
    """The prior for given rows and centers.

    Attributes
    ----------
    own : the number of centers that are equal to a row, shape (n_rows,)
    shares : the weights of the rows, which sum to one
    """

    own: Floats
    shares: Floats

    @classmethod
    def of(cls, rows: Floats, centers: Floats, weights: Floats | None) -> NeighborPrior:
        """Count the centers that lie at the rows themselves."""
        joint = np.vstack([centers, rows]) + 0.0  # minus zero becomes zero
        _, place = np.unique(joint, axis=0, return_inverse=True)
        place = place.reshape(-1)
        counts = np.bincount(place[: len(centers)], minlength=len(joint))
        weights = np.ones(len(rows)) if weights is None else weights
        return cls(counts[place[len(centers) :]].astype(np.float64), weights / weights.sum())

    def at(self, phi: Floats) -> tuple[float, Floats]:
        """Return the log density, and its derivatives in the kernels: one number for each row."""
        neighbors = np.maximum(to_host(namespace(phi).sum(phi, axis=1)) - self.own, 0.0)
        share = float(self.shares @ (neighbors / (1.0 + neighbors)))
        if share <= LEAST:
            return STRENGTH * float(np.log(LEAST)), np.zeros(len(self.shares))
        return STRENGTH * float(np.log(share)), (STRENGTH / share) * self.shares / (1.0 + neighbors) ** 2
