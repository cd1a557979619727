"""Whether data are read as one table or in blocks."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from skarce._memory import MEBIBYTE, memory_budget
from skarce.cli.rendering import say
from skarce.cli.streamed.files import found_files, table_bytes
from skarce.datasets.tables import TableError
from skarce.designs.parquet_files import DataFile


def named_files(paths: Sequence[Path], asked: bool | None = None) -> tuple[DataFile, ...] | None:
    """The files of paths, folders and patterns. None stands for a single pipe, or for a single file that does not exist."""
    first = paths[0]
    is_pattern = glob.has_magic(str(first)) and not os.path.exists(first)
    if len(paths) > 1 or is_pattern or os.path.isfile(first) or os.path.isdir(first):
        return found_files(paths)
    if asked and os.path.exists(first):
        raise TableError(f"{first} is not a file, and streamed data are read twice; use a file, or --no-stream.")
    return None


def is_streamed(files: tuple[DataFile, ...], asked: bool | None) -> bool:
    """Whether to read the files in blocks: if this is asked for, or if their table would be larger than the memory budget."""
    if asked is not None:
        return asked
    size, budget = table_bytes(files) / MEBIBYTE, memory_budget() / MEBIBYTE
    if size > budget:
        reason = f"the data take about {size:,.0f} MiB, above the memory budget of {budget:,.0f} MiB"
        say(f"Note: {reason}, so they are streamed; --no-stream reads them as one table.")
    return size > budget
