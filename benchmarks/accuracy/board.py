"""The file of results, and a run that fills it. The file is replaced as a whole after each cell, so a stopped run loses nothing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from benchmarks.accuracy.cells import Cell, Job, cell_of, run_cell, run_isolated
from benchmarks.accuracy.contenders import CONTENDERS
from skarce._whole_file import replacing
from skarce.reproduce.runner.workers import results_of


class OtherSettingsError(ValueError):
    """A file whose results were made with other numbers of rows or another seed."""


@dataclass
class Board:
    """All cells of a file. The number of training rows and the seed are the same for all."""

    path: Path
    rows: int
    seed: int
    cells: dict[tuple[str, int, str], Cell] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, rows: int | None = None, seed: int | None = None) -> Board:
        """Read a file, or begin an empty one. Without `rows` and `seed`, those of the file are taken."""
        if not path.exists():
            if rows is None or seed is None:
                raise FileNotFoundError(f"{path} does not exist; run python -m benchmarks.accuracy first.")
            return cls(path, rows, seed)
        content = json.loads(path.read_text(encoding="utf-8"))
        kept = content["rows"], content["seed"]
        if rows not in (None, kept[0]) or seed not in (None, kept[1]):
            raise OtherSettingsError(f"{path} was made with --rows {kept[0]} --seed {kept[1]}; take another --out.")
        return cls(path, *kept, {cell.key: cell for cell in map(cell_of, content["cells"])})

    def add(self, cell: Cell) -> None:
        self.cells[cell.key] = cell
        self.write()

    def forget(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.cells.pop(job[:3], None)

    def write(self) -> None:
        """One line for each cell, in an order that does not depend on the run."""
        lines = ",\n".join(json.dumps(asdict(self.cells[key]), allow_nan=False) for key in sorted(self.cells))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as draft:
            draft.write_text(f'{{"rows": {self.rows}, "seed": {self.seed}, "cells": [\n{lines}\n]}}\n', encoding="utf-8")

    def answers(self, job: Job) -> bool:
        """Whether there is a result under the parameters that the contender has now; what failed is tried again."""
        cell = self.cells.get(job[:3])
        return cell is not None and cell.failure is None and cell.settings == CONTENDERS[job.method].settings()

    def jobs(self, tables: Sequence[str], methods: Sequence[str], n_splits: int) -> list[Job]:
        """All cells in question. Splits come first, so that a run that is cut short has all tables."""
        return [
            Job(table, split, method, self.rows, self.seed) for split in range(n_splits) for table in tables for method in methods
        ]


@dataclass(frozen=True)
class Options:
    """How a run works: processes, seconds after which no cell is begun, and the limit of a cell in a process of its own."""

    n_jobs: int = 1
    budget: float | None = None
    cell_limit: float | None = None


def fill(
    board: Board, jobs: Sequence[Job], options: Options, on_cell: Callable[[Cell, int], Any] = lambda cell, n_left: None
) -> int:
    """Run the cells that have no result yet, and return how many are left because the budget is spent."""
    missing = [job for job in jobs if not board.answers(job)]
    started, n_left = time.monotonic(), len(missing)

    def tasks() -> Iterator[Callable[[], Cell]]:
        for job in missing:
            if options.budget is not None and time.monotonic() - started >= options.budget:
                return
            yield partial(run_cell, job) if options.cell_limit is None else partial(run_isolated, job, options.cell_limit)

    for cell in results_of(tasks(), options.n_jobs):
        n_left -= 1
        board.add(cell)
        on_cell(cell, n_left)
    return n_left


@dataclass
class Progress:
    """One line for each cell, with the time that is probably left."""

    n_cells: int
    out: TextIO = sys.stderr
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._started = self.clock()

    def __call__(self, cell: Cell, n_left: int) -> None:
        n_done = self.n_cells - n_left
        minutes = (self.clock() - self._started) / n_done * n_left / 60.0
        result = (
            f"failed: {cell.failure}" if cell.rmse is None else f"{cell.rmse:.4f} {cell.functions:6d} {cell.fit_seconds:7.2f} s"
        )
        place = f"[{n_done}/{self.n_cells}, {minutes:.0f} min left]"
        print(f"{place} {cell.table}, split {cell.split}, {cell.method}: {result}", file=self.out, flush=True)
