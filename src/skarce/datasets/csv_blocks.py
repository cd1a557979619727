"""A CSV file as tables of a few rows each, for files that are larger than memory."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pandas as pd

from skarce._text import one_line
from skarce.datasets.content import TableError, is_gzipped, reading
from skarce.datasets.csv_text import check_beginning, check_header, is_record, refuse_open_quote, refuse_row, unreadable
from skarce.datasets.tables import Table

FIRST_BYTES = 64  # of a file, which tell its format


class Record(NamedTuple):
    """A record of a CSV file: the line in which it begins, its fields, and its text with line breaks."""

    line: int
    fields: list[str]
    text: str


def csv_header(path: Path) -> list[str]:
    """The names of the columns of a CSV file, gzipped if its name ends in .gz."""
    with _opened(path) as file:
        return _header(_records(file, path), path)


def csv_tables(path: Path, n_rows: int, text_columns: Collection[str] = (), skip: int = 0) -> Iterator[Table]:
    """Yield tables of `n_rows` rows, and a last one with the rest. The first `skip` rows are left out.

    `text_columns` are read as text. Other columns of a table are numbers if all their values in these rows are.
    """
    with _opened(path) as file:
        records = _records(file, path)
        names = _header(records, path)
        texts = {name: str for name in text_columns if name in names}
        waiting: list[tuple[int, str]] = []
        for number, record in enumerate(records):
            if len(record.fields) != len(names):
                refuse_open_quote(record.text, path, record.line)
                refuse_row(path, record.line, record.fields, names)
            if number >= skip:
                waiting.append((record.line, record.text))  # not the fields, which take more memory
            if len(waiting) == n_rows:
                yield _table(waiting, path, names, texts)
                waiting = []
        if waiting:
            yield _table(waiting, path, names, texts)


class _Lines:
    """The lines of a file, one after the other. Those that were read last can be taken as text."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._read = file, list[str]()

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self._read.append(line)
            yield line

    def take(self) -> str:
        """The lines since the last call."""
        text = "".join(self._read)
        self._read.clear()
        return text


def _records(file: TextIO, path: Path) -> Iterator[Record]:
    """Yield the records of a file; blank lines are not records."""
    lines, record = _Lines(file), Record(1, [], "")
    reader, begins = csv.reader(lines, skipinitialspace=True), 1
    try:
        for fields in reader:
            text = lines.take()
            if is_record(fields):
                record = Record(begins, fields, text)
                yield record
            begins = reader.line_num + 1
    except csv.Error as error:
        raise unreadable(path, record.line, error) from None
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} after line {record.line}"
        raise TableError(f"{path} is not UTF-8 text ({byte}), so it cannot be read as CSV; save it in UTF-8.") from None
    refuse_open_quote(record.text, path, record.line)


def _header(records: Iterator[Record], path: Path) -> list[str]:
    first = next(records, None)
    if first is None:
        raise TableError(f"{path} is empty.")
    check_header(first.fields, path)
    return first.fields


def _table(records: list[tuple[int, str]], path: Path, names: list[str], texts: dict[str, Any]) -> Table:
    """The table of records with their lines. If pandas finds another number of rows, the two disagree about quotes."""
    content = "".join(text for _, text in records)
    if "\0" in content:
        line = next(line for line, text in records if "\0" in text)
        raise TableError(f"{path} cannot be read as CSV: there is a NUL character in line {line}.")
    options = {"header": None, "names": names, "skipinitialspace": True, "index_col": False, "low_memory": False, "dtype": texts}
    try:
        frame = pd.read_csv(io.StringIO(content, newline=""), **options)
    except (ValueError, OverflowError) as error:
        raise TableError(f"{path} cannot be read as CSV: {one_line(error)}") from None
    if len(frame) != len(records):
        raise TableError(f"{path} cannot be read as CSV: quotes in the middle of a field are ambiguous; double them.")
    lines = [line for line, _ in records]
    return Table(frame, str(path), lambda row: f"line {lines[row]}")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with reading(path), gzip.open(path) if is_gzipped(path) else path.open("rb") as file:
        check_beginning(file.peek(FIRST_BYTES)[:FIRST_BYTES], path)  # type: ignore[union-attr]
        with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:  # type: ignore[arg-type]
            yield text
