"""Constant tables and literals in C."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    """The constant tables of a model. Equal tables are written once.

    Attributes
    ----------
    prefix : how all names begin
    real : type of numbers
    n_bytes : of all tables so far
    lines : their definitions
    """

    prefix: str
    real: Real
    n_bytes: int = 0
    lines: list[str] = field(default_factory=list)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def reals(self, label: str, values: Any) -> str:
        """Add a table of numbers and return its name."""
        cells = [self.real.literal(value) for value in np.ravel(values)] or [self.real.literal(0.0)]
        return self._add(label, f"{self.prefix}_real", cells, self.real.size)

    def places(self, label: str, values: Any) -> str:
        """Add a table of whole numbers that are not negative, and return its name."""
        numbers = [int(value) for value in np.ravel(values)] or [0]
        c_type, size = next((kind, size) for kind, size, most in PLACES if max(numbers) <= most)
        return self._add(label, c_type, [str(number) for number in numbers], size)

    def _add(self, label: str, c_type: str, cells: list[str], size: int) -> str:
        key = (c_type, ",".join(cells))
        if key in self._names:
            return self._names[key]
        name = self._names[key] = f"{self.prefix}_{label}{len(self._names)}"
        self.n_bytes += size * len(cells)
        self.lines += [f"static const {c_type} {name}[{len(cells)}] {self.prefix.upper()}_STORAGE = {{", *wrapped(cells), "};"]
        return name


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
