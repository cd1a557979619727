r"""A prior against kernels so wide that all of them look alike.

A smooth function is a sum of wide kernels with large weights as well as one of narrower kernels with small weights, and the
evidence of a Gaussian process hardly tells them apart. Sparse models do: functions that are almost the same number at all rows can
neither be selected one by one nor be penalized by the size of their weights. With the mean kernel :math:`\bar k` over all rows and
centers, the prior density is :math:`(1 - \bar k)^c`. An input that does not matter may still have any width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._device import namespace, to_host
from skarce._typing import Floats

LEAST = 1e-12  # a smaller difference from one comes from rounding


@dataclass(frozen=True)
class FlatnessPrior:
    """The prior for given rows.

    Attributes
    ----------
    strength : c
    shares : the weights of the rows, which sum to one
    """

    strength: float
    shares: Floats

    @classmethod
    def of(cls, strength: float, n_rows: int, weights: Floats | None) -> FlatnessPrior:
        """Return the prior of this strength for this number of rows with these weights."""
        weights = np.ones(n_rows) if weights is None else weights
        return cls(strength, weights / weights.sum())

    def at(self, phi: Floats) -> tuple[float, Floats]:
        """Return the log density, and its derivatives in the kernels: one number for each row."""
        spread = 1.0 - float(self.shares @ to_host(namespace(phi).mean(phi, axis=1)))
        if spread <= LEAST:
            return self.strength * float(np.log(LEAST)), np.zeros(len(self.shares))
        return self.strength * float(np.log(spread)), -self.strength / (spread * phi.shape[1]) * self.shares
