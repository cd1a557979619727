"""A CSV file as tables of a few rows each, for files that are larger than memory."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pandas as pd

from skarce._text import one_line
from skarce.datasets.content import TableError, is_gzipped, reading
from skarce.datasets.csv_text import check_beginning, check_header, refuse_open_quote, refuse_row, unreadable
from skarce.datasets.tables import Table

FIRST_BYTES = 64  # of a file, which tell its format


class Record(NamedTuple):
    """A record of a CSV file: the line in which it begins, how many fields it has, and its text with line breaks."""

    line: int
    n_fields: int
    text: str

    @property
    def fields(self) -> list[str]:
        """The fields."""
        return next(csv.reader(io.StringIO(self.text, newline=""), skipinitialspace=True))


def csv_header(path: Path) -> list[str]:
    """The names of the columns of a CSV file, gzipped if its name ends in .gz."""
    with _opened(path) as file:
        return _header(_records(file, path), path)


@dataclass(frozen=True)
class CsvPart:
    """Some rows of a CSV file, as they are in it.

    Attributes
    ----------
    path : Path
        The file.
    names : list of str
        The names of its columns.
    records : list of Record
        The rows.
    """

    path: Path
    names: list[str]
    records: list[Record]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.records)

    def table(self, text_columns: Collection[str] = ()) -> Table:
        """The rows with numbers as numbers. `text_columns` are read as text; others are numbers if all values in these rows are."""
        frame = self._frame({"low_memory": False, "dtype": {name: str for name in text_columns if name in self.names}})
        lines = [record.line for record in self.records]
        return Table(frame, str(self.path), lambda row: f"line {lines[row]}")

    def verbatim(self) -> Any:
        """The rows as they are in the file, to be written again: fields stay text."""
        return self._frame({"dtype": str, "keep_default_na": False})

    def _frame(self, options: dict[str, Any]) -> Any:
        """The frame that pandas reads. If it finds another number of rows, the two disagree about quotes."""
        content = "".join(record.text for record in self.records)
        if "\0" in content:
            line = next(record.line for record in self.records if "\0" in record.text)
            raise TableError(f"{self.path} cannot be read as CSV: there is a NUL character in line {line}.")
        layout = {"header": None, "names": self.names, "skipinitialspace": True, "index_col": False}
        try:
            frame = pd.read_csv(io.StringIO(content, newline=""), **layout, **options)
        except (ValueError, OverflowError) as error:
            raise TableError(f"{self.path} cannot be read as CSV: {one_line(error)}") from None
        if len(frame) != len(self.records):
            raise TableError(f"{self.path} cannot be read as CSV: quotes in the middle of a field are ambiguous; double them.")
        return frame


def csv_parts(path: Path, n_rows: int, skip: int = 0) -> Iterator[CsvPart]:
    """Yield parts of `n_rows` rows, and a last one with the rest. The first `skip` rows are left out."""
    with _opened(path) as file:
        records = _records(file, path)
        names = _header(records, path)
        waiting: list[Record] = []
        for number, record in enumerate(records):
            if record.n_fields != len(names):
                refuse_open_quote(record.text, path, record.line)
                refuse_row(path, record.line, record.fields, names)
            if number >= skip:
                waiting.append(record)
            if len(waiting) == n_rows:
                yield CsvPart(path, names, waiting)
                waiting = []
        if waiting:
            yield CsvPart(path, names, waiting)


def _records(file: TextIO, path: Path) -> Iterator[Record]:
    """Yield the records of a file; blank lines are not records. Only lines with quotes need the CSV reader."""
    record, n_lines = Record(1, 0, ""), 0
    try:
        for line in file:
            begins = n_lines + 1
            n_fields, text, n_more = _quoted_record(line, file) if '"' in line else (line.count(",") + 1, line, 0)
            n_lines += 1 + n_more
            if n_fields > 1 or not text.isspace():
                record = Record(begins, n_fields, text)
                yield record
    except csv.Error as error:
        raise unreadable(path, record.line, error) from None
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} after line {record.line}"
        raise TableError(f"{path} is not UTF-8 text ({byte}), so it cannot be read as CSV; save it in UTF-8.") from None
    refuse_open_quote(record.text, path, record.line)


def _quoted_record(first: str, file: TextIO) -> tuple[int, str, int]:
    """The number of fields of a record that begins in this line, its text, and the number of lines that it goes on for."""
    lines = [first]

    def read() -> Iterator[str]:
        yield first
        for line in file:
            lines.append(line)
            yield line

    n_fields = len(next(csv.reader(read(), skipinitialspace=True)))
    return n_fields, "".join(lines), len(lines) - 1


def _header(records: Iterator[Record], path: Path) -> list[str]:
    first = next(records, None)
    if first is None:
        raise TableError(f"{path} is empty.")
    names = first.fields
    check_header(names, path)
    return names


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with reading(path), gzip.open(path) if is_gzipped(path) else path.open("rb") as file:
        check_beginning(file.peek(FIRST_BYTES)[:FIRST_BYTES], path)  # type: ignore[union-attr]
        with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:  # type: ignore[arg-type]
            yield text
