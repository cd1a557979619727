r"""How targets arise from the latent function f, one row at a time: the questions that methods ask.

A likelihood knows no rows. `Observations` puts it together with targets and weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from skarce._typing import Floats


class Slopes(NamedTuple):
    """Derivatives of the log likelihood by f at each row: the first, minus the second, and minus the third."""

    first: Floats
    curvature: Floats
    third: Floats


class Likelihood(ABC):
    """The density p(t | f) of one target given the latent function there."""

    has_moments: ClassVar[bool] = False  # whether sums over the rows say all that there is to know about the weights
    is_log_concave: ClassVar[bool] = True  # whether the curvature is never negative, so that the weights have one mode
    latent_scale: ClassVar[float] = 10.0  # tau: the prior standard deviation of the constant, and the scale of learned weights

    @abstractmethod
    def log_density(self, targets: Floats, latent: Floats) -> Floats:
        """log p(t | f) at each row, with all constants."""

    @abstractmethod
    def slopes(self, targets: Floats, latent: Floats) -> Slopes:
        """Derivatives of `log_density` by f."""

    @abstractmethod
    def largest_curvature(self, targets: Floats) -> Floats:
        """An upper bound of the curvature at each row; if there is none, the curvature of a fit that reproduces the targets."""

    @abstractmethod
    def mean(self, mean: Floats, variance: Floats) -> Floats:
        """E t, moderated by the uncertainty of f, whose posterior has its mode at `mean` and there the curvature 1/variance.

        That is N(mean, variance), unless another distribution with this mode and curvature goes better with the likelihood.
        """

    @abstractmethod
    def variance(self, mean: Floats, variance: Floats) -> Floats:
        """Var t with the same distribution of f: how far a new target may be from the prediction."""

    def loss(self, targets: Floats, latent: Floats) -> Floats:
        """`offset` less log p(t | f) at each row: what a fit makes small. Default: minus log p(t | f)."""
        return -self.log_density(targets, latent)

    def offset(self, targets: Floats) -> Floats:
        """A part of log p(t | f) that does not depend on f, kept apart to save time or digits. Default: zero."""
        return np.zeros(len(targets))

    def level(self, targets: Floats, weights: Floats) -> float:
        """Where the prior of the constant is centered. Default: zero."""
        return 0.0

    def check_targets(self, targets: Floats) -> None:
        """Raise a ValueError for targets that cannot be. Default: every number can be."""
        return


@dataclass(frozen=True)
class Observations:
    """What was observed: targets, how often each row counts, and how the targets arise.

    The latent function is counted from `level`, so that the prior of the constant has mean zero.

    Attributes
    ----------
    likelihood : Likelihood
    targets, weights : arrays of shape (n_rows,)
    level : float
    """

    likelihood: Likelihood
    targets: Floats
    weights: Floats
    level: float = 0.0

    @classmethod
    def of(
        cls, likelihood: Likelihood, targets: Floats, weights: Floats | None = None, *, has_constant: bool = True
    ) -> Observations:
        """Count every row once if there are no weights. Without a constant the latent function is counted from zero."""
        counts = np.ones(len(targets)) if weights is None else weights
        return cls(likelihood, targets, counts, likelihood.level(targets, counts) if has_constant else 0.0)

    def __len__(self) -> int:
        return len(self.targets)

    def log_likelihood(self, latent: Floats) -> float:
        """sum c log p(t | f)."""
        return self._offset - float(self.weights @ self.likelihood.loss(self.targets, latent + self.level))

    def slopes(self, latent: Floats) -> Slopes:
        """Derivatives of the log likelihood by f at each row, weights counted."""
        first, curvature, third = self.likelihood.slopes(self.targets, latent + self.level)
        return Slopes(self.weights * first, self.weights * curvature, self.weights * third)

    def largest_curvature(self) -> Floats:
        """A bound of the curvature at each row, weights counted.

        If there is none: the curvature of a fit that reproduces the targets, or that of a constant at the level if it is larger.
        """
        at_level = self.slopes(np.zeros(len(self))).curvature
        return np.maximum(self.weights * self.likelihood.largest_curvature(self.targets), at_level)

    @cached_property
    def _offset(self) -> float:
        return float(self.weights @ self.likelihood.offset(self.targets))
