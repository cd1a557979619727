"""CSV as text with a header and rows of equal length. Whatever else it is, the error says in which line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from skarce._text import listed, quoted
from skarce.datasets.content import TableError

OTHER_FORMATS = {
    b"PAR1": "is a Parquet file; give it a name that ends in .parquet.",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; save the table as CSV.",
    b"\x1f\x8b": "is gzipped; give it a name that ends in .gz.",
    b"\xff\xfe": "is not UTF-8 text but UTF-16; save it as CSV in UTF-8.",
    b"\xfe\xff": "is not UTF-8 text but UTF-16; save it as CSV in UTF-8.",
}  # by their first bytes
OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
LIKE_JSON = re.compile(rb"\s*(\[\s*)?\{\s*\"")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


def csv_text(content: bytes, path: Path) -> str:
    """The text of a CSV file."""
    check_beginning(content, path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{content[error.start]:02x} in line {line}"
        raise TableError(f"{path} is not UTF-8 text ({byte}), so it cannot be read as CSV; save it in UTF-8.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TableError(f"{path} cannot be read as CSV: there is a NUL character in line {line}.")
    return text


def check_beginning(content: bytes, path: Path) -> None:
    """Raise if the first bytes of a file are those of another format."""
    for beginning, problem in OTHER_FORMATS.items():
        if content.startswith(beginning):
            raise TableError(f"{path} {problem}")
    if LIKE_JSON.match(content):
        raise TableError(f"{path} looks like JSON; save the table as CSV.")


def records(text: str) -> Iterator[tuple[int, list[str]]]:
    """The line in which each record begins, and its fields; blank lines are not records."""
    reader, begins = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True), 1
    for fields in reader:
        if any(field.strip() for field in fields[:1]) or len(fields) > 1:
            yield begins, fields
        begins = reader.line_num + 1


def line_of(text: str, row: int) -> str:
    """The line in which a row begins. The header is line 1; quoted line breaks and blank lines count."""
    begins = (line for record, (line, _) in enumerate(records(text)) if record == row + 1)
    return f"line {next(begins, row + 2)}"


def checked_shape(text: str, path: Path) -> tuple[list[str], int]:
    """The names of the columns and the number of rows. All rows have as many fields as there are names."""
    names, n_rows, line = None, 0, 1
    try:
        for line, fields in records(text):
            if names is None:
                names = fields
                check_header(names, path)
            elif len(fields) != len(names):
                refuse_open_quote(_from_line(text, line), path, line)
                refuse_row(path, line, fields, names)
            else:
                n_rows += 1
    except csv.Error as error:
        raise unreadable(path, line, error) from None
    if names is None:
        raise TableError(f"{path} is empty.")
    refuse_open_quote(_from_line(text, line), path, line)
    return names, n_rows


def unreadable(path: Path, line: int, error: csv.Error) -> TableError:
    """The error for a record that the reader gives up on."""
    begins = f"the record after line {line} cannot be read ({error})"
    return TableError(f"{path} cannot be read as CSV: {begins}; is there a quote that is never closed?")


def check_header(names: list[str], path: Path) -> None:
    """Raise unless each column has its own name."""
    if len(names) == 1:
        _refuse_other_separators(names[0], path)
    empty = [place + 1 for place, name in enumerate(names) if not name.strip()]
    if empty:
        remark = "name it or drop it (pandas writes its index in this way: use index=False)"
        raise TableError(f"{path}: column {empty[0]} has no name in the header; {remark}.")
    duplicates = [name for name, n_times in _counted(names).items() if n_times > 1]
    if duplicates:
        raise TableError(f"{path} has more than one column named {listed(duplicates)}; give each column its own name.")


def _counted(names: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _refuse_other_separators(header: str, path: Path) -> None:
    for separator, word in OTHER_SEPARATORS.items():
        if separator in header:
            remedy = "separate fields by commas, and write decimals with a point"
            raise TableError(f"{path} cannot be read as CSV: its header, {quoted(header)}, is separated by {word}; {remedy}.")


def refuse_row(path: Path, line: int, fields: list[str], names: list[str]) -> None:
    """Raise because a row does not have as many fields as the header."""
    is_longer = len(fields) > len(names)
    difference = f"line {line} has {'more' if is_longer else 'fewer'} fields than the header: {len(fields)} instead of {len(names)}"
    remedy = "quote texts that hold commas, and write decimals with a point" if is_longer else f"the header is {listed(names)}"
    raise TableError(f"{path} cannot be read as CSV: {difference}; {remedy}.")


def refuse_open_quote(rest: str, path: Path, line: int) -> None:
    """Raise if the record that begins in this line, with which `rest` begins, has a quote that is never closed."""
    try:
        next(csv.reader(io.StringIO(rest, newline=""), skipinitialspace=True, strict=True), None)
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise TableError(f"{path} cannot be read as CSV: a quote that opens in line {line} is never closed.") from None


def _from_line(text: str, line: int) -> str:
    return "".join(io.StringIO(text, newline="").readlines()[line - 1 :])
