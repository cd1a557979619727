"""Whether tiles of rows and near centers pay: estimated nanoseconds of one core, with tiles and without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skarce.basis.near import NearTiles, Shape, Tile

COMPILED, INTERPRETED = 1.0, 5.0  # to evaluate one kernel and multiply it by a few numbers
MULTIPLY = 0.025  # one product of two kernels in a matrix product
SCATTER = 8.0  # to add one element of a small Gram matrix to the large one
GATHER, SORT = 80.0, 150.0  # one row: to bring it into a tile, and to find its tile
CALL = 8e4  # of one tile
LEAST = 5e7  # a pass without tiles that takes less is not worth a look
PAYS = 0.7  # tiles must save the rest of the time without them, because all of this is rough

Near = Callable[[], NearTiles | None]  # what may have tiles; None if the kernel has none


@dataclass(frozen=True)
class NearCosts:
    """The cost of passes over Phi.

    Parameters
    ----------
    n_rows, n_candidates : int
        The shape of Phi.
    is_compiled : bool
        Whether compiled code evaluates the kernel.
    is_symmetric : bool
        Whether projections need only half of Phi.
    """

    n_rows: int
    n_candidates: int
    is_compiled: bool
    is_symmetric: bool

    @property
    def element(self) -> float:
        return COMPILED if self.is_compiled else INTERPRETED

    def tiles_for_projections(self, near: Near) -> list[Tile] | None:
        """Return the tiles if there are any and projections in tiles take less time than without them."""
        plain = self._projections(Shape.of(self.n_rows, self.n_candidates))
        return self._tiles(near, self._projections, plain * (0.5 if self.is_symmetric else 1.0))

    def tiles_for_sums(self, near: Near) -> list[Tile] | None:
        """Return the tiles if there are any and all of Phi'Phi takes less time in tiles than without them."""
        return self._tiles(near, self._sums, self._sums(Shape.of(self.n_rows, self.n_candidates)))

    def _projections(self, shape: Shape) -> float:
        return shape.times * float(shape.rows @ shape.near) * self.element

    def _sums(self, shape: Shape) -> float:
        squares = shape.near**2
        return self._projections(shape) + shape.times * float(MULTIPLY * shape.rows @ squares + SCATTER * squares.sum())

    def _tiles(self, make: Near, cost: Callable[[Shape], float], plain: float) -> list[Tile] | None:
        def pays(shape: Shape, more: float) -> bool:
            return cost(shape) + self.n_rows * (GATHER + more) + shape.times * len(shape.rows) * CALL < PAYS * plain

        if plain < LEAST or (near := make()) is None:
            return None
        if not near.are_made:
            best = Shape.of(self.n_rows, near.touching * self.n_candidates)
            if not (pays(best, SORT) and pays(near.forecast, SORT)):
                return None
        return near.tiles if pays(near.shape, 0.0) else None
