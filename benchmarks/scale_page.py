"""Write the measured tables of many rows into the docs: ``python -m benchmarks.scale_page``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.scale import memory_of, shares_in

PAGE, RESULTS = Path("docs/large-data.md"), Path("results/benchmarks")
START, END = "<!-- measured: {} -->\n", "<!-- end -->\n"
TABLES = {"scale": "RMSE", "scale_labels": "log loss"}


def table(results: list[dict[str, Any]], error: str) -> str:
    """Return a table in Markdown with a row for each number of rows and method."""
    has = shares_in(results)
    head = ["rows", "method", "seconds", "rows per second", "peak memory", "model", error, "functions", *has]
    lines = [head, ["---"] * len(head)]
    for one in results:
        more = [written(one) for written in has.values()]
        speed, memory = f"{one['rows'] / one['seconds']:,.0f}", f"{memory_of(one)} MB"
        size = f"{one['kilobytes']:,.0f} kB" if "kilobytes" in one else ""
        numbers = [f"{one['rows']:,}", one["method"], f"{one['seconds']:.1f}", speed, memory, size, f"{one['error']:.4f}"]
        lines.append([*numbers, str(one.get("functions", "")), *more])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_table(page: str, name: str, text: str) -> str:
    """Return the page with a new table between its marks."""
    before, rest = page.split(START.format(name))
    _, after = rest.split(END, 1)
    return before + START.format(name) + text + END + after


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, error in TABLES.items():
        results = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["results"]
        page = with_table(page, name, table(results, error))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
