"""One target, and everything that a method may ask of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skarce._scales import check_ratio
from skarce._typing import Floats
from skarce.basis import Evaluation
from skarce.likelihoods import Likelihood, Observations
from skarce.moments import Moments
from skarce.moments.moments import power_of_two_near

if TYPE_CHECKING:
    from skarce.designs.design import Design

CONSTANT_TARGET = 1e-24  # a target is constant if its energy about the mean is below this share of its raw energy


@dataclass(frozen=True)
class Problem:
    """One output of a design and how its targets arise.

    Attributes
    ----------
    design : Design
        Where the rows live.
    output : int
        The number of the target.
    likelihood : Likelihood
        How targets arise from the latent function.
    scaled_moments : Moments or None
        Moments of the target times `target_scale`. None if the likelihood needs the rows themselves.
    target_scale : float
        A power of two that brings the target near unit variance, so that no result depends on its units.
    """

    design: Design
    output: int
    likelihood: Likelihood
    scaled_moments: Moments | None = None
    target_scale: float = 1.0

    @classmethod
    def of_moments(cls, design: Design, output: int, likelihood: Likelihood, moments: Moments) -> Problem:
        """Scale a target that varies to about unit variance. The factor is a power of two, so this is exact."""
        raw = moments.target_energy + design.n_samples * design.target_means[output] ** 2
        varies = moments.n_samples > 0.0 and moments.target_energy > CONSTANT_TARGET * raw
        if not varies:
            return cls(design, output, likelihood, moments)
        size = float(np.sqrt(moments.target_energy / moments.n_samples))
        check_ratio(float(np.sqrt(moments.gram.diagonal.max(initial=0.0) / moments.n_samples)), size)
        scale = 1.0 / power_of_two_near(size)
        return cls(design, output, likelihood, moments.scaled(scale), scale)

    @property
    def moments(self) -> Moments:
        """Moments of the scaled target."""
        if self.scaled_moments is None:
            raise TypeError(f"{type(self.likelihood).__name__} targets have no moments: ask for the observations and the rows.")
        return self.scaled_moments

    @property
    def is_constant(self) -> bool:
        """Whether the target does not vary, to working precision."""
        moments = self.moments
        mean = self.design.target_means[self.output] * self.target_scale
        return not moments.target_energy > CONSTANT_TARGET * (moments.target_energy + self.design.n_samples * mean**2)

    @property
    def observations(self) -> Observations:
        """The targets of this output, with their weights."""
        return self.design.observations(self.output, self.likelihood)

    def evaluation(self, most_held: int = 0) -> tuple[Evaluation, Floats]:
        """Return the candidates at the rows about their means, and the means. At most `most_held` values may be kept."""
        return self.design.evaluation(most_held)
