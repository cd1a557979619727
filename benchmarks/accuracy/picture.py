"""Error against size: one panel for each role, and one small panel for each table.

Ours are blue dots, rivals orange marks of their own shape (blue and orange of Okabe and Ito, which the color-blind can tell apart).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.labels import label
from benchmarks.accuracy.summary import Grid, geometric_mean, grid_of, of_role, ratios
from benchmarks.accuracy.tables import ROLES, TABLES
from benchmarks.picture import BLUE, ORANGE, save_small
from skarce.reproduce.runner.figures import add_grid, hide_frame, new_figure

MARKS = {"gp": "s", "svr": "D", "boosting": "^", "forest": "v"}
COLUMNS = 4
WIDTH, SUMMARY_HEIGHT, PANEL_HEIGHT = 10.0, 4.4, 1.75
HIGHEST_RATIO, HIGHEST_OF_TABLE = 1.6, 2.2  # in units of the least; points above are drawn hollow at the upper edge
TITLE_PAD = 14.0  # points; names of what is at the upper edge stand below the title
TICKS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Draw both kinds of panels into one picture."""
    errors, sizes = grid_of(cells, "rmse"), grid_of(cells, "functions")
    n_rows = -(-len(errors.tables) // COLUMNS)
    figure = new_figure(WIDTH, SUMMARY_HEIGHT + PANEL_HEIGHT * n_rows)
    upper, lower = figure.subfigures(2, 1, height_ratios=[SUMMARY_HEIGHT, PANEL_HEIGHT * n_rows])
    panels = lower.subplots(n_rows, COLUMNS, squeeze=False).ravel()
    for axes, table in zip(panels, errors.tables, strict=False):
        _draw_table(axes, table, errors.row(table), sizes.row(table))
    for axes in panels[len(errors.tables) :]:
        axes.set_axis_off()
    if len(panels) > len(errors.tables):
        _draw_legend(panels[len(errors.tables)])
    lower.supxlabel("functions (leaves of trees)", fontsize=9)
    lower.supylabel("RMSE / std of target", fontsize=9)
    roles = [role for role in ROLES if of_role(cells, role)]
    drawn = [
        (axes, _draw_role(axes, of_role(cells, role), role))
        for axes, role in zip(np.atleast_1d(upper.subplots(1, len(roles))), roles, strict=True)
    ]
    drawn[0][0].set_ylabel("error over the least of the table, geometric mean")
    figure.draw_without_rendering()  # where points are on the page is known from here on
    for axes, points in drawn:
        label(axes, points, {name: ORANGE if CONTENDERS[name].is_rival else BLUE for name in points})
    save_small(figure, path)


def _draw_role(axes: Any, cells: Sequence[Cell], role: str) -> dict[str, tuple[float, float]]:
    """Draw one point for each contender, and return where they are."""
    known, n_tables = means(cells), len({cell.table for cell in cells})
    widths, heights = zip(*known.values(), strict=True) if known else ((1.0,), (1.0,))
    top = min(HIGHEST_RATIO, 1.04 * max(heights))
    axes.set(xscale="log", xlim=(min(widths) / 2.0, 6.0 * max(widths)), xlabel="functions (leaves of trees), geometric mean")
    axes.set(yscale="log", ylim=(0.985, top))
    axes.set_title(f"{role}: {n_tables} tables {ROLES[role]}", fontsize=10, loc="left", pad=TITLE_PAD)
    axes.set_yticks([tick for tick in TICKS if tick <= top], [f"{tick:g}" for tick in TICKS if tick <= top])
    axes.set_yticks([], minor=True)
    points = {name: _mark(axes, name, size, ratio, 6.5) for name, (size, ratio) in known.items()}
    add_grid(axes)
    hide_frame(axes)
    return points


def means(cells: Sequence[Cell]) -> dict[str, tuple[float, float]]:
    """The geometric means, over tables, of the size of a contender and of its error over the least one of the table."""
    errors, sizes = grid_of(cells, "rmse"), grid_of(cells, "functions")
    shares = Grid(errors.tables, errors.methods, ratios(errors.values))
    found = {
        name: (geometric_mean(np.maximum(sizes.column(name), 1.0)), geometric_mean(shares.column(name))) for name in errors.methods
    }
    return {name: point for name, point in found.items() if np.isfinite(point).all()}


def _draw_table(axes: Any, table: str, errors: dict[str, float], sizes: dict[str, float]) -> None:
    known = {name: error for name, error in errors.items() if np.isfinite(error)}
    least, most = min(known.values(), default=0.0), max(known.values(), default=1.0)
    top = min(most, HIGHEST_OF_TABLE * least) if most > least > 0.0 else least + 1.0
    axes.set(xscale="log", xlim=(0.8, 60_000), ylim=(least - 0.08 * (top - least), top + 0.03 * (top - least)))
    axes.set_title(f"{table} ({TABLES[table].role})", fontsize=8.5, loc="left")
    axes.tick_params(labelsize=7)
    axes.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1k", "10k"])
    axes.set_xticks([], minor=True)
    for name, error in known.items():
        _mark(axes, name, max(sizes[name], 1.0), error, 4.5)
    add_grid(axes)
    hide_frame(axes)


def _draw_legend(axes: Any) -> None:
    for name, shape in {"ours": "o", **MARKS}.items():
        axes.plot([], [], shape, color=BLUE if name == "ours" else ORANGE, markersize=5, label=name)
    axes.plot([], [], "o", color=BLUE, markerfacecolor="white", markersize=5, label="above the scale")
    axes.legend(loc="center left", fontsize=8, frameon=False)


def _mark(axes: Any, name: str, x: float, y: float, size: float) -> tuple[float, float]:
    """Draw a point, hollow at the upper edge if it is above, and return where it is."""
    color, top = (ORANGE if CONTENDERS[name].is_rival else BLUE), axes.get_ylim()[1]
    look = {"markeredgecolor": "white", "alpha": 0.8} if y <= top else {"markerfacecolor": "white"}
    axes.plot(
        x, min(y, top), MARKS.get(name, "o"), color=color, markersize=size, markeredgewidth=0.7, clip_on=False, zorder=3, **look
    )
    return x, min(y, top)
