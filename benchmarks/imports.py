"""Measure how long imports take, each in a process of its own: ``python -m benchmarks.imports [--out FOLDER]``.

`import skarce` imports nothing else. The first name that is asked for imports scikit-learn and the rest. Bytecode must be there:
the first round, which writes it, does not count. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

STATEMENTS = (
    "pass",
    "import numpy",
    "import sklearn",
    "import sklearn.linear_model",
    "import skarce",
    "from skarce import RelevanceVectorRegressor",
)
CLOCK = "import time; started = time.perf_counter()\n{}\nprint(time.perf_counter() - started)"
ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for imports.json and imports.txt")
    out = parser.parse_args().out
    times = {statement: statistics.median(row) for statement, row in measured().items()}
    text = "".join(f"{statement:<50} {1e3 * seconds:7.1f} ms\n" for statement, seconds in times.items())
    print(text, end="")
    if out:
        (out / "imports.json").write_text(json.dumps(times, indent=1) + "\n")
        (out / "imports.txt").write_text(text)


def measured() -> dict[str, list[float]]:
    """Return seconds by statement. The statements take turns, so that a busy moment hits all of them."""
    times: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    for turn in range(ROUNDS + 1):
        for statement, row in times.items():
            seconds = seconds_of(statement)
            if turn:
                row.append(seconds)
    return times


def seconds_of(statement: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CLOCK.format(statement)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


if __name__ == "__main__":
    main()
