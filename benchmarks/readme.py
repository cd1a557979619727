"""Write the table of measured times into the README: ``python -m benchmarks.readme [--check]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

README, RESULTS = Path("README.md"), Path("results/benchmarks/regression.json")
START, END = "<!-- measured: relevance vectors -->\n", "<!-- end -->\n"
HEAD = """| problem | skarce | fastrvm 0.1.5 | ratio | SVR | functions: skarce, fastrvm, SVR | peak memory: skarce, fastrvm |
|---|---|---|---|---|---|---|
"""


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1.0 else f"{1e3 * value:.1f} ms"


def row(problem: str, methods: dict[str, Any]) -> str:
    name, rows = problem.split("-")
    ours, theirs, svr = (methods[name] for name in ("skarce frvm", "fastrvm", "SVR"))
    functions = ", ".join(f"{each['functions']:,}" for each in (ours, theirs, svr))
    memory = ", ".join(f"{each['peak_mb']:,.0f} MB" for each in (ours, theirs))
    times = [ours["wall_s"], theirs["wall_s"], svr["wall_s"]]
    ratio = times[1] / times[0]
    title = f"Friedman {name[-1]}, {int(rows):,} rows"
    return f"| {title} | {seconds(times[0])} | {seconds(times[1])} | {ratio:.1f} | {seconds(times[2])} | {functions} | {memory} |\n"


def with_table(readme: str, results: dict[str, Any]) -> str:
    before, rest = readme.split(START)
    _, after = rest.split(END, 1)
    return before + START + HEAD + "".join(row(*item) for item in results["problems"].items()) + END + after


if __name__ == "__main__":
    readme = README.read_text(encoding="utf-8")
    fresh = with_table(readme, json.loads(RESULTS.read_text(encoding="utf-8")))
    if "--check" in sys.argv:
        sys.exit(0 if fresh == readme else "README.md does not match results/benchmarks: run python -m benchmarks.readme")
    README.write_text(fresh, encoding="utf-8")
