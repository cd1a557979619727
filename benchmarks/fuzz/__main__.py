"""Attack skarce with random cases, and print a short program for every fault. The exit code is 1 if there are faults."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.fuzz.fits import draw_fit
from benchmarks.fuzz.model_files import draw_model
from benchmarks.fuzz.report import Findings
from benchmarks.fuzz.tables import draw_table
from benchmarks.fuzz.workers import Pool, run_case

PARTS: dict[str, Callable[[Any], Any]] = {"estimators": draw_fit, "tables": draw_table, "models": draw_model}
SHARES = {"estimators": 6, "tables": 2, "models": 2}  # of ten cases in a row
SECONDS_PER_CASE = 20.0
INTERRUPTED = 130  # 128 + SIGINT, as in shells


def main(arguments: list[str] | None = None) -> int:
    given = parse_arguments(arguments)
    console, findings = Console(stderr=True), Findings()
    with Pool(run_case, given.workers, given.limit) as pool:
        try:
            search(pool, cases(given), findings, console)
        except KeyboardInterrupt:
            console.print("Interrupted; the faults so far follow. Interrupt again to end at once.")
        try:
            for text in findings.told(pool):
                print(text, flush=True)
        except KeyboardInterrupt:
            return INTERRUPTED
    Console().print(findings.table())
    return 1 if findings.groups else 0


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="time for the search (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases (default: %(default)s)")
    parser.add_argument("--only", choices=list(PARTS), help="attack only this part")
    parser.add_argument("--fits", type=int, help="number of fits, in place of a time")
    parser.add_argument("--files", type=int, help="number of tables and of model files each, in place of a time")
    parser.add_argument("--workers", type=int, default=1, help="number of processes (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=SECONDS_PER_CASE, help="seconds for a case (default: %(default)s)")
    return parser.parse_args(arguments)


def search(pool: Pool, drawn: Iterator[Any], findings: Findings, console: Console) -> None:
    """Run all cases, and show how far it is."""
    with console.status("") as status:
        for case, faults in pool.run(drawn):
            findings.add(case.part, case, faults)
            n_cases, n_kinds = findings.n_cases.total(), len(findings.groups)
            status.update(f"{n_cases} cases, {n_kinds} kinds of faults; the last case: {case.title}")


def cases(given: argparse.Namespace) -> Iterator[Any]:
    """The cases of a seed: as many as were asked for, or until the time is over."""
    parts = [given.only] if given.only else list(PARTS)
    if given.fits is not None or given.files is not None:
        wanted = {"estimators": given.fits or 0, "tables": given.files or 0, "models": given.files or 0}
        yield from (draw(part, given.seed, number) for part in parts for number in range(wanted[part]))
        return
    end = time.monotonic() + 60.0 * given.minutes
    order = [part for part in parts for _ in range(SHARES[part])]
    for number in count():
        if time.monotonic() > end:
            return
        yield draw(order[number % len(order)], given.seed, number)


def draw(part: str, seed: int, number: int) -> Any:
    """One case. It depends on nothing else, so it can be drawn again."""
    return PARTS[part](np.random.default_rng([seed, list(PARTS).index(part), number]))


if __name__ == "__main__":
    sys.exit(main())
