r"""Two classes: :math:`p(t_i = 1) = g(f_i)`, with the logistic function g and the latent function f (the log odds)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from skarce._device import at_least, at_most, namespace, special, to_device
from skarce._typing import Floats
from skarce.likelihoods.likelihood import Likelihood, Slopes

FURTHEST = 1e150  # standard deviations, whose squares are still numbers
LARGEST_CURVATURE = 0.25  # g (1 - g) at f = 0

# The logistic function as a mixture of eight normal distribution functions, to 1e-8 (Monahan and Stefanski 1992): share, scale.
MIXTURE = np.array(
    [
        (0.003246343272134, 1.365340806296348),
        (0.051517477033972, 1.059523971016916),
        (0.195077912673858, 0.830791313765644),
        (0.315569823632818, 0.650732166639391),
        (0.274149576158423, 0.508135425366489),
        (0.131076880695470, 0.396313345166341),
        (0.027912418727972, 0.308904252267995),
        (0.001449567805354, 0.238212616409306),
    ]
)


@dataclass(frozen=True)
class Bernoulli(Likelihood):
    """Zeros and ones. The latent function is the log odds of a one."""

    def log_density(self, targets: Floats, latent: Floats) -> Floats:
        return -self.loss(targets, latent)

    def loss(self, targets: Floats, latent: Floats) -> Floats:
        """log(1 + e^f) - t f, by one exponential that cannot overflow."""
        xp = namespace(latent)
        losses = xp.log1p(xp.exp(-abs(latent)))
        losses += at_least(latent, 0.0)
        losses -= targets * latent
        return losses

    def slopes(self, targets: Floats, latent: Floats) -> Slopes:
        """t - g, g (1 - g) and g (1 - g)(1 - 2 g)."""
        probability = special("expit", latent)
        curvature = probability * special("expit", -latent)
        return Slopes(targets - probability, curvature, curvature * (1.0 - 2.0 * probability))

    def largest_curvature(self, targets: Floats) -> Floats:
        return np.full(len(targets), LARGEST_CURVATURE)

    def mean(self, mean: Floats, variance: Floats) -> Floats:
        """E g(f)."""
        return expit(moderated_log_odds(mean, np.sqrt(variance)))

    def variance(self, mean: Floats, variance: Floats) -> Floats:
        """p (1 - p) with p = E g(f)."""
        log_odds = moderated_log_odds(mean, np.sqrt(variance))
        return expit(log_odds) * expit(-log_odds)

    def check_targets(self, targets: Floats) -> None:
        others = targets[(targets != 0.0) & (targets != 1.0)]
        if len(others):
            raise ValueError(f"labels must be coded as 0 and 1, got {others[0]:.6g}.")


def moderated_log_odds(mean: Floats, std: Floats) -> Floats:
    """Return the log odds of E g(f) for f ~ N(mean, std^2).

    The mean of a normal distribution function is known, E Phi(s f) = Phi(mean / sqrt(1/s^2 + std^2)), and g is a mixture of
    these. The common g(mean / sqrt(1 + pi std^2 / 8)) is several times too large if a rare class is very unlikely.
    """
    xp, (shares, scales) = namespace(mean), (to_device(np.ascontiguousarray(column), mean) for column in MIXTURE.T)
    with np.errstate(over="ignore"):  # of a mean near the largest number
        scaled = at_most(at_least(mean[..., None] / xp.hypot(1.0 / scales, std[..., None]), -FURTHEST), FURTHEST)
    return _log_of_mixture(special("log_ndtr", scaled), shares) - _log_of_mixture(special("log_ndtr", -scaled), shares)


def _log_of_mixture(logs: Floats, shares: Floats) -> Floats:
    """Return the log of the sum of shares times exponentials, along the last axis."""
    xp = namespace(logs)
    largest = xp.max(logs, axis=-1, keepdims=True)
    return xp.log(xp.exp(logs - largest) @ shares) + largest[..., 0]
