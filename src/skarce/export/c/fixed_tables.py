"""Constant tables of whole numbers in C."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce.export.c.fixed_numbers import Format
from skarce.export.c.reading import Reading
from skarce.export.c.tables import wrapped

SIZES = {"int16_t": 2, "int32_t": 4, "uint8_t": 1, "uint16_t": 2, "uint32_t": 4}
PLACES = (("uint8_t", 2**8), ("uint16_t", 2**16), ("uint32_t", 2**32))


class FixedTables:
    """The constant tables of a model in whole numbers, and how they are read."""

    def __init__(self, name: str, kind: Format) -> None:
        self.name, self.kind = name, kind
        self.reading = Reading(name.upper(), kind.c_type)
        self.lines: list[str] = []
        self.n_bytes = self._n_tables = 0
        self._of_test = [self.reading.note(f"{name}_test_{label}", "int32_t") for label in ("inputs", "outputs")]

    def numbers(self, label: str, values: Any) -> str:
        """Add a table of the format and return its name."""
        return self._added(label, values, self.kind.c_type)

    def longs(self, label: str, values: Any) -> str:
        """Add a table of numbers of 32 bits and return its name."""
        return self._added(label, values, "int32_t")

    def places(self, label: str, values: Any) -> str:
        """Add a table of whole numbers that are not negative and return its name."""
        most = max([0, *np.ravel(values)])
        return self._added(label, values, next(c_type for c_type, limit in PLACES if most < limit))

    def of_test(self, inputs: Any, outputs: Any) -> tuple[list[str], list[str]]:
        """Return the names and the definitions of the tables of the self-test, which do not count."""
        pairs = zip(self._of_test, (inputs, outputs), strict=True)
        return self._of_test, [line for name, values in pairs for line in self._definition(name, values, "int32_t")]

    def read(self, table: str, place: str) -> str:
        """Return the expression of an entry of a table."""
        return self.reading.entry(table, place)

    def _added(self, label: str, values: Any, c_type: str) -> str:
        name = self.reading.note(f"{self.name}_{label}{self._n_tables}", c_type)
        self._n_tables += 1
        self.n_bytes += SIZES[c_type] * max(np.size(values), 1)
        self.lines += self._definition(name, values, c_type)
        return name

    def _definition(self, name: str, values: Any, c_type: str) -> list[str]:
        cells = [str(int(value)) for value in np.ravel(values)] or ["0"]
        head = f"static const {c_type} {name}[{len(cells)}] {self.name.upper()}_STORAGE = {{"
        return [head, *wrapped(cells), "};"]
