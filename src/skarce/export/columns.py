"""Columns that depend on one input each: scaled numbers, and values looked up by category."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from skarce._typing import Floats, Indices


@dataclass(frozen=True)
class Number:
    """(x - center) * factor, kept in [lower, upper]. `missing` stands for NaN."""

    source: int
    center: float = 0.0
    factor: float = 1.0
    lower: float = -np.inf
    upper: float = np.inf
    missing: float = np.nan

    @property
    def is_unmoved(self) -> bool:
        """Whether it is the input itself, except perhaps for NaN."""
        return (self.center, self.factor, self.lower, self.upper) == (0.0, 1.0, -np.inf, np.inf)

    def moved(self, center: float, factor: float) -> Number:
        """Return (value - center) * factor."""
        lower, upper = sorted(((self.lower - center) * factor, (self.upper - center) * factor))
        return replace(
            self,
            center=self.center + center / self.factor,
            factor=self.factor * factor,
            lower=lower,
            upper=upper,
            missing=(self.missing - center) * factor,
        )

    def kept_in(self, lower: float, upper: float) -> Number:
        """Return the value, or the nearer end of an interval if it is outside."""
        return replace(
            self,
            lower=max(self.lower, lower),
            upper=min(self.upper, upper),
            missing=float(np.clip(self.missing, lower, upper)),
        )

    def filled(self, missing: float) -> Number:
        """Return the value, with a number for NaN."""
        return replace(self, missing=missing) if np.isnan(self.missing) else self

    def values(self, x: Floats) -> Floats:
        """Evaluate in the precision of x."""
        kind = x.dtype.type
        value = (x - kind(self.center)) * kind(self.factor)
        if self.lower > -np.inf or self.upper < np.inf:
            value = np.minimum(np.maximum(value, kind(self.lower)), kind(self.upper))
        return np.where(np.isnan(x), kind(self.missing), value)


@dataclass(frozen=True)
class Lookup:
    """A value for each key, `otherwise` for any other number, and `missing` for NaN."""

    source: int
    keys: tuple[float, ...]
    results: tuple[float, ...]
    otherwise: float = 0.0
    missing: float = np.nan

    def moved(self, center: float, factor: float) -> Lookup:
        """Return (value - center) * factor."""
        return self._with(lambda value: (value - center) * factor)

    def kept_in(self, lower: float, upper: float) -> Lookup:
        """Return the value, or the nearer end of an interval if it is outside."""
        return self._with(lambda value: float(np.clip(value, lower, upper)))

    def filled(self, missing: float) -> Lookup:
        """Return the value, with a number for NaN."""
        return self._with(lambda value: missing if np.isnan(value) else value)

    def values(self, x: Floats) -> Floats:
        """Evaluate in the precision of x."""
        kind = x.dtype.type
        value = np.full(x.shape, kind(self.otherwise))
        for key, result in zip(self.keys, self.results, strict=True):
            value[x == kind(key)] = kind(result)
        value[np.isnan(x)] = kind(self.missing)
        return value

    def _with(self, change: Callable[[float], float]) -> Lookup:
        results = tuple(change(result) for result in self.results)
        return replace(self, results=results, otherwise=change(self.otherwise), missing=change(self.missing))


Column: TypeAlias = Number | Lookup


@dataclass(frozen=True)
class Columns:
    """A stage whose outputs depend on one input each."""

    items: tuple[Column, ...]
    n_inputs: int

    @classmethod
    def identity(cls, n_inputs: int) -> Columns:
        """Return the inputs as they are."""
        return cls(tuple(Number(place) for place in range(n_inputs)), n_inputs)

    @classmethod
    def taking(cls, places: Indices, n_inputs: int) -> Columns:
        """Return some of the inputs."""
        return cls(tuple(Number(int(place)) for place in places), n_inputs)

    @property
    def n_outputs(self) -> int:
        """The number of columns."""
        return len(self.items)

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        columns = [item.values(rows[:, item.source]) for item in self.items]
        return np.stack(columns, axis=1) if columns else np.empty((len(rows), 0), dtype=rows.dtype)

    def only(self, outputs: Indices) -> tuple[Columns, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs."""
        kept = [self.items[place] for place in outputs]
        used = np.unique([item.source for item in kept]).astype(np.intp)
        items = tuple(replace(item, source=int(np.searchsorted(used, item.source))) for item in kept)
        return Columns(items, len(used)), used

    def then(self, other: Columns) -> Columns | None:
        """Return both stages as one, or None if that is impossible: a lookup needs a column as it came."""
        items = [_joined(self.items[item.source], item) for item in other.items]
        return None if None in items else Columns(tuple(item for item in items if item is not None), self.n_inputs)


def _joined(first: Column, second: Column) -> Column | None:
    if isinstance(second, Number):
        moved = first if second.is_unmoved else first.moved(second.center, second.factor).kept_in(second.lower, second.upper)
        return moved.filled(second.missing)
    if isinstance(first, Number) and first.is_unmoved and np.isnan(first.missing):
        return replace(second, source=first.source)
    return None
