"""Weights and variances as functions in C."""

from __future__ import annotations

import numpy as np

from skarce.export.c.arithmetic import EXP_MULTIPLICATIONS, SQRT_MULTIPLICATIONS
from skarce.export.c.stages import Functions
from skarce.export.heads import Head
from skarce.export.query_kernels import QueryKernels
from skarce.export.stages import PRODUCT_KINDS, Kernels

PART_MULTIPLICATIONS, LOG_MULTIPLICATIONS = 40, 20


def add_head(functions: Functions, head: Head, number: int, *, has_variance: bool) -> str:
    """Add the function from the functions of a model to mean and variance of a target, and return its name."""
    name, real, n = f"{functions.prefix}_target{number}", f"{functions.prefix}_real", len(head.weights)
    weights = functions.tables.reals("weights", head.weights)
    functions.n_buffered += max(n, 1)
    functions.n_multiplications += n
    functions.lines += [
        "",
        f"/* Mean{' and variance' if has_variance else ''} from {n} functions. */",
        f"static inline void {name}(const {real} u[], {real} *mean{f', {real} *variance' if has_variance else ''})",
        "{",
        f"    {real} steps[{max(n, 1)}];",
        f"    {real} total = {functions.number(head.level)};",
        "    int i;",
        f"    for (i = 0; i < {n}; ++i) {{",
        f"        steps[i] = {_step(functions, head)};",
        f"        total += {functions.read(weights, 'i')} * steps[i];",
        "    }",
        "    *mean = total;",
        *(_variance(functions, head) if has_variance else []),
        *(["    (void)u;", "    (void)steps;"] if n == 0 else []),
        "}",
    ]
    return name


def _step(functions: Functions, head: Head) -> str:
    is_whole = (head.places == np.arange(len(head.places))).all()
    place = "i" if is_whole else functions.read(functions.tables.places("places", head.places), "i")
    step = f"u[{place}]"
    return f"{step} - {functions.read(functions.tables.reals('center', head.center), 'i')}" if head.center.any() else step


def _variance(functions: Functions, head: Head) -> list[str]:
    n, real = len(head.weights), f"{functions.prefix}_real"
    if not len(head.root):
        return [f"    if (variance != 0) *variance = {functions.number(head.base)};"]
    root = functions.tables.reals("root", head.triangle)
    has_offset = bool(head.offset.any())
    offset = functions.read(functions.tables.reals("offset", head.offset), "i") if has_offset else functions.number(0.0)
    functions.n_multiplications += n * (n + 1) // 2 + n
    return [
        "    if (variance != 0) {",
        f"        {real} part;",
        "        int j;",
        f"        total = {functions.number(head.base)};",
        f"        for (i = 0; i < {n}; ++i) {{",
        f"            part = {offset};",
        f"            for (j = 0; j <= i; ++j) part += {functions.read(root, 'i * (i + 1) / 2 + j')} * steps[j];",
        "            total += part * part;",
        "        }",
        "        *variance = total;",
        "    }",
    ]


