"""Where the rows live: in memory, in blocks that are read one at a time, or nowhere any more."""

from skarce.designs.in_memory import InMemoryDesign
from skarce.designs.row_blocks import RowBlocks, RowBlocksDesign
from skarce.designs.stream import StreamDesign

__all__ = ["InMemoryDesign", "RowBlocks", "RowBlocksDesign", "StreamDesign"]
