"""Where the rows live: in memory, or in blocks that are read one at a time."""

from skarce.designs.in_memory import InMemoryDesign
from skarce.designs.row_blocks import RowBlocks, RowBlocksDesign

__all__ = ["InMemoryDesign", "RowBlocks", "RowBlocksDesign"]
