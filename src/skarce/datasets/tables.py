"""Data files as tables. Each problem with a file is reported in one sentence that says where it is."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api import types
from sklearn.datasets import load_diabetes

from skarce._text import listed, one_line, quoted, similar
from skarce.datasets.content import LARGEST, TableError, is_gzipped, read_content
from skarce.datasets.csv_text import checked_shape, csv_text, line_of

__all__ = ["Table", "TableError", "TableFile", "diabetes_table", "is_gzipped", "is_parquet", "listed", "read_table", "row_number"]
PARQUET_SUFFIXES = (".parquet", ".pq")
BYTES_OF_A_VALUE = 8  # at least, in memory


@dataclass(frozen=True)
class Table:
    """Rows with named columns, the name of their source, and a function that says where in the source a row is."""

    frame: Any
    name: str
    place: Callable[[int], str]

    def column(self, name: str) -> Any:
        """The column of this name; if there is none, the error lists similar names."""
        if name in self.frame:
            return self.frame[name]
        close = similar(name, self.frame.columns)
        hint = f"did you mean {close}?" if close else f"its columns are {listed(self.frame.columns)}."
        raise TableError(f"{self.name} has no column {quoted(name)}; {hint}")

    def without(self, names: Collection[str]) -> Table:
        """The table without some columns."""
        for name in names:
            self.column(name)
        return replace(self, frame=self.frame.drop(columns=list(names)))


@dataclass(frozen=True)
class TableFile:
    """The content of a data file: Parquet if the name says so, else CSV."""

    path: Path
    content: bytes

    def table(self, text_columns: Collection[str] = ()) -> Table:
        """The rows with numbers as numbers. `text_columns` are read as text even if all their values look like numbers."""
        if is_parquet(self.path):
            table = Table(_without_decimals(self._parquet_frame()), str(self.path), row_number)
        else:
            frame = self._csv_frame({"low_memory": False, "dtype": dict.fromkeys(text_columns, str)})
            table = Table(frame, str(self.path), lambda row: line_of(self._text, row))
        if not len(table.frame):
            raise TableError(f"{self.path} has no rows.")
        return table

    def verbatim(self) -> Any:
        """The table as it is in the file, to be written again: the fields of a CSV file stay text."""
        return self._parquet_frame() if is_parquet(self.path) else self._csv_frame({"dtype": str, "keep_default_na": False})

    @cached_property
    def _text(self) -> str:
        return csv_text(self.content, self.path)

    def _csv_frame(self, options: dict[str, Any]) -> Any:
        """The frame that pandas reads. It must have the shape that was checked, or the two disagree about quotes."""
        names, n_rows = checked_shape(self._text, self.path)
        try:
            frame = pd.read_csv(io.StringIO(self._text, newline=""), skipinitialspace=True, index_col=False, **options)
        except (ValueError, OverflowError) as error:
            raise TableError(f"{self.path} cannot be read as CSV: {one_line(error)}") from None
        if list(frame.columns) != names or len(frame) != n_rows:
            raise TableError(f"{self.path} cannot be read as CSV: quotes in the middle of a field are ambiguous; double them.")
        return frame

    def _parquet_frame(self) -> Any:
        try:
            _refuse_bombs(self.content, self.path)
            frame = pd.read_parquet(io.BytesIO(self.content))
        except (TableError, MemoryError):
            raise
        except ImportError:
            remedy = "reading it needs pyarrow: install skarce[parquet]"
            raise TableError(f"{self.path} is a Parquet file, and {remedy}.") from None
        except Exception as error:  # a damaged file can raise anything in the reader
            raise TableError(f"{self.path} cannot be read as Parquet: {one_line(error)}") from None
        frame.columns = [str(name) for name in frame.columns]
        duplicates = frame.columns[frame.columns.duplicated()].unique()
        if len(duplicates):
            raise TableError(f"{self.path} has more than one column named {listed(duplicates)}; give each column its own name.")
        return frame


def read_table(path: Path, text_columns: Collection[str] = ()) -> Table:
    """Read a Parquet file if the name says so, else a CSV file, gzipped if the name ends in .gz.

    `text_columns` are read as text even if all their values look like numbers.
    """
    return TableFile(path, read_content(path)).table(text_columns)


def _without_decimals(frame: Any) -> Any:
    """The frame with floating-point numbers in place of decimals, which pandas keeps as objects."""
    are_decimal = [
        name for name in frame if frame[name].dtype == object and types.infer_dtype(frame[name], skipna=True) == "decimal"
    ]
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in are_decimal})


def _refuse_bombs(content: bytes, path: Path) -> None:
    """Raise if a small file says that it holds more values than fit into memory."""
    from pyarrow import parquet

    metadata = parquet.read_metadata(io.BytesIO(content))
    if BYTES_OF_A_VALUE * metadata.num_rows * metadata.num_columns > LARGEST:
        raise TableError(f"{path} holds {metadata.num_rows} rows of {metadata.num_columns} columns, too many; use fewer rows.")


def is_parquet(path: Path) -> bool:
    """Whether the name says that the file is Parquet."""
    return path.suffix.lower() in PARQUET_SUFFIXES


def diabetes_table() -> Table:
    """The diabetes data that come with scikit-learn; the target is called ``target``."""
    return Table(load_diabetes(as_frame=True).frame, "the diabetes data of scikit-learn", row_number)


def row_number(row: int) -> str:
    """Where a row is in a source without lines."""
    return f"row {row + 1}"
