"""Guard against slower code: ``make bench-check``, or ``python -m benchmarks.check [--keep] [--rows NAME ...]``.

Each row is a piece of our work beside work of other packages on the same data. Both are timed in turns, five times, and the
median of the five ratios is compared with the ratio in results/benchmarks/check.json. The command fails if a row is 25 % worse. A
ratio hardly depends on the machine, but nothing else should run meanwhile. ``--keep`` puts the new ratios into the file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.check_rows import ROWS, Row
from benchmarks.timing import wall_seconds

RATIOS = Path("results/benchmarks/check.json")
ROUNDS, WORSE = 5, 1.25
SHORT = 0.05  # seconds: work that takes less is repeated, and the shortest time counts
REPEATS = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="put the new ratios into the file")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), metavar="NAME", help="only these rows")
    arguments = parser.parse_args()
    before = json.loads(RATIOS.read_text()) if RATIOS.exists() else {}
    now = {}
    for name in arguments.rows:
        now[name] = ratio_of(ROWS[name])
        print(line_of(name, now[name], before.get(name)), flush=True)
    if arguments.keep:
        RATIOS.write_text(json.dumps({**before, **now}, indent=1) + "\n")
        return 0
    worse = slower(now, before)
    print(f"{len(worse)} of {len(now)} rows are more than {WORSE - 1:.0%} worse" + "".join(f"\n  {name}" for name in worse))
    return 1 if worse else 0


def ratio_of(row: Row) -> float:
    """Return the median ratio of times that are measured in turns. The first turn warms up and does not count."""
    return statistics.median([seconds_of(row.ours) / seconds_of(row.other) for _ in range(ROUNDS + 1)][1:])


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall time, or what the work itself has measured."""
    seconds, result = wall_seconds(work)
    if isinstance(result, float):
        return result
    return seconds if seconds > SHORT else min(seconds, *(wall_seconds(work)[0] for _ in range(REPEATS)))


def line_of(name: str, ratio: float, before: float | None) -> str:
    return f"{name:<45} {ratio:8.3f}" + ("   new" if before is None else f"   before {before:8.3f}   {ratio / before:5.2f} times")


def slower(now: dict[str, float], before: dict[str, float]) -> list[str]:
    """Return the rows that got worse than they may. A row that is new has nothing to compare with."""
    return [name for name, ratio in now.items() if name in before and ratio > WORSE * before[name]]


if __name__ == "__main__":
    sys.exit(main())
