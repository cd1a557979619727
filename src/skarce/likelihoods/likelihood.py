r"""How targets arise from the latent function f, one row at a time: the questions that methods ask.

A likelihood knows no rows. `Observations` puts it together with targets and weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from skarce._device import at_most, namespace
from skarce._typing import Floats

LARGEST_EXPONENT = 300.0  # e^300 squared, and sums of many such squares, are still numbers


def bounded_exp(exponent: Floats) -> Floats:
    """Return e^x, or e^300 if x is above 300. It never overflows, and neither do squares and sums of it.

    A search may try a latent function that is far off, such as f = -800 or f = 800. Densities and slopes must then still be finite,
    without a warning. Write ``bounded_exp(f)`` in place of ``np.exp(f)``, and nothing else is needed. For logistic functions,
    `scipy.special.expit` and `numpy.logaddexp` do the same.
    """
    return namespace(exponent).exp(at_most(exponent, LARGEST_EXPONENT))


class Slopes(NamedTuple):
    """Derivatives of the log likelihood by f at each row: the first, minus the second, and minus the third."""

    first: Floats
    curvature: Floats
    third: Floats


class Likelihood(ABC):
    """The density p(t | f) of one target given the latent function there.

    A likelihood answers for arrays of targets and latent values of the same length, row by row. They are NumPy arrays, or arrays on
    a device if rows are there: then `skarce._device.namespace` has the functions in place of those of NumPy.

    A likelihood must write `log_density`, `slopes`, `largest_curvature`, `mean` and `variance`. All other methods have defaults. If
    it has parameters, it is best written as a frozen dataclass.

    Answers must be finite, without a warning, however far off the latent function is. `bounded_exp` takes the place of
    `numpy.exp` for that.

    Attributes
    ----------
    has_moments : bool, default=False
        Whether sums over the rows say all that there is to know about the weights. This holds for normal noise only.
    is_log_concave : bool, default=True
        Whether the curvature is never negative, so that the weights have one mode.
    latent_scale : float, default=10.0
        tau: the prior standard deviation of the constant, and the scale of learned weights.
    """

    has_moments: ClassVar[bool] = False
    is_log_concave: ClassVar[bool] = True
    latent_scale: ClassVar[float] = 10.0

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
        return namespace(targets).zeros_like(targets)

    def level(self, targets: Floats, weights: Floats) -> float:
        """Where the prior of the constant is centered: a finite number for all targets that pass `check_targets`. Default: zero."""
        return 0.0

    def check_targets(self, targets: Floats) -> None:
        """Raise a ValueError for impossible targets. Default: every number is possible.

        `Observations.of` asks this for all rows, and again for the rows of positive weight alone. So every method gets possible
        targets only, and `level` may rely on them.
        """
        return

    def check_some_targets(self, targets: Floats) -> None:
        """Raise a ValueError for impossible targets among some of the rows. Other rows may have events that these lack."""
        self.check_targets(np.append(targets, 1.0))


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
        """Check the targets. Every row counts once if there are no weights. Without a constant, f is counted from zero."""
        counts = np.ones(len(targets)) if weights is None else weights
        likelihood.check_targets(targets)
        if weights is not None:
            likelihood.check_targets(targets[weights > 0.0])
        return cls(likelihood, targets, counts, likelihood.level(targets, counts) if has_constant else 0.0)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def constant(self) -> Floats:
        """The constant at each row."""
        return np.ones(len(self))

    @property
    def energy_weights(self) -> Floats:
        """How much each row counts for the size of functions."""
        return self.weights

    @property
    def past_targets(self) -> Floats:
        """Targets, from the level, of the last rows, which stand for earlier ones and have normal noise of variance one: none."""
        return np.empty(0)

    def log_likelihood(self, latent: Floats) -> float:
        """sum c log p(t | f)."""
        losses = self.likelihood.loss(self.targets, self._from_level(latent))
        return self.offset - float(losses.sum() if self._count_once else self.weights @ losses)

    def slopes(self, latent: Floats) -> Slopes:
        """Derivatives of the log likelihood by f at each row, weights counted."""
        slopes = self.likelihood.slopes(self.targets, self._from_level(latent))
        if self._count_once:
            return slopes
        first, curvature, third = slopes
        return Slopes(self.weights * first, self.weights * curvature, self.weights * third)

    @cached_property
    def log_likelihood_at_level(self) -> float:
        """The log likelihood of f = 0 everywhere."""
        return self.log_likelihood(np.zeros(len(self)))

    @cached_property
    def total_energy_weight(self) -> float:
        """How much all rows count for the size of functions."""
        return float(self.energy_weights.sum())

    @cached_property
    def largest_curvature(self) -> Floats:
        """A bound of the curvature at each row, weights counted.

        If there is none: the curvature of a fit that reproduces the targets, or that of a constant at the level if it is larger.
        """
        at_level = self.slopes(np.zeros(len(self))).curvature
        return np.maximum(self.weights * self.likelihood.largest_curvature(self.targets), at_level)

    def _from_level(self, latent: Floats) -> Floats:
        return latent + self.level if self.level else latent

    @cached_property
    def _count_once(self) -> bool:
        return bool((self.weights == 1.0).all())

    @cached_property
    def offset(self) -> float:
        """The part of the log likelihood that does not depend on f."""
        return float(self.weights @ self.likelihood.offset(self.targets))

    @cached_property
    def unequal_weights(self) -> Floats:
        """The weights; none if every row counts once."""
        return np.empty(0) if self._count_once else np.ascontiguousarray(self.weights, dtype=np.float64)

    @cached_property
    def log_targets(self) -> Floats:
        """The logarithms of positive targets, and zero for the others."""
        return np.log(np.where(self.targets > 0.0, self.targets, 1.0))
