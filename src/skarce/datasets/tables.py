"""Data files as tables. Each problem with a file is reported in one sentence that says where it is."""

from __future__ import annotations

import csv
import difflib
import gzip
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.datasets import load_diabetes

PARQUET_SUFFIXES = (".parquet", ".pq")


class TableError(ValueError):
    """A table that cannot be used, and why."""


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
        close = difflib.get_close_matches(name, self.frame.columns)
        hint = f"did you mean {listed(close)}?" if close else f"its columns are {listed(self.frame.columns)}."
        raise TableError(f"{self.name} has no column {name!r}; {hint}")


def read_table(path: Path, text_columns: Collection[str] = ()) -> Table:
    """Read a Parquet file if the name says so, else a CSV file, gzipped if the name ends in .gz.

    `text_columns` are read as text even if all their values look like numbers.
    """
    if is_parquet(path):
        table = Table(_read(_parquet_frame, path, "Parquet"), str(path), row_number)
    else:
        options = {"low_memory": False, "dtype": dict.fromkeys(text_columns, str)}
        table = Table(_read(lambda source: _csv_frame(source, options), path, "CSV"), str(path), lambda row: _csv_line(path, row))
    if not len(table.frame):
        raise TableError(f"{path} has no rows.")
    return table


def read_verbatim(path: Path) -> Any:
    """The table as it is in the file, to be written again: the fields of a CSV file stay text."""
    if is_parquet(path):
        return _read(_parquet_frame, path, "Parquet")
    return _read(lambda source: _csv_frame(source, {"dtype": str, "keep_default_na": False}), path, "CSV")


def is_parquet(path: Path) -> bool:
    """Whether the name says that the file is Parquet."""
    return path.suffix.lower() in PARQUET_SUFFIXES


def is_gzipped(path: Path) -> bool:
    """Whether the name says that the file is gzipped."""
    return path.suffix.lower() == ".gz"


def diabetes_table() -> Table:
    """The diabetes data that come with scikit-learn; the target is called ``target``."""
    return Table(load_diabetes(as_frame=True).frame, "the diabetes data of scikit-learn", row_number)


def row_number(row: int) -> str:
    """Where a row is in a source without lines."""
    return f"row {row + 1}"


def listed(names: Collection[str]) -> str:
    """Quoted names, comma-separated."""
    return ", ".join(repr(name) for name in names)


def _read(reader: Callable[[Path], Any], path: Path, kind: str) -> Any:
    """The frame in a file, or one sentence that says why it cannot be read."""
    try:
        frame = reader(path)
    except TableError:
        raise
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None
    except pd.errors.EmptyDataError:
        raise TableError(f"{path} is empty.") from None
    except ImportError:
        raise TableError(f"{path} is a Parquet file, and reading it needs pyarrow: install skarce[parquet].") from None
    except UnicodeDecodeError:
        raise TableError(f"{path} is not UTF-8 text, so it cannot be read as {kind}.") from None
    except (EOFError, zlib.error):
        raise TableError(f"{path} is not a complete gzip file.") from None
    except (ValueError, csv.Error) as error:
        raise TableError(f"{path} cannot be read as {kind}: {' '.join(str(error).split())}") from None
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _parquet_frame(path: Path) -> Any:
    path.open("rb").close()  # a missing file is reported before a missing pyarrow
    frame = pd.read_parquet(path)
    _refuse_duplicates(path, list(frame.columns))
    return frame


def _csv_frame(path: Path, options: dict[str, Any]) -> Any:
    frame = pd.read_csv(path, compression="gzip" if is_gzipped(path) else None, skipinitialspace=True, **options)
    _refuse_duplicates(path, next(fields for _, fields in _csv_records(path)))
    if not isinstance(frame.index, pd.RangeIndex):
        raise TableError(f"{path}: the rows have more fields than the header has names.")
    return frame


def _csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line in which each record begins, and its fields; blank lines are not records."""
    open_text = gzip.open if is_gzipped(path) else open
    with open_text(path, "rt", newline="", encoding="utf-8-sig") as lines:
        reader, begins = csv.reader(lines, skipinitialspace=True), 1
        for fields in reader:
            if any(text.strip() for text in fields[:1]) or len(fields) > 1:
                yield begins, fields
            begins = reader.line_num + 1


def _csv_line(path: Path, row: int) -> str:
    """The line in which a row begins. The header is line 1; quoted line breaks and blank lines count."""
    begins = (line for record, (line, _) in enumerate(_csv_records(path)) if record == row + 1)
    return f"line {next(begins, row + 2)}"


def _refuse_duplicates(path: Path, names: list[str]) -> None:
    duplicates = [name for name in dict.fromkeys(names) if name and names.count(name) > 1]
    if duplicates:
        raise TableError(f"{path} has more than one column named {listed(duplicates)}; give each column its own name.")
