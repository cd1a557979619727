"""Run the board, and write its page and picture: python -m benchmarks.accuracy."""

from __future__ import annotations

import argparse
import sys
from fnmatch import filter as matching
from pathlib import Path

from benchmarks import accuracy
from benchmarks.accuracy.board import Board, Options, OtherSettingsError, Progress, fill
from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.page import HEADINGS, standing_row, with_board
from benchmarks.accuracy.picture import draw
from benchmarks.accuracy.summary import of_role, standings
from benchmarks.accuracy.tables import ROLES, TABLES, absent
from skarce.reproduce.runner.figures import can_draw
from skarce.reproduce.runner.formatting import markdown_table

PAGE, PICTURE, RESULTS = Path("docs/accuracy.md"), Path("docs/images/accuracy.png"), Path("results/benchmarks/accuracy.json")
ROWS, SPLITS, SEED, JOBS = 500, 3, 0, 2


def chosen(patterns: str, known: list[str], what: str) -> list[str]:
    """The names that match comma-separated patterns, in their own order, or an error that lists them."""
    wanted = [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]
    lost = [pattern for pattern in wanted if not matching(known, pattern)]
    if lost or not wanted:
        raise SystemExit(f"Error: unknown {what} {', '.join(map(repr, lost))}; choose from {', '.join(known)}.")
    return [name for name in known if any(matching([name], pattern) for pattern in wanted)]


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=accuracy.__doc__)
    parser.add_argument("--tables", default="*", help="comma-separated names or patterns, such as 'puma8*,boston' (default: all)")
    parser.add_argument("--methods", default="*", help="the same for methods (default: all)")
    parser.add_argument("--splits", type=int, default=SPLITS, help="splits of each table (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=ROWS, help="most training rows (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of splits and methods (default: %(default)s)")
    parser.add_argument("--budget", type=float, help="minutes after which no cell is begun (default: none)")
    parser.add_argument("--jobs", type=int, default=JOBS, help="processes (default: %(default)s)")
    parser.add_argument("--isolate", type=float, metavar="SECONDS", help="one process per cell, which may take this long")
    parser.add_argument("--fresh", action="store_true", help="forget the results of the cells that are chosen")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of results; the page is written only for the default")
    parser.add_argument("--check", action="store_true", help="run nothing; fail if the page does not match the results")
    return parser.parse_args(arguments)


def main() -> None:
    options = parsed()
    if options.check:
        page = PAGE.read_text(encoding="utf-8")
        sys.exit(0 if with_board(page, Board.open(RESULTS)) == page else f"{PAGE} does not match {RESULTS}.")
    try:
        board = Board.open(options.out, options.rows, options.seed)
    except OtherSettingsError as error:
        sys.exit(f"Error: {error}")
    run(board, options)
    show(board)
    if options.out == RESULTS and board.cells:
        publish(board)


def run(board: Board, options: argparse.Namespace) -> None:
    tables, methods = chosen(options.tables, list(TABLES), "table"), chosen(options.methods, list(CONTENDERS), "method")
    missing = absent(tables)
    for name, why in missing.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    jobs = board.jobs([name for name in tables if name not in missing], methods, options.splits)
    if options.fresh:
        board.forget(jobs)
    n_missing = sum(not board.answers(job) for job in jobs)
    print(f"{len(jobs)} cells, {len(jobs) - n_missing} of them done.", file=sys.stderr)
    seconds = None if options.budget is None else 60.0 * options.budget
    n_left = fill(board, jobs, Options(options.jobs, seconds, options.isolate), Progress(n_missing))
    if n_left:
        print(f"The budget is spent; {n_left} cells are left. The same command continues.", file=sys.stderr)


def show(board: Board) -> None:
    """Print the standings of both roles, and what failed."""
    for role in ROLES:
        if cells := of_role(board.cells.values(), role):
            print(f"\n{role}\n{markdown_table(HEADINGS, [standing_row(each) for each in standings(cells)])}")
    for cell in board.cells.values():
        if cell.failure is not None:
            print(f"failed: {cell.method} on {cell.table}, split {cell.split}: {cell.failure}")


def publish(board: Board) -> None:
    """Write page and picture."""
    PAGE.write_text(with_board(PAGE.read_text(encoding="utf-8"), board), encoding="utf-8")
    if can_draw():
        draw(list(board.cells.values()), PICTURE)
    else:
        print('No picture: run pip install ".[plot]".', file=sys.stderr)


if __name__ == "__main__":
    main()
