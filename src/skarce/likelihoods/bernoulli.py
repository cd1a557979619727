r"""Two classes: :math:`p(t_i = 1) = g(f_i)`, with the logistic function g and the latent function f (the log odds)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr, logsumexp

from skarce._typing import Floats


@dataclass(frozen=True)
class Labels:
    """What was observed: zeros and ones, and how often each row counts.

    Attributes
    ----------
    targets : array of shape (n_rows,)
    weights : array of shape (n_rows,)
    """

    targets: Floats
    weights: Floats

    def __len__(self) -> int:
        return len(self.targets)

    def log_likelihood(self, latent: Floats) -> float:
        """sum c (t f - log(1 + e^f)), by one exponential that cannot overflow."""
        losses = np.maximum(latent, 0.0) - self.targets * latent + np.log1p(np.exp(-np.abs(latent)))
        return -float(self.weights @ losses)

    def slopes(self, latent: Floats) -> tuple[Floats, Floats, Floats]:
        """The first derivative of the log likelihood by f at each row, minus the second, and minus the third.

        These are c (t - g), c g (1 - g) and c g (1 - g)(1 - 2 g).
        """
        probability = expit(latent)
        curvature = self.weights * probability * expit(-latent)
        return self.weights * (self.targets - probability), curvature, curvature * (1.0 - 2.0 * probability)


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


def moderated_log_odds(mean: Floats, variance: Floats) -> Floats:
    """The log odds of E g(f) for f ~ N(mean, variance).

    Of a normal distribution function the mean is known, E Phi(s f) = Phi(s mean / sqrt(1 + s^2 variance)), and g is a mixture of
    these. The common g(mean / sqrt(1 + pi variance / 8)) is several times too large where a rare class is very unlikely.
    """
    shares, scales = MIXTURE.T
    scaled = mean[..., None] * scales / np.sqrt(1.0 + variance[..., None] * scales**2)
    return logsumexp(log_ndtr(scaled), b=shares, axis=-1) - logsumexp(log_ndtr(-scaled), b=shares, axis=-1)
