"""Rows of Parquet files, read in blocks. Memory does not grow with the number of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from skarce._text import one_line
from skarce.designs.arrow import Arrays, Piece, blocks, numbered
from skarce.designs.arrow_columns import Columns, Layout, pyarrow
from skarce.designs.parquet_files import DataFile, find_files

BUFFER_BYTES = 2**16  # of a column that are read from a file at a time; without a limit, whole row groups are
TRUTH = {"true": 1.0, "false": 0.0}
NULL_KEY = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class ParquetRows:
    """Rows of Parquet files in a fixed order.

    Parameters
    ----------
    files : tuple of DataFile
        The files, which all have rows.
    columns : Columns
        The columns to read.
    batch_rows : int
        The number of rows in a block.
    n_rows : int
        The number of rows in all files.
    """

    files: tuple[DataFile, ...]
    columns: Columns
    batch_rows: int
    n_rows: int

    @classmethod
    def of(cls, paths: Any, columns: Columns, batch_rows: int) -> ParquetRows:
        """Find the files and check their columns. No rows are read."""
        pyarrow()  # before the files, so that what is missing first is said first
        found, files, are_single, n_rows = find_files(paths), [], [], 0
        for file in found:
            layout, n_own = _layout(file)
            if layout is None:
                continue
            n_rows += n_own
            columns = columns.within(layout)
            files.append(file)
            are_single.append(columns.is_single)
        if not files:
            raise ValueError(f"{found[0].name}{' and all other files have' if len(found) > 1 else ' has'} no rows.")
        return cls(tuple(files), replace(columns, is_single=all(are_single)), batch_rows, n_rows)

    def read(self) -> Iterator[Arrays]:
        """Yield (X, y) or (X, y, weights) for each block. One file is open at a time."""
        return blocks(self._pieces(), self.columns, self.batch_rows)

    def _pieces(self) -> Iterator[Piece]:
        for file in self.files:
            file.check_unchanged()
            yield from numbered(_batches(file, self.columns.names, self.batch_rows), file.name)
            file.check_unchanged()


def _layout(file: DataFile) -> tuple[Layout | None, int]:
    """Return the columns of a file with its Hive keys, and the number of its rows. Without rows, there are no columns."""
    with opened(file) as content:
        n_rows = int(content.metadata.num_rows)
        if not n_rows:
            return None, 0
        layout = Layout.of(content.schema_arrow, file.name)
    keys = {name: _key_type(value) for name, value in file.keys.items()}
    return replace(layout, types=layout.types | keys, repeated=layout.repeated - keys.keys()), n_rows


def _batches(file: DataFile, names: tuple[str, ...], batch_rows: int) -> Iterator[Any]:
    """Yield record batches of these columns. Hive keys come before columns of the same name."""
    pa = pyarrow()
    keys = {name: key_number(file.keys[name]) for name in names if name in file.keys}
    stored = [name for name in names if name not in keys]
    with opened(file) as content:
        for batch in content.iter_batches(batch_size=batch_rows, columns=stored):
            columns = [batch.column(name) for name in stored]
            constants = [pa.repeat(value, batch.num_rows) for value in keys.values()]
            yield pa.RecordBatch.from_arrays([*columns, *constants], names=[*stored, *keys])


@contextmanager
def opened(file: DataFile) -> Iterator[Any]:
    """Open a Parquet file, and close it afterwards. A damaged file can raise anything in the reader."""
    pyarrow()
    from pyarrow.parquet import ParquetFile

    try:
        # With pre_buffer, which is the default of newer versions, all rows would stay in memory until the file is closed.
        options = {"pre_buffer": False, "buffer_size": BUFFER_BYTES, "page_checksum_verification": True}
        with ParquetFile(file.path, **options) as content:
            yield content
    except MemoryError as error:
        raise MemoryError(f"{file.name} is damaged or needs too much memory: {one_line(error)}") from None
    except Exception as error:
        raise ValueError(f"{file.name} cannot be read as Parquet: {one_line(error)}") from None


def key_number(value: str) -> float | None:
    """Return the value of a Hive key as a number, or None if it is text."""
    if value.lower() in TRUTH:
        return TRUTH[value.lower()]
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in value else None


def _key_type(value: str) -> Any:
    pa = pyarrow()
    if value == NULL_KEY:
        return pa.null()
    return pa.string() if key_number(value) is None else pa.float64()
