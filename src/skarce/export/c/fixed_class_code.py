"""Probabilities of classes in whole numbers, as C. `skarce.export.c.fixed_classes` does the same in Python."""

from __future__ import annotations

from skarce.export.c.fixed_classes import DISTANCE_BITS, FARTHEST_DISTANCE, LOG_LIMIT, ONE, mixture_terms, tail_terms
from skarce.export.c.fixed_numbers import EXPONENT_BITS, LOG2E, UNIT_BITS, power_terms
from skarce.export.c.fixed_point import FixedPoint

TAIL_MULTIPLICATIONS, LOG_MULTIPLICATIONS = 14, 26


def class_code(model: FixedPoint, name: str) -> tuple[list[str], int]:
    """Return the functions that make probabilities of mean and std, and how many multiplications all heads take there."""
    n_heads, degree = len(model.heads), model.kind.degree
    lines = _half_power(model, name)
    if not model.described.is_moderated:
        return [*lines, *_logistic(name)], n_heads * (degree + 1)
    n_parts = len(mixture_terms(model.output_bits))
    lines += [*_tail(name), *_moderated(model, name)]
    n_multiplications = n_heads * n_parts * (TAIL_MULTIPLICATIONS + degree)
    if model.described.temperature != 1.0:
        lines += [*_binary_logarithm(name), *_logistic(name)]
        n_multiplications += n_heads * (2 * LOG_MULTIPLICATIONS + degree + 1)
    return lines, n_multiplications


def probability_lines(model: FixedPoint, name: str, number: int) -> list[str]:
    """Return the lines from mean and std of a head to its probability p."""
    if not model.described.is_moderated:
        return [f"    p = {name}_logistic({name}_round((int64_t)mean * {LOG2E}, {model.odds_drop}));"]
    lines = [f"    p = {name}_moderated(mean, std);"]
    if model.described.temperature == 1.0:
        return lines
    center = model.odds_centers[number]
    cooled = f"{name}_round((p - {center}) * {model.inverse_temperature}, {EXPONENT_BITS})"
    return [
        *lines,
        f"    p = {name}_log2(p) - {name}_log2({ONE} - p);",
        f"    p = {name}_logistic({center} + {cooled});",
    ]


def _function(comment: str, head: str, body: list[str]) -> list[str]:
    return ["", f"/* {comment} */", f"static inline int64_t {head}", "{", *(f"    {line}" for line in body), "}"]


def _half_power(model: FixedPoint, name: str) -> list[str]:
    terms = power_terms(model.kind)
    steps = [f"value = {term} + {name}_round(value * fraction, {EXPONENT_BITS});" for term in terms[-2::-1]]
    body = [f"const int64_t fraction = w & {(1 << EXPONENT_BITS) - 1};", f"int64_t value = {terms[-1]};", *steps]
    return _function("2^-w.", f"{name}_half_power(int64_t w)", [*body, f"return value >> (w >> {EXPONENT_BITS});"])


def _logistic(name: str) -> list[str]:
    limit = LOG_LIMIT << EXPONENT_BITS
    body = [
        "const int64_t size = odds < 0 ? -odds : odds;",
        f"const int64_t smaller = {name}_half_power(size < {limit} ? size : {limit});",
        f"const int64_t p = (odds < 0 ? smaller : {ONE}) * {ONE} / ({ONE} + smaller);",
        f"return p < 1 ? 1 : p > {ONE - 1} ? {ONE - 1} : p;",
    ]
    return _function("The probability of log odds to base two.", f"{name}_logistic(int64_t odds)", body)


def _tail(name: str) -> list[str]:
    terms = tail_terms()
    drop = 2 * DISTANCE_BITS + 1 - EXPONENT_BITS
    body = [
        f"const int64_t t = {1 << (UNIT_BITS + DISTANCE_BITS + 1)} / ({1 << (DISTANCE_BITS + 1)} + z);",
        f"const int64_t w = {name}_round({name}_round(z * z, {drop}) * {LOG2E}, {UNIT_BITS});",
        f"int64_t value = {terms[-1]};",
        *(f"value = {term} + {name}_round(value * t, {UNIT_BITS});" for term in terms[-2::-1]),
        f"return {name}_round(value * {name}_half_power(w), {UNIT_BITS});",
    ]
    return _function("The normal distribution function at -z.", f"{name}_tail(int64_t z)", body)


def _moderated(model: FixedPoint, name: str) -> list[str]:
    farthest = int(FARTHEST_DISTANCE) << DISTANCE_BITS
    body = [
        f"const int64_t scaled = (mean < 0 ? -(int64_t)mean : mean) * {1 << DISTANCE_BITS}, square = (int64_t)std * std;",
        "int64_t total = 0, z;",
    ]
    for share, inverse in mixture_terms(model.output_bits):
        body += [
            f"z = scaled / {name}_root(square + {inverse});",
            f"z = {name}_tail(z < {farthest} ? z : {farthest});",
            f"total += {share} * (mean < 0 ? z : {ONE} - z);",
        ]
    body += [f"total = {name}_round(total, {UNIT_BITS});", f"return total < 1 ? 1 : total > {ONE - 1} ? {ONE - 1} : total;"]
    head = f"{name}_moderated(int32_t mean, int32_t std)"
    return _function("The probability that a latent function stands for, averaged over its uncertainty.", head, body)


def _binary_logarithm(name: str) -> list[str]:
    body = [
        "int64_t found = 0, bit;",
        f"for (; x < {ONE}; x *= 2) found -= {1 << EXPONENT_BITS};",
        f"for (bit = {1 << (EXPONENT_BITS - 1)}; bit > 0; bit /= 2) {{",
        f"    x = x * x / {ONE};",
        f"    if (x >= {2 * ONE}) {{",
        "        x /= 2;",
        "        found += bit;",
        "    }",
        "}",
        "return found;",
    ]
    return _function("log2 of a probability.", f"{name}_log2(int64_t x)", body)
