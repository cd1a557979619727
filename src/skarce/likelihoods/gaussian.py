r"""Numbers with normal noise: :math:`t_i \sim N(f_i, \sigma^2)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skarce._typing import Floats
from skarce.likelihoods.likelihood import Likelihood, Slopes


@dataclass(frozen=True)
class Gaussian(Likelihood):
    """Normal noise. Methods for it ask moments only, and learn the noise themselves.

    Parameters
    ----------
    noise_variance : float, default=1.0
        The variance of the noise, for questions about single rows.
    """

    noise_variance: float = 1.0

    has_moments: ClassVar[bool] = True

    def log_density(self, targets: Floats, latent: Floats) -> Floats:
        return -0.5 * ((targets - latent) ** 2 / self.noise_variance + np.log(2.0 * np.pi * self.noise_variance))

    def slopes(self, targets: Floats, latent: Floats) -> Slopes:
        precision = np.full(len(latent), 1.0 / self.noise_variance)
        return Slopes((targets - latent) * precision, precision, np.zeros(len(latent)))

    def largest_curvature(self, targets: Floats) -> Floats:
        return np.full(len(targets), 1.0 / self.noise_variance)

    def mean(self, mean: Floats, variance: Floats) -> Floats:
        return mean

    def variance(self, mean: Floats, variance: Floats) -> Floats:
        return variance + self.noise_variance
