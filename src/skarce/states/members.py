"""Active functions at their ridges, as a criterion sees them: one definition for every view of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skarce._linalg import symmetric_inverse
from skarce._typing import Floats


class Members(ABC):
    r"""The functions of a model: :math:`H = \Phi^T\Phi + \Lambda` and what follows from it.

    Attributes
    ----------
    energy : float
        t'P t, the residual energy plus the penalty.
    noise : float or None
        The noise variance if a criterion holds one; None if it follows from the set.
    """

    energy: float
    noise: float | None = None

    @property
    @abstractmethod
    def ridges(self) -> Floats:
        """Lambda, the weight precisions relative to the noise precision."""

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """w = H^-1 Phi't."""

    @property
    @abstractmethod
    def squared_norms(self) -> Floats:
        """diag(Phi'Phi) of the active functions."""

    @property
    @abstractmethod
    def log_determinant(self) -> float:
        """log|I + Phi Lambda^-1 Phi'|."""

    @property
    @abstractmethod
    def inverse(self) -> Floats:
        """H^-1."""

    def spread(self) -> Floats:
        """diag(H^-1): posterior variances relative to the noise."""
        return self.inverse.diagonal()

    def squared_spread(self) -> Floats:
        """diag(H^-2)."""
        return (self.inverse**2).sum(axis=0)

    def well_determined(self) -> float:
        """gamma, the number of weights that the data determine."""
        return float((1.0 - self.ridges * self.spread()).sum())


@dataclass
class SolvedMembers(Members):
    """Functions whose solution is known, in the coordinates in which the ridges penalize single weights.

    `factor` is the Cholesky factor of H; `mixing` the matrix M if the ridges penalize M w.
    """

    factor: Floats
    ridges: Floats
    weights: Floats
    energy: float
    squared_norms: Floats
    mixing: Floats | None = None
    noise: float | None = None

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.factor.diagonal() ** 2 / self.ridges).sum())

    @cached_property
    def inverse(self) -> Floats:
        inverse = symmetric_inverse(self.factor)
        return inverse if self.mixing is None else self.mixing @ inverse @ self.mixing.T
