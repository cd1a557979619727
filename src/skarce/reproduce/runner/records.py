"""Records in a file of JSON lines. Each record is appended as it arrives, so an interrupted run loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skarce.reproduce.runner.units import Record, Unit

Key = tuple[str, int, str]
KINDS: dict[str, Any] = {
    **dict.fromkeys(("experiment", "method", "settings"), str),
    **dict.fromkeys(("tuning_seconds", "seconds"), int | float),
    **dict.fromkeys(("error", "fit_seconds"), int | float | None),
    **{"repeat": int, "tuned": bool, "n_functions": int | float | None, "extras": dict, "warnings": tuple},
    **{"choice": int | float | tuple | None, "learned": tuple | None, "failure": str | None},
}  # what the values of a record are in JSON


@dataclass
class Store:
    """All records of a file by experiment, repeat, method and settings. If a unit has several records, the last one counts."""

    path: Path
    records: dict[tuple[Key, str], Record] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Read the records of a file. An incomplete last line is removed from it."""
        store = cls(path)
        if path.exists():
            whole = path.read_bytes()
            complete = whole[: whole.rfind(b"\n") + 1]
            if complete != whole:
                os.truncate(path, len(complete))
            store._keep(_parsed(complete.splitlines()))
        return store

    def add(self, record: Record) -> None:
        """Append a record, with a single write for the whole line."""
        line = json.dumps(asdict(record), allow_nan=False) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode("utf-8"))
        self._keep([record])

    def find(self, unit: Unit) -> Record | None:
        return self.records.get(((unit.experiment, unit.repeat, unit.method), unit.settings))

    def answers(self, unit: Unit) -> bool:
        """Whether this unit has a result: one that was tuned on its own split, or one with the choice that the unit asks for."""
        record = self.find(unit)
        if record is None or record.failure is not None:  # a failed unit runs again
            return False
        return record.tuned or (unit.choice is not None and record.choice == unit.choice)

    def _keep(self, records: Iterable[Record]) -> None:
        self.records |= {(record.key, record.settings): record for record in records}


def _parsed(lines: Iterable[bytes]) -> Iterable[Record]:
    """The records of all lines that contain one. Lines that are no UTF-8, no JSON or no record are left out."""
    for line in lines:
        try:
            yield record_of(json.loads(line.decode("utf-8"), parse_constant=_refuse))
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def record_of(content: Mapping[str, Any]) -> Record:
    """A record from parsed JSON, in which lists become tuples again. A value of another type than it should have is an error."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
    for name, value in values.items():
        if not isinstance(value, KINDS.get(name, object)) or (isinstance(value, bool) and name != "tuned"):
            raise TypeError(f"{name} must not be {value!r}")
        if any(not isinstance(part, int | float) for part in _numbers_in(name, value)):
            raise TypeError(f"{name} must hold numbers")
    return Record(**values)


def _numbers_in(name: str, value: Any) -> Iterable[Any]:
    """The parts of a value that must be numbers."""
    if name == "extras":
        return value.values()
    return value if isinstance(value, tuple) and name in ("choice", "learned") else ()
