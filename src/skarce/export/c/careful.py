"""Kernels and weights in pairs of floats, in C. `skarce.export.careful` does the same in Python."""

from __future__ import annotations

import numpy as np

from skarce.export.c.arithmetic import EXP_PAIR_MULTIPLICATIONS, PAIR_MULTIPLICATIONS
from skarce.export.c.stages import Functions
from skarce.export.careful import FARTHEST, split
from skarce.export.heads import Head
from skarce.export.stages import Kernels


def add_kernels(functions: Functions, stage: Kernels) -> str:
    """Add the function from columns to kernels, the high parts before the low parts, and return its name."""
    prefix, n, n_inputs = functions.prefix, stage.n_outputs, stage.n_inputs
    functions.arithmetic.pairs()
    functions.n_multiplications += n * (n_inputs * (PAIR_MULTIPLICATIONS + 1) + EXP_PAIR_MULTIPLICATIONS)
    functions.n_buffered += n
    centers, rests = (functions.tables.reals("centers", part) for part in split(stage.centers))
    cell, rest = (functions.read(table, f"i * {n_inputs} + j") for table in (centers, rests))
    zero, far = functions.number(0.0), functions.number(FARTHEST)
    body = [
        f"{prefix}_real total, low, d, lost, square, more;",
        "int i, j;",
        f"for (i = 0; i < {n}; ++i) {{",
        f"    total = low = {zero};",
        f"    for (j = 0; j < {n_inputs}; ++j) {{",
        f"        lost = {prefix}_sum(u[j], -{cell}, &d) - {rest};",
        f"        if (d > {far} || d < -{far}) {{ d = {far}; lost = {zero}; }}",
        f"        more = {prefix}_product(d, d, &square);",
        "        more += (d + d) * lost;",
        f"        low += {prefix}_sum(total, square, &total) + more;",
        "    }",
        f"    v[{n} + i] = {prefix}_exp_pair(-total, -low, &v[i]);",
        "}",
    ]
    return functions.add(f"{n} {stage.kind} kernels of {n_inputs} columns as pairs: high parts, then low parts.", body)


def add_head(functions: Functions, head: Head, number: int, n_functions: int, *, has_variance: bool) -> str:
    """Add the function from pairs to mean and variance of a target, and return its name."""
    prefix, name, n = functions.prefix, f"{functions.prefix}_target{number}", len(head.weights)
    real, zero = f"{prefix}_real", functions.number(0.0)
    weights, weight_rests = (functions.tables.reals("weights", part) for part in split(head.weights))
    level, level_rest = (functions.number(float(part)) for part in split(head.level))
    functions.n_buffered += 2 * max(n, 1)
    functions.n_multiplications += n * (PAIR_MULTIPLICATIONS + 2)
    functions.lines += [
        "",
        f"/* Mean{' and variance' if has_variance else ''} from {n} functions, which are pairs. */",
        f"static inline void {name}(const {real} u[], {real} *mean{f', {real} *variance' if has_variance else ''})",
        "{",
        f"    {real} steps[{max(n, 1)}], rests[{max(n, 1)}], total = {level}, left = {level_rest}, product, more;",
        "    int i;",
        f"    for (i = 0; i < {n}; ++i) {{",
        *(f"        {line}" for line in _step(functions, head, n_functions)),
        f"        more = {prefix}_product({functions.read(weights, 'i')}, steps[i], &product);",
        f"        more += {functions.read(weight_rests, 'i')} * steps[i] + {functions.read(weights, 'i')} * rests[i];",
        f"        left += {prefix}_sum(total, product, &total) + more;",
        "    }",
        "    *mean = total + left;",
        *(_variance(functions, head, zero) if has_variance else []),
        *([f"    steps[0] = rests[0] = {zero};", "    (void)u, (void)steps, (void)rests, (void)product, (void)more;"] * (n == 0)),
        "}",
    ]
    return name


def _step(functions: Functions, head: Head, n_functions: int) -> list[str]:
    """Return the lines that take the center from a function."""
    is_whole = (head.places == np.arange(len(head.places))).all()
    place = "i" if is_whole else functions.read(functions.tables.places("places", head.places), "i")
    center, rest = functions.number(0.0), functions.number(0.0)
    if head.center.any():
        center, rest = (functions.read(functions.tables.reals("center", part), "i") for part in split(head.center))
    return [
        f"rests[i] = {functions.prefix}_sum(u[{place}], -{center}, &steps[i]);",
        f"rests[i] += u[{n_functions} + {place}] - {rest};",
        f"rests[i] = {functions.prefix}_sum(steps[i], rests[i], &steps[i]);",
    ]


def _variance(functions: Functions, head: Head, zero: str) -> list[str]:
    prefix, n = functions.prefix, len(head.weights)
    root = functions.read(functions.tables.reals("root", head.triangle), "i * (i + 1) / 2 + j")
    offset = functions.read(functions.tables.reals("offset", head.offset), "i") if head.offset.any() else zero
    functions.n_multiplications += n * (n + 1) // 2 * (PAIR_MULTIPLICATIONS + 1) + n
    return [
        "    if (variance != 0) {",
        f"        {prefix}_real sum = {functions.number(head.base)};",
        "        int j;",
        f"        for (i = 0; i < {n}; ++i) {{",
        f"            total = {offset};",
        f"            left = {zero};",
        "            for (j = 0; j <= i; ++j) {",
        f"                more = {prefix}_product({root}, steps[j], &product);",
        f"                more += {root} * rests[j];",
        f"                left += {prefix}_sum(total, product, &total) + more;",
        "            }",
        "            total += left;",
        "            sum += total * total;",
        "        }",
        "        *variance = sum;",
        "    }",
    ]
