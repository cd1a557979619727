"""Elementary functions in portable C: no library, no tricks with bits, to the precision of the type."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from math import factorial
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.special import erfcx

from skarce.export import careful
from skarce.export.c.tables import Real, Tables
from skarce.likelihoods.bernoulli import MIXTURE

HIGH_DIGITS = {"float": 12, "double": 32}  # bits of log 2 that a small whole number can be multiplied with, without rounding
EXP_DEGREE = {"float": 6, "double": 12}  # of (exp(r) - 1) / r: what is left out is below rounding
LOG_TERMS = {"float": 5, "double": 11}
SQRT_STEPS = {"float": 3, "double": 4}
FURTHEST = {"float": 1e15, "double": 1e150}  # standard deviations, whose squares are still numbers
ERFCX_MIDDLE = 3.75
EXP_MULTIPLICATIONS = {"float": 16, "double": 24}
PAIR_MULTIPLICATIONS, EXP_PAIR_MULTIPLICATIONS = 6, 32
SQRT_MULTIPLICATIONS = {"float": 9, "double": 12}

EXP = """
/* exp(x) = 2^k exp(r) with |r| <= log(2) / 2. */
static inline NAME_real NAME_exp(NAME_real x)
{
    NAME_real r, p, power;
    int k, left;
    if (x != x) return x;
    if (x < LOWEST) return ZERO;
    if (x > HIGHEST) { p = LARGEST; return p * p; }
    k = (int)(x * LOG2E + (x < ZERO ? -HALF : HALF));
    r = (x - (NAME_real)k * LOG2_HIGH) - (NAME_real)k * LOG2_LOW;
    p = ONE + r * (POLYNOMIAL);
    if (k > 0) { p *= TWO; k -= 1; }
    power = k < 0 ? HALF : TWO;
    for (left = k < 0 ? -k : k; left > 0; left /= 2) {
        if (left % 2 != 0) p *= power;
        power *= power;
    }
    return p;
}
"""
SQRT = """
/* The square root: Newton's steps from a straight line, on [1, 4). */
static inline NAME_real NAME_sqrt(NAME_real x)
{
    NAME_real y, size = ONE;
    int step;
    if (x != x || x > LARGEST) return x;
    if (!(x > ZERO)) return ZERO;
    while (x >= 65536.0SUFFIX) { x *= 1.52587890625e-05SUFFIX; size *= 256.0SUFFIX; }
    while (x < 1.52587890625e-05SUFFIX) { x *= 65536.0SUFFIX; size *= 0.00390625SUFFIX; }
    while (x >= 4.0SUFFIX) { x *= 0.25SUFFIX; size *= TWO; }
    while (x < ONE) { x *= 4.0SUFFIX; size *= HALF; }
    y = 0.68SUFFIX + 0.34SUFFIX * x;
    for (step = 0; step < STEPS; ++step) y = HALF * (y + x / y);
    return size * y;
}
"""
LOG = """
/* log(x) = k log(2) + 2 atanh((m - 1) / (m + 1)) with m near 1. */
static inline NAME_real NAME_log(NAME_real x)
{
    NAME_real t, u, k = ZERO;
    if (x != x) return x;
    if (!(x > ZERO)) return -LARGEST;
    while (x >= 65536.0SUFFIX) { x *= 1.52587890625e-05SUFFIX; k += 16.0SUFFIX; }
    while (x < 1.52587890625e-05SUFFIX) { x *= 65536.0SUFFIX; k -= 16.0SUFFIX; }
    while (x > SQRT2) { x *= HALF; k += ONE; }
    while (x < SQRT_HALF) { x *= TWO; k -= ONE; }
    t = (x - ONE) / (x + ONE);
    u = t * t;
    return k * LOG2 + TWO * t * (SERIES);
}
"""
TANH = """
static inline NAME_real NAME_tanh(NAME_real x)
{
    const NAME_real t = EXP_CALL(-TWO * (x < ZERO ? -x : x));
    const NAME_real value = (ONE - t) / (ONE + t);
    return x < ZERO ? -value : value;
}
"""
ERFCX = """
/* exp(x^2) erfc(x) for x >= 0: a Chebyshev series of (1 + 2 x) times it, in (x - c) / (x + c). */
static inline NAME_real NAME_erfcx(NAME_real x)
{
    const NAME_real t = TWO * ((x - MIDDLE) / (x + MIDDLE));
    NAME_real next = ZERO, now = ZERO, old;
    int i;
    for (i = N_TERMS - 1; i > 0; --i) {
        old = now;
        now = t * now - next + READ(TERMS, i);
        next = old;
    }
    return (HALF * t * now - next + READ(TERMS, 0)) / (ONE + TWO * x);
}
"""
MODERATED = """
/* The log odds of E g(f) for f ~ N(mean, variance): the logistic function g as a mixture of normal distribution functions. */
static inline NAME_real NAME_log_odds(NAME_real mean, NAME_real variance)
{
    NAME_real nearest = LARGEST, near_tail = ZERO, size, tail = ZERO;
    int i;
    for (i = 0; i < N_PARTS; ++i) {
        size = (mean < ZERO ? -mean : mean) / SQRT_CALL(READ(WIDTHS, i) + variance);
        if (size > FURTHEST) size = FURTHEST;
        if (size < nearest) nearest = size;
    }
    for (i = 0; i < N_PARTS; ++i) {
        size = (mean < ZERO ? -mean : mean) / SQRT_CALL(READ(WIDTHS, i) + variance);
        if (size > FURTHEST) size = FURTHEST;
        near_tail = HALF * READ(SHARES, i) * NAME_erfcx(size * SQRT_HALF) * EXP_CALL(HALF * (nearest - size) * (nearest + size));
        tail += near_tail;
    }
    size = NAME_log(ONE - tail * EXP_CALL(-HALF * nearest * nearest)) + HALF * nearest * nearest - NAME_log(tail);
    return mean < ZERO ? -size : size;
}
"""

PAIRS = """
/* a + b is *high and what is returned. */
static inline NAME_real NAME_sum(NAME_real a, NAME_real b, NAME_real *high)
{
    const NAME_real total = a + b;
    const NAME_real other = total - a;
    *high = total;
    return (a - (total - other)) + (b - other);
}

