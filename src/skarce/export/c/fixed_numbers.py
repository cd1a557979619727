"""Whole numbers that stand for numbers, and what is computed with them exactly as in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

UNIT_BITS = 30  # of values that are at most 1
EXPONENT_BITS = 26


@dataclass(frozen=True)
class Format:
    """A fixed-point format.

    Attributes
    ----------
    name : ``"q15"`` or ``"q31"``
    table_bits : of numbers in tables, without the sign
    column_bits : of the largest column, so that sums of squares do not overflow
    dropped : bits that products with weights lose before they are added up
    squares_dropped : bits that squared differences lose before they are added up
    degree : of the polynomial for powers of two
    """

    name: str
    table_bits: int
    column_bits: int
    dropped: int
    squares_dropped: int
    degree: int

    @property
    def c_type(self) -> str:
        """The type of tables."""
        return "int16_t" if self.table_bits == 15 else "int32_t"


FORMATS = {"q15": Format("q15", 15, 24, 0, 0, 5), "q31": Format("q31", 31, 30, 16, 8, 8)}


def rounded(values: Any, bits: int) -> Any:
    """Divide whole numbers by a power of two and round to the nearest, halves away from zero, as the exported code does."""
    half = (1 << bits) >> 1
    return np.where(values >= 0, (values + half) >> bits, -((-values + half) >> bits))


def whole(values: Any, bits: int) -> Any:
    """Return numbers times a power of two as whole numbers of at most 62 bits."""
    scaled = np.ldexp(np.asarray(values, dtype=np.float64), bits)
    return np.rint(np.clip(scaled, -(2.0**62), 2.0**62)).astype(np.int64)


def mantissas(values: Any, n_bits: int) -> tuple[Any, int]:
    """Return whole numbers of at most `n_bits`, and the bits that they share."""
    bits = n_bits - bits_above(float(np.max(np.abs(values), initial=0.0)))
    return np.clip(whole(values, bits), 1 - 2**n_bits, 2**n_bits - 1), bits


def bits_above(largest: float) -> int:
    """Return the smallest e with a number below 2^e."""
    return int(np.frexp(largest)[1]) if largest > 0.0 else 0


def integer_root(values: Any) -> Any:
    """Return the largest whole number whose square is not above each value."""
    root = np.sqrt(values.astype(np.float64)).astype(np.int64)
    root = np.where(root * root > values, root - 1, root)
    return np.where((root + 1) * (root + 1) <= values, root + 1, root)


def exponential(t: Any, kind: Format) -> Any:
    """Return exp(-t), t with `EXPONENT_BITS`."""
    return half_power(rounded(t * LOG2E, UNIT_BITS), kind)


def half_power(w: Any, kind: Format) -> Any:
    """Return 2^-w, w with `EXPONENT_BITS`."""
    fraction = w & ((1 << EXPONENT_BITS) - 1)
    terms = power_terms(kind)
    value = np.full(w.shape, terms[-1], dtype=np.int64)
    for term in terms[-2::-1]:
        value = term + rounded(value * fraction, EXPONENT_BITS)
    return value >> (w >> EXPONENT_BITS)


LOG2E = int(whole(np.log2(np.e), UNIT_BITS))


def power_terms(kind: Format) -> list[int]:
    """Return the coefficients of a polynomial for 2^-f on [0, 1)."""
    fit = Chebyshev.interpolate(lambda f: np.exp2(-f), kind.degree, domain=[0.0, 1.0]).convert(kind=Polynomial)
    return [int(term) for term in whole(fit.coef, UNIT_BITS)]
