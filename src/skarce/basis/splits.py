"""Points that lie close together are put together: splits of space along the widest side, found from a sample of the points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._parallel import for_each, slices
from skarce._typing import Floats, Indices

SAMPLE = 2**14  # points that the splits are found from, or fewer than twice as many
LEAST_SAMPLE = 8  # points of the sample in a part: with fewer, its box says little
LEAST_ROWS = 256  # expected points in a part: with fewer, the work on a part does not pay for its call
MOST_LEVELS = 14  # of splits, each of which doubles the number of parts
AT_A_TIME = 2**16  # points that one thread sorts at a time


class Level(NamedTuple):
    """One split of each part: point x of part p goes to part 2p if x[inputs[p]] <= cuts[p], and to part 2p + 1 otherwise."""

    inputs: Indices
    cuts: Floats


class Boxes(NamedTuple):
    """The smallest boxes around some parts of the points, shapes (n_parts, n_inputs)."""

    low: Floats
    high: Floats


def sampled(points: Floats) -> Floats:
    """Return every k-th point, in double precision."""
    step = max(len(points) // SAMPLE, LEAST_ROWS // LEAST_SAMPLE)
    return np.ascontiguousarray(points[::step], dtype=np.float64)


def find_splits(sample: Floats, n_points: int, side: float) -> list[Level]:
    """Split the sample again and again at medians, until no box is wider than `side` or parts of all `n_points` would be small."""
    least = max(LEAST_SAMPLE, LEAST_ROWS * len(sample) / n_points)
    parts, levels = np.zeros(len(sample), dtype=np.intp), list[Level]()
    for depth in range(MOST_LEVELS):
        level = _split(sample, parts, 2**depth, least, side)
        if level is None:
            break
        levels.append(level)
        parts = _next_parts(sample, parts, level)
    return levels


def _split(points: Floats, parts: Indices, n_parts: int, least: float, side: float) -> Level | None:
    """Return the split of each part in two halves along its widest side, or None if no part is large and wide enough."""
    order, starts, there = grouped(parts, n_parts)
    boxes = boxes_of(points[order], starts)
    widest = (boxes.high - boxes.low).argmax(axis=1)
    each = np.arange(len(there))
    low, high = boxes.low[each, widest], boxes.high[each, widest]
    counts = np.diff(np.append(starts, len(parts)))
    divisible = (high - low > side) & (counts >= 2.0 * least)
    if not divisible.any():
        return None
    values = points[order, np.repeat(widest, counts)]
    values = values[np.lexsort((values, np.repeat(each, counts)))]
    middle = values[starts + (counts - 1) // 2]
    middle = np.minimum(middle, np.nextafter(high, low))  # if most values are the largest, the others go to a part of their own
    inputs, cuts = np.zeros(n_parts, dtype=np.intp), np.full(n_parts, np.inf)
    inputs[there], cuts[there] = widest, np.where(divisible, middle, np.inf)
    return Level(inputs, cuts)


def parts_of(points: Floats, levels: list[Level]) -> NDArray[np.uint16]:
    """Return the part of each point after all splits, found on all cores."""
    parts = np.zeros(len(points), dtype=np.uint16)  # short integers are sorted by their digits

    def work(some: slice) -> None:
        found = np.zeros(some.stop - some.start, dtype=np.intp)
        for level in levels:
            found = _next_parts(points[some], found, level)
        parts[some] = found

    for_each(work, slices(len(points), AT_A_TIME), operations=20.0 * len(points) * len(levels))
    return parts


def _next_parts(points: Floats, parts: Indices, level: Level) -> Indices:
    values = points[np.arange(len(points)), level.inputs[parts]]
    return 2 * parts + (values > level.cuts[parts])


def grouped(parts: NDArray[Any], n_parts: int) -> tuple[Indices, Indices, Indices]:
    """Return the order that puts points of the same part together, where each part starts, and the parts that have points."""
    counts = np.bincount(parts, minlength=n_parts)
    there = np.flatnonzero(counts)
    return np.argsort(parts, kind="stable"), (np.cumsum(counts) - counts)[there], there


def boxes_of(points: Floats, starts: Indices) -> Boxes:
    """Return the boxes around consecutive points; each part begins at one of `starts`."""
    return Boxes(np.minimum.reduceat(points, starts, axis=0), np.maximum.reduceat(points, starts, axis=0))
