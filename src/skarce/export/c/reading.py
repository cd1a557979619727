"""Macros that move tables: where they lie, and how an entry of each type is read. A macro reads entries of one size only."""

from __future__ import annotations

from dataclasses import dataclass, field

NUMBERS = "READ"  # of the type that most numbers of a header have
OTHERS = {
    "READ_LONG": ("int32_t",),
    "READ_PLACE": ("unsigned char", "uint8_t"),
    "READ_PLACE2": ("unsigned short", "uint16_t"),
    "READ_PLACE4": ("unsigned long", "uint32_t"),
}
ON_AVR = {
    "float": "pgm_read_float",
    "int16_t": "(int16_t)pgm_read_word",
    "int32_t": "(int32_t)pgm_read_dword",
    **dict.fromkeys(OTHERS["READ_PLACE"], "pgm_read_byte"),
    **dict.fromkeys(OTHERS["READ_PLACE2"], "pgm_read_word"),
    **dict.fromkeys(OTHERS["READ_PLACE4"], "pgm_read_dword"),
}


@dataclass
class Reading:
    """How the tables of a header are read.

    Attributes
    ----------
    prefix : how all macros begin, in capitals
    c_type : the type that `NUMBERS` reads
    """

    prefix: str
    c_type: str
    _types: dict[str, str] = field(default_factory=dict)

    def note(self, table: str, c_type: str) -> str:
        """Note the type of a table, and return its name."""
        self._types[table] = c_type
        return table

    def entry(self, table: str, place: str) -> str:
        """Return the expression of an entry of a table."""
        return f"{self.prefix}_{self._macro(self._types[table])}({table}, {place})"

    @property
    def macros(self) -> dict[str, str]:
        """The macros that this header needs beside that of the storage, and the types that they read."""
        found = {self._macro(c_type): c_type for c_type in self._types.values()}
        return {NUMBERS: self.c_type} | {macro: found[macro] for macro in OTHERS if macro in found}

    def names(self) -> list[str]:
        """Return the names of all macros that move tables."""
        return [f"{self.prefix}_{macro}" for macro in ("STORAGE", *self.macros)]

    def lines(self) -> list[str]:
        """Return what the macros are if they are not defined before the header."""
        storage = f"{self.prefix}_STORAGE"
        lines = [f"#ifndef {storage} /* where tables lie, such as PROGMEM or a section of flash */", f"#define {storage}", "#endif"]
        for macro, c_type in self.macros.items():
            example = f", such as {ON_AVR[c_type]}(&(table)[place])" if c_type in ON_AVR else ""
            lines += [
                f"#ifndef {self.prefix}_{macro} /* how an entry of a table of {c_type} is read{example} */",
                f"#define {self.prefix}_{macro}(table, place) ((table)[(place)])",
                "#endif",
            ]
        return lines

    def _macro(self, c_type: str) -> str:
        return NUMBERS if c_type == self.c_type else next(macro for macro, types in OTHERS.items() if c_type in types)
