"""Records in a file of JSON lines: each is appended as it arrives, so that an interrupted run loses nothing it had."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skarce.reproduce.runner.units import Record, Unit

Key = tuple[str, int, str]


@dataclass
class Store:
    """All records of a file by experiment, repeat, method and settings; of several for one unit the last counts."""

    path: Path
    records: dict[tuple[Key, str], Record] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Read what is there; a last line that was cut short is taken away."""
        store = cls(path)
        if path.exists():
            whole = path.read_bytes()
            complete = whole[: whole.rfind(b"\n") + 1]
            if complete != whole:
                os.truncate(path, len(complete))
            store._keep(_parsed(complete.decode("utf-8").splitlines()))
        return store

    def add(self, record: Record) -> None:
        """Append a record: one write for the whole line."""
        line = json.dumps(asdict(record), allow_nan=False) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode("utf-8"))
        self._keep([record])

    def find(self, unit: Unit) -> Record | None:
        return self.records.get(((unit.experiment, unit.repeat, unit.method), unit.settings))

    def answers(self, unit: Unit) -> bool:
        """Whether there is a result for this unit: tuned on its own split, or with the very choice that the unit is to use."""
        record = self.find(unit)
        if record is None or record.failure is not None:  # what failed is tried again
            return False
        return record.tuned or (unit.choice is not None and record.choice == unit.choice)

    def _keep(self, records: Iterable[Record]) -> None:
        self.records |= {(record.key, record.settings): record for record in records}


def _parsed(lines: Iterable[str]) -> Iterable[Record]:
    """The records of all lines that hold one."""
    for line in lines:
        try:
            yield record_of(json.loads(line))
        except (ValueError, TypeError, AttributeError):
            continue


def record_of(content: Mapping[str, Any]) -> Record:
    """A record from what JSON makes of it, lists for tuples."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
    return Record(**values)
