"""Faults in groups of the same signature, and what is printed about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

from benchmarks.fuzz.faults import NOT_RUNNABLE, Fault
from benchmarks.fuzz.shrink import shrink
from benchmarks.fuzz.workers import NO_END, Pool

KEPT_CASES = 3  # of a group: the shortest are kept for shrinking
ATTEMPTS, SLOW_ATTEMPTS = 150, 12  # to make a case simpler; fewer if every attempt waits for the time limit


@dataclass
class Group:
    """Cases with the same fault."""

    fault: Fault
    count: int = 0
    cases: list[Any] = field(default_factory=list)

    def add(self, case: Any) -> None:
        self.count += 1
        self.cases = sorted([*self.cases, case], key=lambda case: len(case.snippet()))[:KEPT_CASES]

    def shrunk(self, pool: Pool) -> tuple[Any, Fault]:
        """The simplest case that is found, and its fault."""
        latest = self.fault

        def still_fails(case: Any) -> bool:
            nonlocal latest
            same = [fault for fault in pool.run_one(case) if self._is_same(fault)]
            latest = same[0] if same else latest
            return bool(same)

        attempts = SLOW_ATTEMPTS if self.fault.kind == NO_END else ATTEMPTS
        return shrink(self.cases[0], still_fails, attempts), latest

    def _is_same(self, fault: Fault) -> bool:
        return fault.signature == self.fault.signature or fault.kind == self.fault.kind == NO_END


@dataclass
class Findings:
    """All faults of a run."""

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    n_cases: Counter[str] = field(default_factory=Counter)
    n_faulty: Counter[str] = field(default_factory=Counter)
    n_not_runnable: Counter[str] = field(default_factory=Counter)

    def add(self, part: str, case: Any, faults: list[Fault]) -> None:
        self.n_cases[part] += 1
        if NOT_RUNNABLE in faults:
            self.n_not_runnable[part] += 1
            return
        self.n_faulty[part] += bool(faults)
        for fault in {fault.signature: fault for fault in faults}.values():
            self.groups.setdefault(fault.signature, Group(fault)).add(case)

    def told(self, pool: Pool) -> Iterator[str]:
        """What is printed about the groups, the most frequent first. Faults that the same program shows are told together."""
        programs: dict[str, list[tuple[Fault, int]]] = {}
        for group in sorted(self.groups.values(), key=lambda group: -group.count):
            case, fault = group.shrunk(pool)
            programs.setdefault(case.snippet(), []).append((fault, group.count))
        for program, faults in programs.items():
            lines = (f"# {fault} ({count} case{'' if count == 1 else 's'})" for fault, count in faults)
            yield "\n".join([*lines, program, ""])

    def table(self) -> Table:
        table = Table(title="Faults")
        for name in ("part", "cases", "not runnable", "with faults", "kinds of faults"):
            table.add_column(name, justify="left" if name == "part" else "right")
        for part, n_cases in self.n_cases.items():
            kinds = sum(group.cases[0].part == part for group in self.groups.values())
            table.add_row(part, str(n_cases), str(self.n_not_runnable[part]), str(self.n_faulty[part]), str(kinds))
        return table
