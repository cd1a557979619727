r"""Two classes: :math:`p(t_i = 1) = g(f_i)`, with the logistic function g and the latent function f (the log odds)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

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


def moderated_log_odds(mean: Floats, variance: Floats) -> Floats:
    """The log odds of E g(f) for f ~ N(mean, variance): close to mean / sqrt(1 + pi variance / 8) (MacKay 1992)."""
    return mean / np.sqrt(1.0 + np.pi / 8.0 * variance)
