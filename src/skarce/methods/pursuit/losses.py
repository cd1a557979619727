"""Losses of one row, by its target and by the function there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.likelihoods import Bernoulli

_BERNOULLI = Bernoulli()


class RowLoss(ABC):
    """A convex loss l(t, f). All answers are arrays with one entry for each row."""

    @abstractmethod
    def values(self, targets: Floats, latent: Floats) -> Floats:
        """Return l."""

    @abstractmethod
    def slopes(self, targets: Floats, latent: Floats) -> tuple[Floats, Floats]:
        """Return minus the first derivative of l by f, and the second."""

    @abstractmethod
    def majorizer(self, targets: Floats, latent: Floats) -> Floats:
        """Return the curvature of a parabola that touches l at f and is nowhere below it."""


@dataclass(frozen=True)
class HuberLoss(RowLoss):
    """Half the square of the residual, and beyond `threshold` a straight line.

    Parameters
    ----------
    threshold : float
        Where the line begins.
    """

    threshold: float

    def values(self, targets: Floats, latent: Floats) -> Floats:
        distance = np.abs(targets - latent)
        return np.where(distance <= self.threshold, 0.5 * distance**2, self.threshold * (distance - 0.5 * self.threshold))

    def slopes(self, targets: Floats, latent: Floats) -> tuple[Floats, Floats]:
        residual = targets - latent
        return np.clip(residual, -self.threshold, self.threshold), (np.abs(residual) <= self.threshold).astype(float)

    def majorizer(self, targets: Floats, latent: Floats) -> Floats:
        return self.threshold / np.maximum(np.abs(targets - latent), self.threshold)


@dataclass(frozen=True)
class LogisticLoss(RowLoss):
    """log(1 + e^f) - t f, for labels 0 and 1."""

    def values(self, targets: Floats, latent: Floats) -> Floats:
        return _BERNOULLI.loss(targets, latent)

    def slopes(self, targets: Floats, latent: Floats) -> tuple[Floats, Floats]:
        first, curvature, _ = _BERNOULLI.slopes(targets, latent)
        return first, curvature

    def majorizer(self, targets: Floats, latent: Floats) -> Floats:
        return _BERNOULLI.largest_curvature(targets)


@dataclass(frozen=True)
class SquaredHingeLoss(RowLoss):
    """C/2 max(0, 1 - t f)^2, for labels -1 and 1.

    Parameters
    ----------
    C : float
        How much a row counts that is not beyond the margin.
    """

    C: float

    def values(self, targets: Floats, latent: Floats) -> Floats:
        return 0.5 * self.C * np.maximum(1.0 - targets * latent, 0.0) ** 2

    def slopes(self, targets: Floats, latent: Floats) -> tuple[Floats, Floats]:
        short = 1.0 - targets * latent
        return self.C * targets * np.maximum(short, 0.0), self.C * (short > 0.0)

    def majorizer(self, targets: Floats, latent: Floats) -> Floats:
        return np.full(len(targets), self.C)
