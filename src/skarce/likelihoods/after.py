r"""Observations that come after others, of which only a quadratic in the weights is left.

The log likelihood of earlier rows, expanded to second order about the mode of a model, is
:math:`-\tfrac12|r - R\theta|^2` plus a constant, with the constant b of the latent function and all weights in
:math:`\theta = (b, w)`. So it is that of a few more rows with normal noise of variance one: R has their candidates, and r their
targets. The first column of R, that of b, is not ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skarce._typing import Floats
from skarce.likelihoods.likelihood import Observations, Slopes


class Past(NamedTuple):
    """The rows that stand for earlier ones.

    Attributes
    ----------
    constant : the first column of R, shape (n_past,)
    candidates : the other columns of R, shape (n_past, n_candidates)
    targets : r, shape (n_past,)
    """

    constant: Floats
    candidates: Floats
    targets: Floats

    @classmethod
    def none(cls, n_candidates: int) -> Past:
        """Return that there was nothing."""
        return cls(np.empty(0), np.empty((0, n_candidates)), np.empty(0))


@dataclass(frozen=True)
class ObservationsAfter(Observations):
    """Observations and then those of the past, whose rows come last.

    Attributes
    ----------
    past : Past
    """

    past: Past = field(default_factory=lambda: Past.none(0))

    def __len__(self) -> int:
        return len(self.targets) + len(self.past.targets)

    @property
    def constant(self) -> Floats:
        return np.concatenate([np.ones(len(self.targets)), self.past.constant])

    @property
    def energy_weights(self) -> Floats:
        """The weights of the new rows. What is left of the past does not say how large functions are there."""
        return np.concatenate([self.weights, np.zeros(len(self.past.targets))])

    def log_likelihood(self, latent: Floats) -> float:
        """Return sum c log p(t | f) of the new rows, and the quadratic of the past."""
        rest = self.past_targets - latent[len(self.targets) :]
        return super().log_likelihood(latent[: len(self.targets)]) - 0.5 * float(rest @ rest)

    def slopes(self, latent: Floats) -> Slopes:
        n = len(self.targets)
        first, curvature, third = super().slopes(latent[:n])
        n_past = len(self.past.targets)
        return Slopes(
            np.concatenate([first, self.past_targets - latent[n:]]),
            np.concatenate([curvature, np.ones(n_past)]),
            np.concatenate([third, np.zeros(n_past)]),
        )

    @cached_property
    def largest_curvature(self) -> Floats:
        n = len(self.targets)
        at_level = self.slopes(np.zeros(len(self))).curvature
        largest = np.maximum(self.weights * self.likelihood.largest_curvature(self.targets), at_level[:n])
        return np.concatenate([largest, at_level[n:]])

    @cached_property
    def past_targets(self) -> Floats:  # type: ignore[override]
        """Targets of a latent function that is counted from the level."""
        return self.past.targets - self.past.constant * self.level
