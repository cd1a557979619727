"""Active functions at their ridges, as a criterion sees them: one definition for every view of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
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


class KnownMembers(Members):
    """Functions whose ridges, weights, energy and determinant are known, but not H itself: a model on the way.

    `diagonal` is that of H^-1.
    """

    def __init__(self, ridges: Floats, weights: Floats, energy: float, log_determinant: float, diagonal: Floats) -> None:
        self._ridges, self._weights, self._diagonal = ridges, weights, diagonal
        self.energy, self._log_determinant = energy, log_determinant

    @property
    def ridges(self) -> Floats:
        return self._ridges

    @property
    def weights(self) -> Floats:
        return self._weights

    @property
    def log_determinant(self) -> float:
        return self._log_determinant

    @property
    def inverse(self) -> Floats:
        raise TypeError("a model on the way keeps only the diagonal of the inverse.")

    @property
    def squared_norms(self) -> Floats:
        raise TypeError("a model on the way keeps no columns.")

    def spread(self) -> Floats:
        return self._diagonal


class SolvedMembers(KnownMembers):
    """Functions whose H is factorized, in the coordinates in which the ridges penalize single weights.

    `factor` is the Cholesky factor of H, `mixing` the matrix M if the ridges penalize M w.
    """

    def __init__(
        self,
        factor: Floats,
        ridges: Floats,
        weights: Floats,
        energy: float,
        squared_norms: Floats,
        mixing: Floats | None = None,
        noise: float | None = None,
    ) -> None:
        self.factor, self._ridges, self._weights, self.energy = factor, ridges, weights, energy
        self._squared_norms, self.mixing, self.noise = squared_norms, mixing, noise

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.factor.diagonal() ** 2 / self.ridges).sum())

    @cached_property
    def inverse(self) -> Floats:
        inverse = symmetric_inverse(self.factor)
        return inverse if self.mixing is None else self.mixing @ inverse @ self.mixing.T

    @property
    def squared_norms(self) -> Floats:
        return self._squared_norms

    def spread(self) -> Floats:
        return self.inverse.diagonal()
