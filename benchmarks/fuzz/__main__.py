"""Attack skarce with random cases, and print a short program for every fault. The exit code is 1 if there are faults."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.fuzz.fits import draw_fit
from benchmarks.fuzz.report import Findings
from benchmarks.fuzz.workers import Pool, run_case

PARTS = {"estimators": draw_fit}
SECONDS_PER_CASE = 20.0
CASES_WITHOUT_LIMIT = 1_000_000


def main() -> int:
    arguments = parse_arguments()
    console = Console(stderr=True)
    findings, limit = Findings(), time.monotonic() + 60.0 * arguments.minutes
    with Pool(run_case, arguments.workers, arguments.limit) as pool:
        try:
            search(pool, arguments, limit, findings, console)
        except KeyboardInterrupt:
            console.print("Interrupted; the faults so far follow.")
        for text in findings.told(pool):
            print(text, flush=True)
    Console().print(findings.table())
    return 1 if findings.groups else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="time for the search (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases (default: %(default)s)")
    parser.add_argument("--only", choices=list(PARTS), help="attack only this part")
    parser.add_argument("--fits", type=int, help="number of estimator cases, in place of a time")
    parser.add_argument("--workers", type=int, default=1, help="number of processes (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=SECONDS_PER_CASE, help="seconds for a case (default: %(default)s)")
    return parser.parse_args()


def search(pool: Pool, arguments: argparse.Namespace, limit: float, findings: Findings, console: Console) -> None:
    """Run random cases until the time is over."""
    with console.status("") as status:
        for case, faults in pool.run(cases(arguments.seed, arguments.fits, limit)):
            findings.add(case.part, case, faults)
            status.update(f"{findings.n_cases.total()} cases, {len(findings.groups)} kinds of faults, last {case.estimator}")


def cases(seed: int, count: int | None, limit: float) -> Iterator[Any]:
    """The cases of a seed: so many, or until the time is over."""
    for number in range(count or CASES_WITHOUT_LIMIT):
        if count is None and time.monotonic() > limit:
            return
        yield draw_fit(np.random.default_rng([seed, number]))


if __name__ == "__main__":
    sys.exit(main())
