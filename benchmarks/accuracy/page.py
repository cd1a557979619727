"""The measured part of docs/accuracy.md, written between two markers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.accuracy.board import Board
from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.summary import Grid, Standing, best_of, geometric_mean, grid_of, of_role, standings
from benchmarks.accuracy.tables import ROLES, TABLES
from skarce.reproduce.runner.formatting import MISSING, markdown_table

START, END = "<!-- measured: accuracy -->\n", "<!-- end -->\n"
LOWEST_SHOWN = -99.9  # log scores below are shown as this
HEADINGS = (
    *("method", "mean rank", "best on", "median ratio", "mean ratio", "functions", "coverage", "least coverage"),
    *("log score", "fit, s", "predict, ms", "warned", "failed"),
)


def with_board(page: str, board: Board) -> str:
    """The page with its measured part made again."""
    before, rest = page.split(START)
    _, after = rest.split(END, 1)
    return f"{before}{START}\n{measured(board)}\n\n{END}{after}"


def measured(board: Board) -> str:
    cells = list(board.cells.values())
    errors = grid_of(cells, "rmse")
    return "\n\n".join(
        [
            run_line(board),
            *(part for role, meaning in ROLES.items() for part in _of_role(cells, role, meaning)),
            "### Ours and rivals, table by table",
            duels(errors),
            "### Error: RMSE over the standard deviation of the target",
            grid_table(errors, ".3f", bold_least=True),
            "### Coverage of 95 % intervals",
            grid_table(grid_of(cells, "coverage"), ".3f"),
            "### Size: basis functions, training rows, support vectors, leaves",
            grid_table(grid_of(cells, "functions"), ".0f"),
            "### What failed",
            failures(cells),
        ]
    )


def run_line(board: Board) -> str:
    """What was run, and what is missing."""
    cells = list(board.cells.values())
    tables, methods = ({getattr(cell, name) for cell in cells} for name in ("table", "method"))
    n_splits = 1 + max(cell.split for cell in cells)
    n_missing = len(TABLES) * len(CONTENDERS) * n_splits - len(cells)
    minutes = sum(cell.fit_seconds or 0.0 for cell in cells) / 60.0
    text = (
        f"{len(tables)} of {len(TABLES)} tables, {len(methods)} methods, {n_splits} {'split' if n_splits == 1 else 'splits'} each, "
        f"at most {board.rows} training rows, seed {board.seed}. All fits together took {minutes:.1f} CPU minutes on one thread."
    )
    return text + (f" **{n_missing} of {len(cells) + n_missing} cells have not been run.**" if n_missing else "")


def _of_role(cells: Iterable[Cell], role: str, meaning: str) -> list[str]:
    chosen = of_role(cells, role)
    if not chosen:
        return []
    errors = grid_of(chosen, "rmse")
    names = ", ".join(f"`{table}`" for table in errors.tables)
    rows = [standing_row(each) for each in standings(chosen)]
    return [f"### {role} tables: {meaning}", f"{names}. {verdict(errors)}", markdown_table(HEADINGS, rows)]


def verdict(errors: Grid) -> str:
    """A sentence that says on which tables rivals win, and how far the best of ours is from the best rival."""
    pairs = {table: tuple(best_of(errors.row(table), rivals=rivals) for rivals in (False, True)) for table in errors.tables}
    both = {table: (ours, theirs) for table, (ours, theirs) in pairs.items() if ours and theirs}
    if not both:
        return "There is nothing to compare yet."
    lost = [f"`{table}` ({theirs[0]})" for table, (ours, theirs) in both.items() if theirs[1] < ours[1]]
    ratio = geometric_mean(np.array([ours[1] / theirs[1] for ours, theirs in both.values()]))
    wins = f"A rival has the least error on {len(lost)} of {len(both)} tables" + (f": {', '.join(lost)}." if lost else ".")
    return f"{wins} The best of ours has {ratio:.2f} times the error of the best rival (geometric mean)."


def standing_row(each: Standing) -> list[str]:
    seconds = text(each.fit_seconds, ".2f"), text(1e3 * each.predict_seconds, ".1f")
    return [
        f"*{each.method}*" if CONTENDERS[each.method].is_rival else each.method,
        *(text(each.mean_rank, ".1f"), str(each.n_best), text(each.median_ratio, ".2f"), text(each.mean_ratio, ".2f")),
        *(text(each.functions, ".0f"), text(each.coverage, ".3f"), text(each.least_coverage, ".3f"), text(each.log_score, ".2f")),
        *(*seconds, str(each.n_warned), str(each.n_failed)),
    ]


def duels(errors: Grid) -> str:
    """For each table the best of ours, the best rival, and the ratio of their errors."""
    rows = []
    for table in errors.tables:
        ours, theirs = (best_of(errors.row(table), rivals=rivals) for rivals in (False, True))
        ratio = f"{ours[1] / theirs[1]:.2f}" if ours and theirs else MISSING
        rows.append([table, TABLES[table].role, *_named(ours), *_named(theirs), ratio])
    return markdown_table(("table", "role", "best of ours", "error", "best rival", "error", "ratio"), rows, left=(0, 1, 2, 4))


def _named(best: tuple[str, float] | None) -> list[str]:
    return [MISSING, MISSING] if best is None else [best[0], f"{best[1]:.3f}"]


def grid_table(grid: Grid, form: str, bold_least: bool = False) -> str:
    """Tables down, contenders across; those without any number are left out."""
    kept = [method for method in grid.methods if not all(map(math.isnan, grid.column(method)))]
    rows = []
    for table in grid.tables:
        row = grid.row(table)
        least = min((value for value in row.values() if not math.isnan(value)), default=math.nan) if bold_least else math.nan
        cells = [text(row[method], form) for method in kept]
        rows.append([table, *(f"**{cell}**" if row[m] == least else cell for m, cell in zip(kept, cells, strict=True))])
    return markdown_table(("table", *kept), rows)


def failures(cells: Sequence[Cell]) -> str:
    """Every cell without a result, or a sentence that there is none."""
    failed = [cell for cell in cells if cell.failure is not None]
    lines = [f"- `{cell.method}` on {cell.table}, split {cell.split}: {cell.failure}" for cell in failed]
    return "\n".join(lines) or "Nothing."


def text(value: float, form: str) -> str:
    return MISSING if math.isnan(value) else f"< {LOWEST_SHOWN}" if value < LOWEST_SHOWN else f"{value:{form}}"