def add_query_kernels(functions: Functions, query: QueryKernels, head: Head, number: int) -> str:
    """Add the function that returns what one more kernel at the query point adds to a variance, and return its name."""
    name, real, n = f"{functions.prefix}_beyond{number}", f"{functions.prefix}_real", len(head.weights)
    kernel, diagonal = functions.kernel(query.kernels), _add_diagonal(functions, query.kernels)
    rows, shares = functions.tables.reals("rows", query.kernels.centers), functions.tables.reals("shares", query.shares)
    cover = functions.tables.reals("cover", query.cover.T)
    total, zero = float(query.shares.sum()), functions.number(0.0)
    root = functions.tables.reals("root", head.triangle)
    n_rows = query.kernels.n_outputs
    functions.n_buffered += 2 * max(n, 1)
    functions.n_multiplications += n_rows * (functions.multiplications_of(query.kernels) + 2 + n) + n * (n + 1) // 2 + 2 * n
    sums = functions.tables.reals("sums", query.cover.sum(axis=1))
    level = [
        f"    sum *= {functions.number(1.0 / total)};",
        f"    energy -= sum * sum * {functions.number(total)};",
        f"    for (j = 0; j < {n}; ++j) cross[j] -= sum * {functions.read(sums, 'j')};",
        "    error -= sum;",
    ]
    functions.lines += [
        "",
        "/* What one more kernel at the query point adds to the variance, beside the training rows. */",
        f"static inline {real} {name}(const {real} w[], const {real} u[])",
        "{",
        f"    {real} cross[{max(n, 1)}], steps[{max(n, 1)}];",
        f"    {real} energy = {zero}, part, k;",
        *([f"    {real} sum = {zero};"] if query.has_level else []),
        f"    const {real} own = {diagonal}(w);",
        f"    {real} error = own;",
        "    int i, j;",
        f"    for (i = 0; i < {n}; ++i) {{",
        f"        cross[i] = {zero};",
        f"        steps[i] = {_step(functions, head)};",
        "    }",
        f"    for (i = 0; i < {n_rows}; ++i) {{",
        f"        k = {kernel}(w, {rows}, i * {query.kernels.n_inputs});",
        f"        part = {functions.read(shares, 'i')} * k;",
        *(["        sum += part;"] if query.has_level else []),
        "        energy += part * k;",
        f"        for (j = 0; j < {n}; ++j) cross[j] += {functions.read(cover, f'i * {n} + j')} * k;",
        "    }",
        *(level if query.has_level else []),
        f"    for (i = 0; i < {n}; ++i) {{",
        f"        part = {zero};",
        f"        for (j = 0; j <= i; ++j) part += {functions.read(root, 'i * (i + 1) / 2 + j')} * steps[j];",
        f"        error -= part * cross[i] * {functions.number(1.0 / head.noise)};",
        "        energy -= cross[i] * cross[i];",
        "    }",
        f"    if (energy < {zero}) energy = {zero};",
        f"    part = own * {functions.number(1.0 / query.signal)} + energy * {functions.number(1.0 / query.noise)};",
        f"    return part > {zero} ? {functions.number(query.size)} * error * error / part : {zero};",
        "}",
    ]
    return name


def _add_diagonal(functions: Functions, stage: Kernels) -> str:
    """Add the function k(u, u), and return its name."""
    name, real = f"{functions.prefix}_own_kernel", f"{functions.prefix}_real"
    if any(f" {name}(" in line for line in functions.lines):
        return name
    body = ["(void)u;", f"return {functions.number(1.0)};"]
    if stage.kind in PRODUCT_KINDS:
        zero = functions.number(0.0)
        shape = (
            [f"return total > {zero} ? {functions.number(1.0)} : {zero};"] if stage.kind == "cosine" else functions.shaped(stage)
        )
        body = [f"{real} total = {zero};", "int j;", f"for (j = 0; j < {stage.n_inputs}; ++j) total += u[j] * u[j];", *shape]
    functions.lines += ["", "/* The kernel of a row and itself. */", f"static inline {real} {name}(const {real} u[])"]
    functions.lines += ["{", *(f"    {line}" for line in body), "}"]
    return name


def multiplications_of_classes(c_type: str, n_heads: int, n_parts: int) -> int:
    """Return the multiplications from mean and variance to probabilities, with the parts of the mixture that moderates them."""
    exp, sqrt = EXP_MULTIPLICATIONS[c_type], SQRT_MULTIPLICATIONS[c_type]
    moderation = n_parts * (2 * sqrt + exp + PART_MULTIPLICATIONS) + exp + 2 * LOG_MULTIPLICATIONS if n_parts else 0
    return n_heads * (moderation + exp + (exp + LOG_MULTIPLICATIONS if n_heads > 1 else 0))


def multiplications_of_numbers(c_type: str, n_heads: int, *, is_counts: bool, has_std: bool) -> int:
    """Return the multiplications from mean and variance to mean and std."""
    exp, sqrt = EXP_MULTIPLICATIONS[c_type], SQRT_MULTIPLICATIONS[c_type]
    return n_heads * (is_counts * exp + has_std * (sqrt + 3 * is_counts))
