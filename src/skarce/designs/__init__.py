"""Where rows live: in memory, in blocks that are read one at a time, or in a stream that is not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skarce._lazy import lazy
from skarce.designs.blocks import BlockDesign
from skarce.designs.dask import DaskDesign
from skarce.designs.design import Design, Recipe, Rows
from skarce.designs.device import DeviceDesign
from skarce.designs.device_rows import DeviceRows
from skarce.designs.in_memory import InMemoryDesign
from skarce.designs.problem import Problem
from skarce.designs.row_blocks import RowBlocks, RowBlocksDesign
from skarce.designs.stream import StreamDesign
from skarce.designs.worth import Worth
from skarce.moments.passes import Block

if TYPE_CHECKING:
    from skarce.designs.latent_stream import LatentStream

__getattr__, __dir__ = lazy(__name__, {"LatentStream": "latent_stream"})

# The first design that takes X is used. A new kind of data is one line here.
DESIGNS: tuple[type[Design], ...] = (DeviceDesign, RowBlocksDesign, DaskDesign, InMemoryDesign)


def as_design(X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> Design:
    """Check the data, fit the basis, and return the design that suits X.

    X, y and sample_weight are what the user passed to `fit`. The first of `DESIGNS` that takes X makes the design.
    """
    kind = next(kind for kind in DESIGNS if kind.takes(X))
    if kind.brings_targets and not (y is None and sample_weight is None):
        raise ValueError(f"with {type(X).__name__}, y and sample_weight come from the blocks: do not pass them to fit.")
    if recipe.needs_rows is not None and not kind.keeps_rows:
        raise ValueError(recipe.needs_rows)
    if recipe.worth.needs_order and not kind.keeps_rows:
        raise ValueError(
            f'effective_samples="auto" looks at residuals in the order of the rows, but {type(X).__name__} does not keep rows in '
            "memory. Give a number, or a share of the rows such as 0.1."
        )
    if not recipe.worth.is_plain and not kind.counts_worth:
        raise ValueError(f'{type(X).__name__} counts rows as they are: use weights="counts" and effective_samples=None.')
    return kind.of(X, y, sample_weight, recipe)


__all__ = [
    "DESIGNS",
    "Block",
    "BlockDesign",
    "DaskDesign",
    "Design",
    "DeviceDesign",
    "DeviceRows",
    "InMemoryDesign",
    "LatentStream",
    "Problem",
    "Recipe",
    "RowBlocks",
    "RowBlocksDesign",
    "Rows",
    "StreamDesign",
    "Worth",
    "as_design",
]
