"""Constant tables and literals in C."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skarce.export.c.reading import Reading

WIDTH = 120  # of a line of a table


@dataclass(frozen=True)
class Real:
    """A floating-point type of C.

    Attributes
    ----------
    c_type : its name
    dtype : the same in NumPy
    digits : decimal digits that tell all its numbers apart
    suffix : of its literals
    """

    c_type: str
    dtype: Any
    digits: int
    suffix: str

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return int(np.dtype(self.dtype).itemsize)

    @property
    def largest(self) -> float:
        """The largest number."""
        return float(np.finfo(self.dtype).max)

    def literal(self, value: Any) -> str:
        """Return a number as C writes it. Infinity becomes the largest number."""
        number = self.dtype(np.clip(float(value), -self.largest, self.largest))
        text = f"{number:.{self.digits}g}"
        return (text if any(letter in text for letter in ".en") else f"{text}.0") + self.suffix


FLOAT = Real("float", np.float32, 9, "f")
DOUBLE = Real("double", np.float64, 17, "")
REALS = {"float": FLOAT, "double": DOUBLE}


@dataclass
class Tables:
    """The constant tables of a model. Equal tables are written once, and not before `lines` are asked for.

    Attributes
    ----------
    prefix : how all names begin
    real : type of numbers
    reading : how tables are read
    n_bytes : of all tables so far
    """

    prefix: str
    real: Real
    n_bytes: int = 0
    _names: dict[tuple[str, bytes], str] = field(default_factory=dict)
    _entries: list[tuple[str, str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin without tables."""
        self.reading = Reading(self.prefix.upper(), self.real.c_type)

    def reals(self, label: str, values: Any) -> str:
        """Add a table of numbers and return its name."""
        numbers = np.clip(np.ravel(values), -self.real.largest, self.real.largest).astype(self.real.dtype)
        return self._add(label, self.real.c_type, numbers, self.real.size)

    def places(self, label: str, values: Any) -> str:
        """Add a table of whole numbers that are not negative, and return its name."""
        numbers = np.ravel(values).astype(np.int64)
        c_type, size = next((kind, size) for kind, size, most in PLACES if numbers.max(initial=0) <= most)
        return self._add(label, c_type, numbers, size)

    def read(self, table: str, place: str) -> str:
        """Return the expression of an entry of a table."""
        return self.reading.entry(table, place)

    @property
    def lines(self) -> list[str]:
        """The definitions of all tables."""
        return [line for entry in self._entries for line in self._definition(*entry)]

    def _add(self, label: str, c_type: str, numbers: Any, size: int) -> str:
        numbers = numbers if len(numbers) else np.zeros(1, dtype=numbers.dtype)
        key = (c_type, numbers.tobytes())
        if key in self._names:
            return self._names[key]
        name = self._names[key] = self.reading.note(f"{self.prefix}_{label}{len(self._names)}", c_type)
        self.n_bytes += size * len(numbers)
        self._entries.append((c_type, name, numbers))
        return name

    def _definition(self, c_type: str, name: str, numbers: Any) -> list[str]:
        cells = [str(number) if numbers.dtype.kind == "i" else self.real.literal(number) for number in numbers]
        c_type = f"{self.prefix}_real" if c_type == self.real.c_type else c_type
        return [f"static const {c_type} {name}[{len(cells)}] {self.prefix.upper()}_STORAGE = {{", *wrapped(cells), "};"]


PLACES = (("unsigned char", 1, 255), ("unsigned short", 2, 65535), ("unsigned long", 4, 2**32 - 1))


def wrapped(cells: list[str]) -> list[str]:
    """Return cells, comma-separated, in lines of bounded length."""
    lines, line = [], "   "
    for cell in cells:
        if len(line) + len(cell) + 2 > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {cell},"
    return [*lines, line.removesuffix(",")]
