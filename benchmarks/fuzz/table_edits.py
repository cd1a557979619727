"""Edits of the bytes of a CSV file."""

from __future__ import annotations


def inserted(data: bytes, place: int, text: str) -> bytes:
    """The bytes with text inserted at a place, counted modulo the length."""
    place %= len(data) + 1
    return data[:place] + text.encode() + data[place:]


def with_cell(data: bytes, row: int, column: int, text: str) -> bytes:
    """The table with another text in one cell. Row 0 is the header."""
    lines = data.split(b"\n")
    lines[row % len(lines)] = _with_field(lines[row % len(lines)], column, text)
    return b"\n".join(lines)


def with_column(data: bytes, column: int, text: str) -> bytes:
    """The table with the same text in all rows of a column."""
    header, *lines = data.split(b"\n")
    return b"\n".join([header, *(_with_field(line, column, text) for line in lines)])


def _with_field(line: bytes, column: int, text: str) -> bytes:
    fields = line.split(b",")
    fields[column % len(fields)] = text.encode()
    return b",".join(fields)
