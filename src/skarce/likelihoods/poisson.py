r"""Counts: :math:`t_i \sim \text{Poisson}(e^{f_i})`, the latent function f being the log rate.

A row with weight c has the log likelihood :math:`c\,(tf - e^f - \log t!)`. So weight 2 equals the row twice. And k events in an
exposure c may be given as the rate t = k/c with the weight c: both
:math:`c\,(tf - e^f)` and :math:`kf - ce^f` are the log likelihood of k ~ Poisson(c e^f), up to a constant.

The posterior of f is not symmetric: :math:`-e^f` bounds it from above much more than from below. So f with mode m and curvature 1/v
is not taken for normal, but for the logarithm of a rate with a gamma distribution, of shape 1/v and mean :math:`e^m`, which has the
same mode and curvature and is exact for a constant rate under a flat prior. A new count is then negative binomial, with mean
:math:`\mu = e^m` and variance :math:`\mu + v\mu^2`, and predictions of a fit with an intercept add up to what was counted. A
normal distribution would give the mean :math:`e^{m + v/2}`, which is off by orders of magnitude if nothing was counted nearby.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammainccinv, gammaincinv, gammaln, ndtr, xlog1py, xlogy

from skarce._device import at_most, namespace, special
from skarce._typing import Floats
from skarce.likelihoods.likelihood import LARGEST_EXPONENT, Likelihood, Slopes, bounded_exp

NEARLY_POISSON = 1.0 - 1e-9  # a count whose mean is a larger share of its variance is Poisson, to nine digits of the variance
SMALLEST_SHAPE = 1e-9  # a negative binomial count of a smaller shape is zero nearly always
NEARLY_NONE = 1e-9  # less variance than this share does not show in draws
LEAST_RATE = 1e-10  # a rate of zero makes the deviance of any count infinite
LARGEST_POISSON = 1e15  # larger rates are counts themselves: their noise is a millionth of a percent
LARGE_COUNT = 1e6  # above it, the quantiles of counts are those of a gamma distribution


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
        xp, counted = namespace(latent), targets > 0.0
        safe = xp.where(counted, targets, xp.ones_like(targets))
        excess = latent - xp.log(safe)
        return xp.where(counted, safe * (xp.expm1(at_most(excess, LARGEST_EXPONENT)) - excess), bounded_exp(latent))

    def offset(self, targets: Floats) -> Floats:
        """t log t - t - log t!, the log density at the best f."""
        return special("xlogy", targets, targets) - targets - special("gammaln", targets + 1.0)

    def slopes(self, targets: Floats, latent: Floats) -> Slopes:
        """t - e^f, e^f and e^f."""
        rate = bounded_exp(latent)
        return Slopes(targets - rate, rate, rate)

    def largest_curvature(self, targets: Floats) -> Floats:
        """Return t, as e^f has no bound and is t for a fit that reproduces the targets."""
        return targets

    def mean(self, mean: Floats, variance: Floats) -> Floats:
        """mu = e^m, the mean of a gamma distribution; infinite if that exceeds the largest number."""
        with np.errstate(over="ignore"):
            return namespace(mean).exp(mean)

    def variance(self, mean: Floats, variance: Floats) -> Floats:
        """mu + v mu^2, of a new count with unit exposure: the Poisson noise and the uncertainty of the rate."""
        with np.errstate(over="ignore", divide="ignore"):
            xp = namespace(mean)
            return xp.exp(mean) + xp.exp(2.0 * mean + xp.log(variance))

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
                "least one event (in a stream, put this batch together with the next), or sklearn.dummy.DummyRegressor, which "
                "predicts 0."
            )


def count_quantiles(probability: Any, mean: Floats, variance: Floats) -> Floats:
    """Return quantiles of counts with this mean and variance: negative binomial, or Poisson if the variance is at most the mean.

    Large counts have those of a gamma distribution with the same mean and variance, or the mean itself if these overflow.
    """
    is_large = ~(mean <= LARGE_COUNT)
    small = np.where(is_large, 1.0, mean)
    is_poisson, shape, success = _negative_binomial(small, np.where(is_large, 1.0, variance))
    exact = np.where(is_poisson, stats.poisson.ppf(probability, small), stats.nbinom.ppf(probability, shape, success))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        ratio = np.maximum(variance, mean) / mean
        smooth = np.round(ratio * gammaincinv(np.where(is_large, mean / ratio, 1.0), probability))
    return np.where(is_large, np.where(np.isfinite(smooth), smooth, mean), exact)


def count_log_density(counts: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the log densities of the same distributions. Counts need not be whole: they may be rates times exposures."""
    is_poisson, shape, success = _negative_binomial(mean, variance)
    spread = gammaln(counts + shape) - gammaln(shape) + shape * np.log(success) + xlog1py(counts, -success)
    return np.where(is_poisson, xlogy(counts, mean) - mean, spread) - gammaln(counts + 1.0)


