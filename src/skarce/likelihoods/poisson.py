r"""Counts: :math:`t_i \sim \text{Poisson}(e^{f_i})`, the latent function f being the log rate.

A row with weight c has the log likelihood :math:`c\,(tf - e^f - \log t!)`. So weight 2 equals the row twice. And k events in an
exposure c may be given as the rate t = k/c with the weight c: both
:math:`c\,(tf - e^f)` and :math:`kf - ce^f` are the log likelihood of k ~ Poisson(c e^f), up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from skarce._typing import Floats
from skarce.likelihoods.likelihood import Likelihood, Slopes

LARGEST_LOG_RATE = 300.0  # rates above e^300 count as e^300: their squares, and sums of these, are still numbers


@dataclass(frozen=True)
class Poisson(Likelihood):
    """Counts, or rates with their exposures as weights. The latent function is the log rate.

    The prior of the constant is centered at the log of the mean rate, so that the unit of exposure does not matter.
    """

    def log_density(self, targets: Floats, latent: Floats) -> Floats:
        """t f - e^f - log t!."""
        return self.offset(targets) - self.loss(targets, latent)

    def loss(self, targets: Floats, latent: Floats) -> Floats:
        """e^f - t - t (f - log t), as t (e^d - 1 - d) with d = f - log t, which keeps its digits near the best f."""
        counted = targets > 0.0
        safe = np.where(counted, targets, 1.0)
        excess = latent - np.log(safe)
        return np.where(counted, safe * (np.expm1(np.minimum(excess, LARGEST_LOG_RATE)) - excess), _rate(latent))

    def offset(self, targets: Floats) -> Floats:
        """t log t - t - log t!, the log density at the best f."""
        return xlogy(targets, targets) - targets - gammaln(targets + 1.0)

    def slopes(self, targets: Floats, latent: Floats) -> Slopes:
        """t - e^f, e^f and e^f."""
        rate = _rate(latent)
        return Slopes(targets - rate, rate, rate)

    def largest_curvature(self, targets: Floats) -> Floats:
        """Return t, as e^f has no bound and is t for a fit that reproduces the targets."""
        return targets

    def mean(self, mean: Floats, variance: Floats) -> Floats:
        """E e^f = e^(mean + variance/2); infinite if that exceeds the largest number."""
        with np.errstate(over="ignore"):
            return np.exp(mean + 0.5 * variance)

    def variance(self, mean: Floats, variance: Floats) -> Floats:
        """E e^f + Var e^f, the latter e^(2 mean + variance) (e^variance - 1): of a new count with unit exposure."""
        with np.errstate(over="ignore", divide="ignore"):
            # log(e^v - 1) = v + log(1 - e^-v) does not overflow, and is -inf if there is no uncertainty
            log_excess = 2.0 * (mean + variance) + np.log(-np.expm1(-variance))
            return self.mean(mean, variance) + np.exp(log_excess)

    def level(self, targets: Floats, weights: Floats) -> float:
        """Return the log of the mean rate."""
        return float(np.log(weights @ targets / weights.sum()))

    def check_targets(self, targets: Floats) -> None:
        """Raise for negative or missing counts, and if nothing was counted: the log of a mean of zero is not a number."""
        wrong = np.flatnonzero(~((targets >= 0.0) & np.isfinite(targets)))
        if len(wrong):
            raise ValueError(
                f"y must have counts or rates, which are finite and at least 0, but row {wrong[0]} has {targets[wrong[0]]:.6g}"
                f"{'' if len(wrong) == 1 else f', and {len(wrong) - 1} more rows are like it'}. Drop these rows, or use a "
                "regressor for numbers such as RelevanceVectorRegressor."
            )
        if not targets.any():
            raise ValueError(
                "y is 0 in every row of positive weight, and no rate can be estimated if nothing was counted. Use rows with at "
                "least one event, or sklearn.dummy.DummyRegressor, which predicts 0."
            )


def _rate(latent: Floats) -> Floats:
    return np.exp(np.minimum(latent, LARGEST_LOG_RATE))
