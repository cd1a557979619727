r"""Probabilities of classes in whole numbers, evaluated exactly as their C does.

A head gives mean m and std s of a latent function. The logistic function is a mixture of normal distribution functions, so the
moderated probability is a sum of :math:`\Phi(m / \sqrt{1 / \lambda^2 + s^2})` over its parts. Each tail is
:math:`\Phi(-z) = e^{-z^2/2} q(t)` with :math:`t = 1 / (1 + z / 2)` and a polynomial q. A temperature changes log odds, which are
taken to base two, one bit after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

from skarce._typing import Floats
from skarce.export.c.fixed_numbers import EXPONENT_BITS, UNIT_BITS, Format, exponential, half_power, integer_root, rounded, whole
from skarce.likelihoods.bernoulli import MIXTURE

MOST_LATENT_BITS = 28  # of mean and std, so that squares do not overflow
DISTANCE_BITS = 20
FARTHEST_DISTANCE = 8.0  # a normal tail beyond is zero
TAIL_DEGREE = 9
LOG_LIMIT = 60  # binary digits beyond which odds are certain
ONE = 1 << UNIT_BITS


def tail_terms() -> list[int]:
    """Return the coefficients of q."""

    def scaled_tail(t: Floats) -> Floats:
        return np.asarray(0.5 * erfcx(2.0 * (1.0 / t - 1.0) / np.sqrt(2.0)))

    nearest = 1.0 / (1.0 + 0.5 * FARTHEST_DISTANCE)
    fit = Chebyshev.interpolate(scaled_tail, TAIL_DEGREE, domain=[nearest, 1.0]).convert(kind=Polynomial)
    return [int(term) for term in whole(fit.coef, UNIT_BITS)]


def mixture_terms(latent_bits: int) -> list[tuple[int, int]]:
    """Return the share and the squared inverse scale of each part of the logistic function."""
    shares, scales = MIXTURE.T
    return list(zip(whole(shares, UNIT_BITS).tolist(), whole(scales**-2.0, 2 * latent_bits).tolist(), strict=True))


def moderated(mean: Any, std: Any, latent_bits: int, kind: Format) -> Any:
    """Return the probability of a positive latent function."""
    total = np.zeros(mean.shape, dtype=np.int64)
    for share, square in mixture_terms(latent_bits):
        distance = (np.abs(mean) << DISTANCE_BITS) // integer_root(std * std + square)
        tail = normal_tail(np.minimum(distance, int(FARTHEST_DISTANCE) << DISTANCE_BITS), kind)
        total += share * np.where(mean < 0, tail, ONE - tail)
    return np.clip(rounded(total, UNIT_BITS), 1, ONE - 1)


def normal_tail(z: Any, kind: Format) -> Any:
    """Return the normal distribution function at -z."""
    t = (1 << (UNIT_BITS + DISTANCE_BITS + 1)) // ((1 << (DISTANCE_BITS + 1)) + z)
    terms = tail_terms()
    value = np.full(z.shape, terms[-1], dtype=np.int64)
    for term in terms[-2::-1]:
        value = term + rounded(value * t, UNIT_BITS)
    return rounded(value * exponential(rounded(z * z, 2 * DISTANCE_BITS + 1 - EXPONENT_BITS), kind), UNIT_BITS)


def binary_logarithm(values: Any) -> Any:
    """Return log2 of probabilities, which are positive."""
    found = np.zeros(values.shape, dtype=np.int64)
    x = values.copy()
    for _ in range(UNIT_BITS):
        is_small = x < ONE
        x, found = np.where(is_small, 2 * x, x), found - (is_small << EXPONENT_BITS)
    for place in range(EXPONENT_BITS - 1, -1, -1):
        x = (x * x) >> UNIT_BITS
        is_large = x >= 2 * ONE
        x, found = np.where(is_large, x >> 1, x), found + (is_large << place)
    return found


def cooled(probability: Any, center: int, inverse_temperature: int, kind: Format) -> Any:
    """Divide the distance of log odds to their center by a temperature."""
    odds = binary_logarithm(probability) - binary_logarithm(ONE - probability)
    return logistic(center + rounded((odds - center) * inverse_temperature, EXPONENT_BITS), kind)


def logistic(odds: Any, kind: Format) -> Any:
    """Return the probability of log odds to base two."""
    smaller = half_power(np.minimum(np.abs(odds), LOG_LIMIT << EXPONENT_BITS), kind)
    return np.clip((np.where(odds < 0, smaller, ONE) << UNIT_BITS) // (ONE + smaller), 1, ONE - 1)


def of_all(probabilities: list[Any]) -> Any:
    """Return the probability of each class from one head, or from one head each."""
    if len(probabilities) == 1:
        return np.stack([ONE - probabilities[0], probabilities[0]], axis=1)
    found = np.stack(probabilities, axis=1)
    return (found << UNIT_BITS) // found.sum(axis=1, keepdims=True)