def drawn_counts(scores: Floats, mean: Floats, variance: Floats, factor: float, rng: np.random.RandomState) -> Floats:
    r"""Draw counts with unit exposure, whose rates have a gamma distribution.

    With :math:`\mu = e^m`, the rate r is the quantile of the gamma distribution of mean :math:`\mu` and variance :math:`v\mu^2` at
    the place of a standard normal score. A count has the mean r and the variance k r, with
    :math:`k = s + (s - 1)v\mu`, so that its variance over all rates is :math:`s(\mu + v\mu^2)`. It is Poisson if s = 1, and
    negative binomial if s > 1.

    Parameters
    ----------
    scores : array of shape (n_rows, n_draws)
        Standard normal scores. Those of one draw go together.
    mean, variance : array of shape (n_rows, 1)
        m and v of the latent function.
    factor : float
        s, at least 1.
    rng : RandomState
        Draws the counts, given their rates.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        expected = np.exp(mean)
        rates = expected * _relative_rates(scores, variance)
        rates = np.where(np.isnan(rates), np.broadcast_to(expected, rates.shape), rates)  # a rate too large for a number
        excess = (factor - 1.0) * (1.0 + variance * expected)  # k - 1
        spread = (excess > NEARLY_NONE) & (rates > 0.0) & np.isfinite(rates)
        shapes = np.where(spread, rates / excess, 1.0)
        rates = np.where(spread, rng.standard_gamma(shapes) * excess, rates)
    is_small = rates <= LARGEST_POISSON
    return np.where(is_small, rng.poisson(np.where(is_small, rates, 0.0)), np.round(rates))


def _relative_rates(scores: Floats, variance: Floats) -> Floats:
    """Return the quantiles of a gamma distribution of mean 1 at the places of standard normal scores."""
    is_sure = ~(variance > NEARLY_NONE)
    shape = np.where(is_sure, 1.0, 1.0 / np.where(is_sure, 1.0, variance))
    upper = gammainccinv(shape, ndtr(-np.abs(scores)))  # from the nearer end, where no digits are lost
    quantiles = np.where(scores > 0.0, upper, gammaincinv(shape, ndtr(-np.abs(scores)))) / shape
    return np.where(is_sure, 1.0, quantiles)


def _negative_binomial(mean: Floats, variance: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    r"""Tell which counts are Poisson. Others have the shape :math:`\mu^2/(\sigma^2 - \mu)` and success :math:`\mu/\sigma^2`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shape, success = mean * (mean / (variance - mean)), mean / variance
        is_spread = (shape > SMALLEST_SHAPE) & (shape < np.inf) & (success > 0.0) & (success < NEARLY_POISSON)
    return ~is_spread, np.where(is_spread, shape, 1.0), np.where(is_spread, success, 0.5)


def variance_stabilized(rates: Floats, exposures: Floats | None) -> tuple[Floats, Floats | None]:
    """Return square roots of rates, whose noise hardly depends on the rate, and exposures relative to their mean."""
    return np.sqrt(rates), None if exposures is None else exposures / exposures[exposures > 0.0].mean()
