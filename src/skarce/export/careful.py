r"""Kernels and weights in pairs of floats, for models whose weights nearly cancel.

Wide kernels that overlap have weights of both signs that are large beside the target. Each kernel is off by a few units in its last
place, and such weights multiply that. So each number here is a pair, high + low, whose low part is what rounding took from the high
part. Sums and products of two floats are such pairs exactly (Knuth; Dekker). That the inputs of kernels are rounded does no harm:
all kernels then see the same row, which is a little different.

The functions return what the exported code computes, operation by operation, in the precision of the rows.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export.heads import Head
from skarce.export.stages import Chain, Kernels

FARTHEST = 16.0  # a difference in one input beyond which an RBF kernel is zero in float
LOWEST = -104.0  # exponents below vanish in float
HIGH_DIGITS = 12  # bits of log 2 that a small whole number can be multiplied with, without rounding
SHIFT = 4096.0  # by half of the digits of a float
TAIL_TERMS = tuple(1.0 / factorial(n) for n in range(3, 9))  # of (exp(r) - 1 - r - r^2 / 2) / r^3


def has_pairs(stages: Chain) -> bool:
    """Return whether the functions of a model can be computed in pairs: they are RBF kernels."""
    return bool(stages) and isinstance(stages[-1], Kernels) and stages[-1].kind == "rbf" and stages[-1].n_outputs > 0


def split(values: Any) -> tuple[Floats, Floats]:
    """Return numbers as pairs of floats."""
    high = np.asarray(values, dtype=np.float64).astype(np.float32)
    return high, (values - high.astype(np.float64)).astype(np.float32)


def sum_of(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as a pair."""
    high = a + b
    other = high - a
    return high, (a - (high - other)) + (b - other)


def product_of(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a * b as a pair, from products of halves."""
    (high_a, low_a), (high_b, low_b) = _halves(a), _halves(b)
    return sum_of(high_a * high_b, (high_a * low_b + low_a * high_b) + low_a * low_b)


def _halves(a: Floats) -> tuple[Floats, Floats]:
    longer = np.float32(SHIFT) * a + a
    high = longer - (longer - a)
    return high, a - high


def kernels(stage: Kernels, prepared: Floats) -> tuple[Floats, Floats]:
    """Return RBF kernels at rows as pairs, shapes (n_rows, n_centers)."""
    total = low = np.zeros((len(prepared), stage.n_outputs), dtype=np.float32)
    centers, rests = split(stage.centers)
    for u, center, rest in zip(prepared.T, centers.T, rests.T, strict=True):
        d, lost = sum_of(u[:, None], -center)
        is_far = np.abs(d) > FARTHEST
        d, lost = np.where(is_far, np.float32(FARTHEST), d), np.where(is_far, np.float32(0), lost - rest)
        square, more = product_of(d, d)
        total, own = sum_of(total, square)
        low = low + (own + (more + (d + d) * lost))
    return exponential(-total, -low)


def exponential(x: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Return exp(x + low) for x <= 0 as a pair: 2^k exp(r), in which 1 + r + r^2 / 2 is a pair, and the rest a float."""
    kind = np.float32
    is_zero = x < kind(LOWEST)
    x, low = np.where(is_zero, kind(0), x), np.where(is_zero, kind(0), low)
    log2_high, log2_low = parts_of_log2()
    k = np.trunc(x * kind(np.log2(np.e)) - kind(0.5))
    r, rest = sum_of(x - k * kind(log2_high), low - k * kind(log2_low))
    square, lost = product_of(r, r)
    high, own = sum_of(np.ones_like(r), r)
    high, more = sum_of(high, kind(0.5) * square)
    tail = np.full_like(r, kind(TAIL_TERMS[-1]))
    for term in TAIL_TERMS[-2::-1]:
        tail = kind(term) + r * tail
    small = (own + more) + (kind(0.5) * lost + (rest + r * rest) + square * r * tail)
    power = np.where(is_zero, kind(0), np.exp2(k))
    return high * power, small * power


def parts_of_log2() -> tuple[float, float]:
    """Return the leading bits of log 2, and the rest."""
    high = float(np.floor(np.ldexp(np.log(2.0), HIGH_DIGITS)) / 2**HIGH_DIGITS)
    return high, float(np.log(2.0)) - high


def mean(head: Head, high: Floats, low: Floats) -> Floats:
    """Return the mean of a head, whose functions are pairs."""
    return _mean(head, *_steps(head, high, low))


def mean_and_variance(head: Head, high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of a head, whose functions are pairs."""
    steps, rests = _steps(head, high, low)
    variance = np.full(len(high), np.float32(head.base))
    for number, (row, offset) in enumerate(zip(head.root.astype(np.float32), head.offset.astype(np.float32), strict=True)):
        part, part_left = np.full(len(high), offset), np.zeros(len(high), dtype=np.float32)
        for place in range(number + 1):
            part, part_left = _added(part, part_left, row[place], steps[:, place], row[place] * rests[:, place])
        part = part + part_left
        variance = variance + part * part
    return _mean(head, steps, rests), variance


def _steps(head: Head, high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Return the functions less their centers, as pairs."""
    centers, rests = split(head.center)
    steps, lost = sum_of(high[:, head.places], -centers)
    return sum_of(steps, lost + (low[:, head.places] - rests))


def _mean(head: Head, steps: Floats, rests: Floats) -> Floats:
    weights, weight_rests = split(head.weights)
    level, level_rest = split(head.level)
    total, left = np.full(len(steps), level), np.full(len(steps), level_rest)
    for weight, weight_rest, step, rest in zip(weights, weight_rests, steps.T, rests.T, strict=True):
        total, left = _added(total, left, weight, step, weight_rest * step + weight * rest)
    return total + left


def _added(total: Floats, left: Floats, factor: Any, step: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """Return the pair total + left, plus factor * step + rest."""
    product, more = product_of(factor, step)
    total, own = sum_of(total, product)
    return total, left + (own + (more + rest))
