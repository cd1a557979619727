"""Data files on the command line: which there are, how large their table would be, and their rows in blocks."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import pandas as pd
from pandas.api import types

from skarce.cli.streamed.column_kinds import check_kinds
from skarce.cli.streamed.parquet_parts import ParquetPart, parquet_parts
from skarce.datasets.content import TableError, is_gzipped
from skarce.datasets.csv_blocks import CsvPart, csv_header, csv_parts
from skarce.datasets.gaps import complete_rows, only_rows
from skarce.datasets.tables import BYTES_OF_A_VALUE, Table, is_parquet, row_number
from skarce.designs.arrow_columns import Layout
from skarce.designs.parquet import opened
from skarce.designs.parquet_files import DataFile, find_files

BLOCK_ROWS = 65_536  # rows of a block at most
BLOCK_VALUES = 2**22  # values of a block, if there are many columns
FEWEST_BLOCK_ROWS = 1024
UNPACKED = 4.0  # bytes of text for each byte of a gzipped file, roughly
Found = TypeVar("Found")


class Place(NamedTuple):
    """A row: the number of its file, and its number in the file."""

    file: int
    row: int


BEGINNING = Place(0, 0)


class ChangedFileError(TableError):
    """A file is not as it was when it was found.

    Attributes
    ----------
    found : str
        What happened, for a message with another remedy.
    """

    def __init__(self, file: DataFile) -> None:
        self.found = f"{file.name} has changed since this command found it"
        super().__init__(f"{self.found}; run the command again.")


class Part(Protocol):
    """Some rows of one file: as a table, and as they are in the file."""

    def table(self, text_columns: Collection[str] = ()) -> Table:
        """The rows with numbers as numbers. `text_columns` of a CSV file are read as text."""

    def verbatim(self) -> Any:
        """The rows as a frame that can be written again."""


class TableBlock(NamedTuple):
    """Some rows of one file as a table with the chosen columns, the place after them, and how many rows were left out."""

    table: Table
    after: Place
    n_left_out: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.table.frame)


@dataclass(frozen=True)
class DataFiles:
    """Files of one format with the same columns, in the order of their paths.

    Attributes
    ----------
    files : tuple of DataFile
        The files.
    columns : tuple of str
        The columns to read, in this order. Files may have more.
    drops_gaps : bool
        Whether blocks leave out rows with missing values.
    """

    files: tuple[DataFile, ...]
    columns: tuple[str, ...]
    drops_gaps: bool = False

    @classmethod
    def of(cls, files: tuple[DataFile, ...]) -> DataFiles:
        """Take all columns of the first file. Whether the others have them is not checked yet."""
        if len({is_parquet(file.path) for file in files}) > 1:
            raise TableError("some files are Parquet and others are CSV; use files of one format.")
        return cls(files, tuple(_names(files[0])))

    @property
    def name(self) -> str:
        """The files for messages."""
        n_others = len(self.files) - 1
        return self.files[0].name + (f" and {n_others} more file{'s'[: n_others != 1]}" if n_others else "")

    @property
    def paths(self) -> list[Path]:
        """Where the files are."""
        return [file.path for file in self.files]

    @property
    def n_rows(self) -> int | None:
        """The number of all rows if the files tell it, as Parquet files do."""
        return sum(_metadata(file).num_rows for file in self.files) if is_parquet(self.files[0].path) else None

    @property
    def block_rows(self) -> int:
        """The number of rows in a block."""
        return min(BLOCK_ROWS, max(FEWEST_BLOCK_ROWS, BLOCK_VALUES // len(self.columns)))

    def with_columns(self, names: Sequence[str]) -> DataFiles:
        """The same files with only some columns, after a check that all files have them, and Parquet files of the same kind."""
        for file in self.files:
            table = Table(pd.DataFrame(columns=_names(file)), file.name, row_number)
            for name in names:
                table.column(name)
        if is_parquet(self.files[0].path):
            _explained(lambda: check_kinds(self.files, names))
        return replace(self, columns=tuple(names))

    def empty_table(self) -> Table:
        """The columns of the first file as a table without rows."""
        return Table(pd.DataFrame(columns=list(self.columns)), self.files[0].name, row_number)

    def blocks(self, text_columns: Collection[str] = (), start: Place = BEGINNING) -> Iterator[TableBlock]:
        """Yield the rows from a place on. Blocks do not go on from one file to the next, so they do not depend on the start."""
        blocks = self._all_blocks(text_columns, start)
        return self._without_gaps(blocks) if self.drops_gaps else blocks

    def _all_blocks(self, text_columns: Collection[str], start: Place) -> Iterator[TableBlock]:
        for part, after in self._placed_parts(start):
            table = part.table(text_columns)
            table = replace(table, frame=table.frame[list(self.columns)])
            yield TableBlock(table, after)

    def _without_gaps(self, blocks: Iterator[TableBlock]) -> Iterator[TableBlock]:
        """Yield blocks without the rows that have missing values. A block of which nothing is left counts for the one before."""
        held, n_left_out = None, 0
        for block in blocks:
            rows = complete_rows(block.table, self.columns)
            n_left_out += block.n_rows - len(rows)
            if len(rows):
                if held is not None:
                    yield held
                held, n_left_out = TableBlock(only_rows(block.table, rows), block.after, n_left_out), 0
            elif held is not None:
                held, n_left_out = TableBlock(held.table, block.after, held.n_left_out + n_left_out), 0
        if held is not None:
            yield held

    def parts(self) -> Iterator[CsvPart | ParquetPart]:
        """Yield the rows as they are in their files. Parts of CSV files have all columns of the file."""
        return (part for part, _ in self._placed_parts(BEGINNING))

    def whole(self) -> Table:
        """All rows as one table. A column that is text in one CSV file is text in all of them."""
        texts: set[str] = set()
        while True:
            tables = [block.table for block in self.blocks(texts)]
            found = {name for name in self.columns if _becomes_text([table.frame[name] for table in tables])}
            if found <= texts or is_parquet(self.files[0].path):
                return _joined(tables, self.name)
            texts |= found

    def _placed_parts(self, start: Place) -> Iterator[tuple[CsvPart | ParquetPart, Place]]:
        for number in range(start.file, len(self.files)):
            file, row = self.files[number], start.row if number == start.file else 0
            _check_unchanged(file)
            for part in self._parts_of(file, row):
                row += part.n_rows
                yield part, Place(number, row)
            _check_unchanged(file)

    def _parts_of(self, file: DataFile, skip: int) -> Iterator[CsvPart | ParquetPart]:
        if not is_parquet(file.path):
            yield from csv_parts(file.path, self.block_rows, skip)
            return
        parts = parquet_parts(file, self.columns, self.block_rows, skip)
        while (part := _explained(lambda: next(parts, None))) is not None:
            yield part


def _explained(work: Callable[[], Found]) -> Found:
    """Do some work on files. Its errors say what is wrong with them."""
    try:
        return work()
    except ImportError as error:
        raise TableError(f"{error}.") from None
    except OSError as error:
        raise TableError(f"{error.filename}: {error.strerror}." if error.filename else str(error)) from None
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, TableError) else TableError(str(error)) from None


def _names(file: DataFile) -> list[str]:
    """The names of the columns of a file. The index of a pandas data frame is none of them; Hive keys are."""
    if not is_parquet(file.path):
        return csv_header(file.path)
    layout = _explained(lambda: _layout(file))
    if layout.repeated:
        raise TableError(f"{file.name} has more than one column named {min(layout.repeated)!r}; give each column its own name.")
    return [*(name for name in layout.types if name not in layout.index), *(key for key in file.keys if key not in layout.types)]


def _layout(file: DataFile) -> Layout:
    with opened(file) as content:
        return Layout.of(content.schema_arrow, file.name)


def _metadata(file: DataFile) -> Any:
    def read() -> Any:
        with opened(file) as content:
            return content.metadata

    return _explained(read)


def found_files(paths: Sequence[Path]) -> tuple[DataFile, ...]:
    """The files of paths, folders and patterns, in the order of their paths."""
    return tuple(_explained(lambda: find_files([str(path) for path in paths])))


def table_bytes(files: Sequence[DataFile]) -> float:
    """An estimate of the memory that all rows take as a table."""
    return sum(_table_bytes(file) for file in files)


def _table_bytes(file: DataFile) -> float:
    if not is_parquet(file.path):
        return file.stamp[0] * (UNPACKED if is_gzipped(file.path) else 1.0)
    metadata = _metadata(file)
    return float(BYTES_OF_A_VALUE * metadata.num_rows * metadata.num_columns)


def _check_unchanged(file: DataFile) -> None:
    if not file.is_unchanged:
        raise ChangedFileError(file)


def _becomes_text(parts: list[Any]) -> bool:
    """Whether a column of these parts is text: one part is, or some are words for true and false and others are numbers."""
    are_bool = {bool(types.is_bool_dtype(values)) for values in parts}
    return len(are_bool) > 1 or not all(types.is_bool_dtype(values) or types.is_numeric_dtype(values) for values in parts)


def _joined(tables: list[Table], name: str) -> Table:
    """Tables one below the other. The place of a row names its file."""
    if not tables:
        raise TableError(f"there are no rows in {name}.")
    ends = list(accumulate(len(table.frame) for table in tables))

    def place(row: int) -> str:
        number = bisect.bisect_right(ends, row)
        table = tables[number]
        return f"{table.place(row - ends[number] + len(table.frame))} of {table.name}"

    return Table(pd.concat([table.frame for table in tables], ignore_index=True), name, place)
