r"""A model in whole numbers, for cores without a floating-point unit, evaluated exactly as its C does.

A number z is stored as the whole number nearest to z 2^b. Tables have 15 or 31 bits and a sign. What is computed from them has at
most 31 bits, and sums have 63, so that nothing overflows:

- inputs x have b bits each, by their range in the rows that the export is checked at;
- columns u = (x - c) f are kept in [-r, r], where r is beyond all centers by as much as a kernel needs to vanish;
- kernels have 30 bits, and mean and std as many as their largest value leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export.c.fixed_classes import MOST_LATENT_BITS, cooled, logistic, moderated, of_all
from skarce.export.c.fixed_numbers import (
    EXPONENT_BITS,
    FORMATS,
    LOG2E,
    UNIT_BITS,
    Format,
    bits_above,
    exponential,
    integer_root,
    mantissas,
    rounded,
    whole,
)
from skarce.export.columns import Columns, Lookup, Number
from skarce.export.description import CLASSES, NUMBERS, Described
from skarce.export.heads import Head
from skarce.export.stages import Kernels, simplified
from skarce.export.transformers import ExportError

INPUT_BITS = 29  # of the largest input
FACTOR_BITS = 23  # of the polynomials in Matern kernels, which are below 2^10
MOST_INPUTS = 256  # of a kernel, so that sums of squares do not overflow
FARTHEST = 40.0  # exp(-40) is below the resolution
REACH = {"rbf": 5.0, "laplacian": 25.0, "matern32": 30.0, "matern52": 30.0}  # distance at which a kernel vanishes
SMALLEST_TEMPERATURE = 1 / 16  # so that log odds divided by it do not overflow
MISSING = -(2**31)  # the input that stands for a missing number


@dataclass(frozen=True)
class FixedColumn:
    """(x - center) * factor / 2^drop for a number; values of codes for a category."""

    item: Any
    center: int = 0
    factor: int = 0
    drop: int = 0
    missing: int = 0
    keys: tuple[int, ...] = ()
    results: tuple[int, ...] = ()


@dataclass(frozen=True)
class FixedHead:
    """Weights and roots as whole numbers. `drop` are the bits that bring a sum to the bits of the output."""

    head: Head
    weights: Any
    weight_drop: int
    level: int
    center: Any
    root: Any
    root_drops: Any
    offset: Any
    base: int


class FixedPoint:
    """A model in whole numbers."""

    def __init__(self, described: Described, kind: Format, rows: Floats, *, has_std: bool) -> None:
        described = _with_margins_as_log_odds(described)
        self.kind, self.described = kind, described
        self.has_classes = described.target == CLASSES
        if described.temperature < SMALLEST_TEMPERATURE:
            raise ExportError(
                f"log odds divided by a temperature of {described.temperature:.2g} do not fit into whole numbers; it must be at "
                f"least {SMALLEST_TEMPERATURE}. Use real='float'."
            )
        self.has_std = described.is_moderated if self.has_classes else has_std
        self.stage, self.kernels = _supported(described)
        used = np.abs(rows[:, list(described.used)])
        ranges = np.nanmax(np.where(np.isnan(used), 0.0, used), axis=0, initial=0.0)
        codes = _coded_sources(self.stage)
        self.input_bits = [0 if place in codes else INPUT_BITS - bits_above(float(most)) for place, most in enumerate(ranges)]
        self._set_columns(rows)
        self.function_bits = UNIT_BITS if self.kernels is not None else self.column_bits
        self._set_heads()

    # Quantities -----------------------------------------------------------------------------------------------------------

    def _set_columns(self, rows: Floats) -> None:
        """Choose the bits of columns, and make the tables of columns and centers."""
        if self.kernels is None:
            prepared = self.stage.values(rows[:, list(self.described.used)])
            self.reach_bits = bits_above(2.0 * float(np.max(np.abs(prepared), initial=1e-30)))
            self.column_bits = center_bits = UNIT_BITS - self.reach_bits
        else:
            largest = float(np.max(np.abs(self.kernels.centers), initial=1e-30))
            self.reach_bits = bits_above(largest + REACH[self.kernels.kind])
            self.column_bits = self.kind.column_bits - self.reach_bits
            center_bits = min(self.kind.table_bits - bits_above(largest), self.column_bits)
        self.finer = self.column_bits - center_bits  # bits that columns have more than centers
        self.columns = [self._column(item) for item in self.stage.items]
        most = 2**self.kind.table_bits - 1
        centers = np.zeros((0, 0)) if self.kernels is None else self.kernels.centers
        self.centers = np.clip(whole(centers, center_bits), -most, most)

    def _column(self, item: Number | Lookup) -> FixedColumn:
        bits = self.input_bits[item.source]
        missing = 0.0 if np.isnan(item.missing) else item.missing
        if isinstance(item, Lookup):
            keys = tuple(_in_32_bits(whole(np.array(item.keys), bits)).tolist())
            return FixedColumn(item, missing=self.bounded(missing), keys=keys, results=tuple(map(self.bounded, item.results)))
        factor, factor_bits = mantissas(item.factor, self.kind.table_bits)
        drop = bits + factor_bits - self.column_bits
        if drop < 0 or drop > 62:  # the column is always nearly zero
            factor, drop = np.int64(0), 0
        return FixedColumn(item, int(_in_32_bits(whole(item.center, bits))), int(factor), drop, self.bounded(missing))

    def bounded(self, value: float) -> int:
        """Return the nearest value that a column may have."""
        return int(whole(np.clip(value, *np.ldexp((-1.0, 1.0), self.reach_bits)), self.column_bits))

    def _set_heads(self) -> None:
        """Choose the bits of mean and std, and make the tables of the heads."""
        step = 1.0 if self.kernels is not None else 2.0 ** (self.reach_bits + 1)
        means = [abs(head.level) + step * float(np.abs(head.weights).sum()) for head in self.described.heads]
        parts = [step * np.abs(head.root).sum(axis=1) + np.abs(head.offset) for head in self.described.heads]
        roots = [head.base + float((part**2).sum()) for head, part in zip(self.described.heads, parts, strict=True)]
        mean_bits = UNIT_BITS - bits_above(max(means))
        self.part_bits = min(UNIT_BITS - bits_above(float(np.sqrt(max(roots)))), mean_bits + UNIT_BITS)
        self.output_bits = min(mean_bits, self.part_bits) if self.has_std else mean_bits
        if self.has_classes:
            self.output_bits = min(self.output_bits, MOST_LATENT_BITS)
        self.heads = [self._head(head) for head in self.described.heads]

    def _head(self, head: Head) -> FixedHead:
        lost = self.kind.dropped
        center_bits = self.function_bits - self.center_drop
        center = whole(head.center, center_bits)
        weights, weight_bits = mantissas(head.weights, self.kind.table_bits)
        level = head.intercept + float(head.weights @ np.ldexp(center.astype(np.float64), -center_bits))
        root, drops = np.zeros(head.root.shape, dtype=np.int64), np.zeros(len(head.root), dtype=np.int64)
        for number, row in enumerate(head.root):
            root[number], bits = mantissas(row, self.kind.table_bits)
            drops[number] = np.clip(bits + self.function_bits - lost - self.part_bits, 0, 62)
        drop = weight_bits + self.function_bits - lost - self.output_bits
        if drop < 0:
            raise ExportError(f"the weights of this model are too large for {self.kind.name}. Use real='float'.")
        base = int(whole(head.base, 2 * self.part_bits))
        offset = whole(head.offset, self.part_bits)
        return FixedHead(head, weights, min(drop, 62), int(whole(level, self.output_bits)), center, root, drops, offset, base)

    @property
    def center_drop(self) -> int:
        """How many bits the centers of functions have less than the functions."""
        return max(self.function_bits + self.reach_bits * (self.kernels is None) - min(self.kind.table_bits, UNIT_BITS), 0)

    # Evaluation -----------------------------------------------------------------------------------------------------------

    def inputs(self, rows: Floats) -> Any:
        """Return raw coded rows as whole numbers. Inputs that the model does not need are zero."""
        found = np.zeros(rows.shape, dtype=np.int64)
        for place, bits in zip(self.described.used, self.input_bits, strict=True):
            column = rows[:, place]
            values = _in_32_bits(whole(np.nan_to_num(column), bits))
            found[:, place] = np.where(np.isnan(column), MISSING, values)
        return found

    def predict(self, rows: Floats) -> Floats:
        """Return means and stds side by side, or probabilities, as the exported code computes them."""
        phi = self._functions(self._prepared(self.inputs(rows)[:, list(self.described.used)]))
        parts = [self._mean_and_std(head, phi) for head in self.heads]
        if self.has_classes:
            found = [self._probability(place, *part) for place, part in enumerate(parts)]
            return np.ldexp(of_all(found).astype(np.float64), -UNIT_BITS)
        found = [mean for mean, _ in parts] + ([std for _, std in parts] if self.has_std else [])
        return np.ldexp(np.stack(found, axis=1).astype(np.float64), -self.output_bits)

    def _probability(self, place: int, mean: Any, std: Any) -> Any:
        """Return the probability of a positive latent function."""
        if not self.described.is_moderated:
            return logistic(rounded(mean * LOG2E, self.odds_drop), self.kind)
        probability = moderated(mean, std, self.output_bits, self.kind)
        if self.described.temperature == 1.0:
            return probability
        return cooled(probability, self.odds_centers[place], self.inverse_temperature, self.kind)

    @property
    def odds_drop(self) -> int:
        """The bits that log odds lose if they are multiplied with `LOG2E`."""
        return self.output_bits + UNIT_BITS - EXPONENT_BITS

    @property
    def odds_centers(self) -> list[int]:
        """The log odds that a temperature leaves as they are, to base two."""
        centers = self.described.class_log_odds
        assert centers is not None
        return [int(center) for center in whole(np.log2(np.e) * centers, EXPONENT_BITS)]

    @property
    def inverse_temperature(self) -> int:
        """What distances of log odds are multiplied with."""
        return int(whole(1.0 / self.described.temperature, EXPONENT_BITS))

    @property
    def result_bits(self) -> int:
        """The bits of what a prediction returns."""
        return UNIT_BITS if self.has_classes else self.output_bits

    def _prepared(self, x: Any) -> Any:
        columns = []
        for column in self.columns:
            value = x[:, column.item.source]
            if isinstance(column.item, Lookup):
                result = np.full(len(x), self.bounded(column.item.otherwise))
                for key, own in zip(column.keys, column.results, strict=True):
                    result = np.where(value == key, own, result)
            else:
                result = rounded((value - column.center) * column.factor, column.drop)
                lower, upper = (self.bounded(end) for end in (column.item.lower, column.item.upper))
                result = np.clip(result, lower, upper)
            columns.append(np.where(value == MISSING, column.missing, result))
        return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0), dtype=np.int64)

    def _functions(self, u: Any) -> Any:
        if self.kernels is None:
            return u
        total = np.zeros((len(u), len(self.centers)), dtype=np.int64)
        for column, centers in zip(u.T, self.centers.T, strict=True):
            d = column[:, None] - centers * (1 << self.finer)
            total += np.abs(d) if self.kernels.kind == "laplacian" else (d * d) >> self.kind.squares_dropped
        if self.kernels.kind.startswith("matern"):
            total = integer_root(total)
        return self._shaped(total)

    @property
    def distance_bits(self) -> int:
        """The bits of what the exponential function is taken of."""
        squared = 2 * self.column_bits - self.kind.squares_dropped
        return {"laplacian": self.column_bits, "rbf": squared}.get(self.kernels.kind, squared // 2) if self.kernels else 0

    @property
    def farthest(self) -> int:
        """The distance from which on a kernel is zero."""
        return int(whole(FARTHEST, self.distance_bits))

    def _shaped(self, total: Any) -> Any:
        assert self.kernels is not None
        drop = self.distance_bits - EXPONENT_BITS
        near = np.minimum(total, self.farthest)
        t = rounded(near, drop) if drop >= 0 else near * (1 << -drop)
        value = exponential(t, self.kind)
        if self.kernels.kind.startswith("matern"):
            factor = (1 << FACTOR_BITS) + rounded(t, EXPONENT_BITS - FACTOR_BITS)
            if self.kernels.kind == "matern52":
                factor = factor + (t * t >> (2 * EXPONENT_BITS - FACTOR_BITS)) // 3
            value = rounded(factor * value, FACTOR_BITS)
        return np.where(total >= self.farthest, 0, value)

    def _mean_and_std(self, head: FixedHead, phi: Any) -> tuple[Any, Any]:
        steps = phi[:, head.head.places] - head.center * (1 << self.center_drop)
        lost = self.kind.dropped
        total = rounded(steps * head.weights, lost).sum(axis=1)
        mean = head.level + rounded(total, head.weight_drop)
        square = np.full(len(phi), head.base, dtype=np.int64)
        for row, drop, offset in zip(head.root, head.root_drops, head.offset, strict=True):
            part = rounded(rounded(steps * row, lost).sum(axis=1), int(drop)) + offset
            square += part * part
        return mean, rounded(integer_root(square), self.part_bits - self.output_bits) if self.has_std else mean


def fixed_point(described: Described, rows: Floats, real: str, std: Any) -> FixedPoint:
    """Return a model in a format by its name, with ranges from these rows."""
    if std == "augmented":
        raise ExportError("std='augmented' is for real='float' or 'double', which can hold its sums over training rows.")
    return FixedPoint(described, FORMATS[real], rows, has_std=std is not False)


def _in_32_bits(values: Any) -> Any:
    """Return the nearest whole numbers of 32 bits, without that for missing ones."""
    return np.clip(values, MISSING + 1, -MISSING - 1)


def _with_margins_as_log_odds(described: Described) -> Described:
    """Return a model of which margins are divided by their temperature in the weights already."""
    if described.is_moderated or described.target != CLASSES:
        return described
    heads = tuple(head.scaled(0.0, described.temperature) for head in described.heads)
    return replace(described, heads=heads, temperature=1.0)


def _coded_sources(stage: Columns) -> set[int]:
    """Return the inputs that are only looked up, by whole numbers."""
    numbers = {item.source for item in stage.items if isinstance(item, Number)}
    lookups = [item for item in stage.items if isinstance(item, Lookup)]
    broken = {item.source for item in lookups if any(key != round(key) for key in item.keys)}
    return {item.source for item in lookups} - numbers - broken


def _supported(described: Described) -> tuple[Columns, Kernels | None]:
    """Return columns and kernels of a model. Raise if it has other parts."""
    stages = simplified(described.stages)
    is_simple = len(stages) == 1 or (len(stages) == 2 and isinstance(stages[1], Kernels) and stages[1].kind in REACH)
    is_simple = is_simple and stages[-1].n_inputs <= MOST_INPUTS
    if described.target not in (NUMBERS, CLASSES) or not (is_simple and isinstance(stages[0], Columns)):
        raise ExportError(
            f"fixed-point arithmetic is for numbers and for classes with probabilities, on at most {MOST_INPUTS} columns or on "
            f"{', '.join(REACH)} kernels of them, after scalers and encoders, but this {described.title} is not for that. Use "
            "real='float' or 'double'."
        )
    return stages[0], stages[1] if len(stages) == 2 and isinstance(stages[1], Kernels) else None
