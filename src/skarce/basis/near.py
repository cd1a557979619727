"""Tiles of rows with the centers near them, for narrow kernels. All other kernels between the two are too small to count.

Rows are put into tiles by splits of space. A center is near a tile if a kernel between the center and the box around the tile
can be larger than TOLERANCE / n_rows times the kernel between the center and some row. With all other kernels of a column phi_j
left out, a sum over the rows changes by at most TOLERANCE times what it can be: phi_j'b by ``TOLERANCE |phi_j| max|b|``, and an
element of the Gram matrix by ``TOLERANCE |phi_i| |phi_j|``. If rows have weights w, norms are those of rows of weight one, and
max(w) is a further factor.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from skarce._parallel import for_each, slices
from skarce._typing import Floats, Indices
from skarce.basis.kernels import Decaying
from skarce.basis.splits import Boxes, Level, boxes_of, find_splits, grouped, parts_of, sampled

TOLERANCE = 1e-13
ROUNDING = 4.0  # the rounding error of a separation, in units of the last place for each input
SIDE = 0.25  # tiles that are wider than this share of the reach of a kernel are split
MOST_ROWS = 8192  # of a tile, so that all cores have some
BOXES_AT_A_TIME = 32
FEW, FEWER = 256, 64  # centers or tiles that a forecast looks at, and rows that the first look is at


class Tile(NamedTuple):
    """Some rows, and the candidates that are not too small to count at these rows."""

    rows: Indices
    candidates: Indices


class Shape(NamedTuple):
    """The number of rows and of near candidates of each tile, and how many tiles each of these stands for."""

    rows: Floats
    near: Floats
    times: float = 1.0

    @classmethod
    def of(cls, n_rows: float, n_candidates: float) -> Shape:
        """Return the shape of one tile with so many rows and candidates."""
        return cls(np.array([n_rows], dtype=np.float64), np.array([n_candidates], dtype=np.float64))


class NearTiles:
    """The tiles of prepared rows and centers, made at the first request.

    Parameters
    ----------
    kernel : Decaying
        The kernel that has prepared rows and centers.
    rows, centers : arrays
        Prepared rows and centers.
    """

    def __init__(self, kernel: Decaying, rows: Floats, centers: Floats) -> None:
        self._kernel, self._prepared, self._rows = kernel, rows, kernel.coordinates(rows)
        self._centers = kernel.coordinates(centers).astype(np.float64, copy=False)
        self._share = TOLERANCE / max(1, len(rows))
        self._eps = ROUNDING * (2 + self._rows.shape[1]) * float(np.finfo(rows.dtype).eps)

    @cached_property
    def tiles(self) -> list[Tile]:
        """All rows in tiles. Each row is in one of them."""
        order, starts, _ = grouped(parts_of(self._rows, self._levels), 2 ** len(self._levels))
        ends = np.append(starts[1:], len(order))
        boxes = self._boxes(order, starts)
        limits = self._limits(self._rows[order[(starts + ends) // 2]].astype(np.float64, copy=False), self._centers)
        near = self._near(boxes, self._centers, limits)
        return [
            Tile(order[start + some.start : start + some.stop], candidates)
            for start, end, candidates in zip(starts, ends, near, strict=True)
            if len(candidates)
            for some in slices(end - start, MOST_ROWS)
        ]

    @property
    def are_made(self) -> bool:
        """Whether the tiles were requested before."""
        return "tiles" in self.__dict__

    @cached_property
    def shape(self) -> Shape:
        """The sizes of all tiles."""
        sizes = np.array([(len(tile.rows), len(tile.candidates)) for tile in self.tiles], dtype=np.float64).reshape(-1, 2)
        return Shape(*sizes.T)

    @cached_property
    def touching(self) -> float:
        """The share of pairs of a row and a center whose kernel counts, in a sample. Tiles leave out the others at best."""
        depths = self._depths(_some(self._sample, FEWER), _some(self._centers))
        return float((depths < self._depth).mean())

    @cached_property
    def forecast(self) -> Shape:
        """The expected sizes of tiles, from a sample of rows, tiles and centers."""
        order, starts, there = grouped(parts_of(self._sample, self._levels), 2 ** len(self._levels))
        counts = np.diff(np.append(starts, len(order))).astype(np.float64)
        boxes, centers = boxes_of(self._sample[order], starts), _some(self._centers)
        # The box around all rows of a tile is larger than that around a sample of c of them: (c + 1) / (c - 1) for uniform rows.
        wider = (boxes.high - boxes.low) / np.maximum(counts - 1.0, 1.0)[:, None]
        chosen = _some(np.arange(len(there)))
        boxes = Boxes((boxes.low - wider)[chosen], (boxes.high + wider)[chosen])
        limits = self._limits(self._sample[order[starts + counts.astype(np.intp) // 2]], centers)
        near = [len(candidates) for candidates in self._near(boxes, centers, limits)]
        scale = len(self._centers) / len(centers)
        return Shape(
            counts[chosen] * len(self._rows) / len(order), scale * np.array(near, dtype=np.float64), len(there) / len(chosen)
        )

    @cached_property
    def _sample(self) -> Floats:
        return sampled(self._rows)

    @cached_property
    def _levels(self) -> list[Level]:
        return find_splits(self._sample, len(self._rows), SIDE * self._kernel.reach(self._share))

    @cached_property
    def _depth(self) -> float:
        """The depth below the nearest row from which on kernels do not count."""
        return float(self._kernel.depth(self._kernel.separation(np.array(self._kernel.reach(self._share)))))

    def _boxes(self, order: Indices, starts: Indices) -> Boxes:
        low, high = np.empty((2, len(starts), self._rows.shape[1]))
        ends = np.append(starts[1:], len(order))

        def work(some: slice) -> None:
            first = starts[some.start]
            rows = self._prepared.take(order[first : ends[some.stop - 1]], axis=0)  # quicker than an index, for whole rows
            boxes = boxes_of(self._kernel.coordinates(rows), starts[some] - first)
            low[some], high[some] = boxes.low, boxes.high

        for_each(work, slices(len(starts), BOXES_AT_A_TIME), operations=100.0 * len(order))
        return Boxes(low, high)

    def _limits(self, some_rows: Floats, centers: Floats) -> Floats:
        """Return the depth of each center from which on kernels do not count. The nearest row is at most as far as some row."""
        chunks = slices(len(some_rows), BOXES_AT_A_TIME)
        nearest = np.empty((len(chunks), len(centers)))

        def work(chunk: int) -> None:
            nearest[chunk] = self._depths(some_rows[chunks[chunk]], centers, sign=1.0).min(axis=0)

        for_each(work, range(len(chunks)), operations=10.0 * some_rows.size * len(centers))
        return self._depth + nearest.min(axis=0)

    def _depths(self, points: Floats, centers: Floats, sign: float = 0.0) -> Floats:
        return self._depths_of_boxes(Boxes(points, points), centers, sign)

    def _depths_of_boxes(self, boxes: Boxes, centers: Floats, sign: float) -> Floats:
        """Return the depth of each center from the nearest point of each box. Rounding counts with this sign."""
        separation = self._kernel.separation
        total = np.zeros((len(boxes.low), len(centers)))
        for low, high, center in zip(boxes.low.T, boxes.high.T, centers.T, strict=True):
            gaps = np.maximum(low[:, None] - center, center - high[:, None])
            total += separation(np.maximum(gaps, 0.0, out=gaps))
        corners = separation(np.maximum(np.abs(boxes.low), np.abs(boxes.high))).sum(axis=1)
        total += sign * self._eps * np.add.outer(corners, separation(centers).sum(axis=1))
        return self._kernel.depth(np.maximum(total, 0.0, out=total))

    def _near(self, boxes: Boxes, centers: Floats, limits: Floats) -> list[Indices]:
        """Return the centers near each box."""
        near: list[Indices] = [np.empty(0, dtype=np.intp)] * len(boxes.low)

        def work(some: slice) -> None:
            depths = self._depths_of_boxes(Boxes(boxes.low[some], boxes.high[some]), centers, sign=-1.0)
            near[some] = [np.flatnonzero(line) for line in depths < limits]

        for_each(work, slices(len(boxes.low), BOXES_AT_A_TIME), operations=10.0 * boxes.low.size * len(centers))
        return near


def _some(points: Floats, count: int = FEW) -> Floats:
    """Return this number of points or up to twice as many, evenly spaced."""
    return points[:: max(1, len(points) // count)]
