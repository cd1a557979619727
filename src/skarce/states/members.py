"""Active functions at their ridges, as a criterion sees them: one interface for every way to keep them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from skarce._linalg import symmetric_inverse
from skarce._typing import Floats


class Members(ABC):
    r"""The active functions of a model: :math:`H = \Phi^T\Phi + \Lambda` and what follows from it.

    Attributes
    ----------
    energy : float
        t'P t, the residual energy plus the penalty.
    noise : float or None
        The noise variance if a criterion holds one. None if it follows from the set.
    """

    energy: float
    noise: float | None = None

    @property
    @abstractmethod
    def ridges(self) -> Floats:
        """The diagonal of Lambda: the weight precisions relative to the noise precision."""

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """w = H^-1 Phi't, the posterior mean."""

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

    @property
    def inverse_there(self) -> Any:
        """H^-1 where large matrices are: on a device, or on the host."""
        return self.inverse

    def spread(self) -> Floats:
        """Return diag(H^-1): the posterior variances relative to the noise."""
        return self.inverse.diagonal()

    def squared_spread(self) -> Floats:
        """Return diag(H^-2)."""
        return (self.inverse**2).sum(axis=0)

    def well_determined(self) -> float:
        """Return gamma, the number of weights that the data determine."""
        return float((1.0 - self.ridges * self.spread()).sum())

    def at_best_ridge(self) -> Any:
        """Return about the same functions at the best ridge that they share, if theirs is held. Default: themselves."""
        return self


class KnownMembers(Members):
    """Active functions of an intermediate model, which does not keep H itself.

    Parameters
    ----------
    ridges : array of shape (n_active,)
        The diagonal of Lambda.
    weights : array of shape (n_active,)
        w = H^-1 Phi't.
    energy : float
        t'P t.
    log_determinant : float
        log|I + Phi Lambda^-1 Phi'|.
    diagonal : array of shape (n_active,)
        The diagonal of H^-1.
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
        raise TypeError("an intermediate model keeps only the diagonal of the inverse.")

    @property
    def squared_norms(self) -> Floats:
        raise TypeError("an intermediate model keeps no columns.")

    def spread(self) -> Floats:
        return self._diagonal


class SolvedMembers(KnownMembers):
    """Active functions with a factorized H, in the coordinates in which each ridge penalizes one weight.

    Parameters
    ----------
    factor : array of shape (n_active, n_active)
        The lower Cholesky factor of H.
    ridges : array of shape (n_active,)
        The diagonal of Lambda.
    weights : array of shape (n_active,)
        w = H^-1 Phi't.
    energy : float
        t'P t.
    squared_norms : array of shape (n_active,)
        diag(Phi'Phi).
    mixing : array of shape (n_active, n_active), default=None
        M if the ridges penalize M w. None if they penalize w.
    noise : float, default=None
        The noise variance if a criterion holds one. None if it follows from the set.
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