/* a b is *high and what is returned. Both factors are split into halves, whose products are exact, also if a compiler fuses them
   with the sums that follow. */
static inline NAME_real NAME_product(NAME_real a, NAME_real b, NAME_real *high)
{
    const NAME_real longer_a = SHIFT * a + a;
    const NAME_real longer_b = SHIFT * b + b;
    const NAME_real high_a = longer_a - (longer_a - a);
    const NAME_real high_b = longer_b - (longer_b - b);
    const NAME_real low_a = a - high_a;
    const NAME_real low_b = b - high_b;
    return NAME_sum(high_a * high_b, (high_a * low_b + low_a * high_b) + low_a * low_b, high);
}

/* exp(x + low) is *high and what is returned, for x <= 0: 2^k exp(r) with a small r. */
static inline NAME_real NAME_exp_pair(NAME_real x, NAME_real low, NAME_real *high)
{
    NAME_real r, rest, square, lost, own, more, power = HALF, scale = ONE;
    int k, left;
    *high = x;
    if (x != x) return x;
    *high = ZERO;
    if (x < LOWEST) return ZERO;
    k = (int)(x * LOG2E - HALF);
    rest = NAME_sum(x - (NAME_real)k * LOG2_HIGH, low - (NAME_real)k * LOG2_LOW, &r);
    lost = NAME_product(r, r, &square);
    own = NAME_sum(ONE, r, high);
    more = NAME_sum(*high, HALF * square, high);
    lost = (own + more) + (HALF * lost + (rest + r * rest) + square * r * (POLYNOMIAL));
    for (left = -k; left > 0; left /= 2) {
        if (left % 2 != 0) scale *= power;
        power *= power;
    }
    *high *= scale;
    return lost * scale;
}
"""


WORDS = re.compile(r"\bNAME_|SUFFIX|\b[A-Z][A-Z0-9_]*\b")


class Arithmetic:
    """Elementary functions of one type of numbers. Those that a model needs are written, in their order."""

    def __init__(self, tables: Tables) -> None:
        self._tables, self._needed = tables, set[str]()

    @property
    def real(self) -> Real:
        """The type of numbers."""
        return self._tables.real

    def exp(self) -> str:
        """Note that the exponential function is needed, and return its name."""
        return self._need("exp")

    def sqrt(self) -> str:
        """Note that the square root is needed, and return its name."""
        return self._need("sqrt")

    def tanh(self) -> str:
        """Note that the hyperbolic tangent is needed, and return its name."""
        self.exp()
        self._needed.add("tanh")
        return f"{self._tables.prefix}_tanh"

    def log_odds(self) -> str:
        """Note that moderated log odds are needed, and return the name of the function."""
        self.exp()
        self.sqrt()
        self._needed |= {"log", "erfcx", "log_odds"}
        return f"{self._tables.prefix}_log_odds"

    def log(self) -> str:
        """Note that the logarithm is needed, and return its name."""
        self._needed.add("log")
        return f"{self._tables.prefix}_log"

    def pairs(self) -> None:
        """Note that sums, products and the exponential function are needed in pairs."""
        self._needed.add("pairs")

    def _need(self, name: str) -> str:
        self._needed.add(name)
        return f"{self._tables.prefix.upper()}_{name.upper()}"

    def lines(self) -> list[str]:
        """Return the definitions of the functions that are needed."""
        written = [self._filled(text, more) for name, (text, more) in self._texts().items() if name in self._needed]
        return "\n".join(written).splitlines()

    def _texts(self) -> dict[str, tuple[str, dict[str, Any]]]:
        real, prefix = self.real, self._tables.prefix.upper()
        override = "\n#ifndef {0}_{1}\n#define {0}_{1}(x) NAME_{2}(x)\n#endif\n"
        exp = EXP.replace("POLYNOMIAL", _horner("r", _exp_terms(real), real)) + override.format(prefix, "EXP", "exp")
        sqrt = SQRT.replace("STEPS", str(SQRT_STEPS[real.c_type])) + override.format(prefix, "SQRT", "sqrt")
        series = [1.0 / (2 * n + 1) for n in range(LOG_TERMS[real.c_type] + 1)]
        found: dict[str, tuple[str, dict[str, Any]]] = {
            "exp": (exp, {}),
            "sqrt": (sqrt, {}),
            "tanh": (TANH, {}),
            "log": (LOG.replace("SERIES", _horner("u", series, real)), {}),
        }
        if "pairs" in self._needed:
            found["pairs"] = (PAIRS.replace("POLYNOMIAL", _horner("r", list(careful.TAIL_TERMS), real)), self._pairs())
        if "log_odds" in self._needed:
            found |= {"erfcx": (ERFCX, self._erfcx()), "log_odds": (MODERATED, self._mixture())}
        return found

    def _pairs(self) -> dict[str, Any]:
        high, low = careful.parts_of_log2()
        return {"SHIFT": careful.SHIFT, "LOWEST": careful.LOWEST, "LOG2_HIGH": high, "LOG2_LOW": low}

    def _erfcx(self) -> dict[str, Any]:
        terms = _erfcx_terms(self.real)
        return {"N_TERMS": str(len(terms)), "TERMS": self._tables.reals("erfcx", terms), "MIDDLE": ERFCX_MIDDLE}

    def _mixture(self) -> dict[str, Any]:
        shares, scales = MIXTURE.T
        widths = self._tables.reals("mixture_widths", 1.0 / scales**2)
        return {"N_PARTS": str(len(shares)), "WIDTHS": widths, "SHARES": self._tables.reals("mixture_shares", shares)}

    def _filled(self, text: str, more: dict[str, Any]) -> str:
        """Write numbers and names in the place of words in capitals."""
        real, prefix = self.real, self._tables.prefix
        info = np.finfo(real.dtype)
        high = _leading_bits(np.log(2.0), HIGH_DIGITS[real.c_type])
        words = {
            "NAME_": f"{prefix}_",
            "EXP_CALL": f"{prefix.upper()}_EXP",
            "SQRT_CALL": f"{prefix.upper()}_SQRT",
            "READ": f"{prefix.upper()}_READ",
            "SUFFIX": real.suffix,
            "FURTHEST": FURTHEST[real.c_type],
            "LOWEST": np.log(float(info.smallest_subnormal)) - 0.7,
            "HIGHEST": np.log(real.largest),
            "LARGEST": real.largest,
            "LOG2_HIGH": high,
            "LOG2_LOW": _rest_of_log2(high),
            "LOG2E": np.log2(np.e),
            "LOG2": np.log(2.0),
            "SQRT_HALF": np.sqrt(0.5),
            "SQRT2": np.sqrt(2.0),
            "ZERO": 0.0,
            "ONE": 1.0,
            "TWO": 2.0,
            "HALF": 0.5,
            **more,
        }
        values = {word: value if isinstance(value, str) else real.literal(value) for word, value in words.items()}
        return WORDS.sub(lambda found: values.get(found[0], found[0]), text)


def _exp_terms(real: Real) -> list[float]:
    """Return the series of (exp(r) - 1) / r."""
    return [1.0 / factorial(n + 1) for n in range(EXP_DEGREE[real.c_type] + 1)]


def _erfcx_terms(real: Real) -> Any:
    """Return the Chebyshev series of (1 + 2 x) erfcx(x) in (x - c) / (x + c), cut where terms are below rounding."""

    def function(t: Any) -> Any:
        x = ERFCX_MIDDLE * (1.0 + t) / np.maximum(1.0 - t, 1e-300)
        return (1.0 + 2.0 * x) * erfcx(x)

    terms = Chebyshev.interpolate(function, 40).coef
    precise = np.abs(terms) > 0.2 * np.finfo(real.dtype).eps
    return terms[: int(np.flatnonzero(precise)[-1]) + 1]


def _horner(variable: str, terms: list[float], real: Real) -> str:
    text = real.literal(terms[-1])
    for term in reversed(terms[:-1]):
        text = f"{real.literal(term)} + {variable} * ({text})"
    return text


def _leading_bits(value: float, n_bits: int) -> float:
    mantissa, exponent = np.frexp(value)
    return float(np.ldexp(np.floor(np.ldexp(mantissa, n_bits)), exponent - n_bits))


def _rest_of_log2(high: float) -> float:
    """Return log 2 less its first bits, to more digits than a double has."""
    with localcontext() as context:
        context.prec = 60
        return float(Decimal(2).ln() - Decimal(high))
