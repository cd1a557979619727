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
HIGHEST_RATIO = 1.6  # points above are drawn hollow at the upper edge
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
    lower.supxlabel("functions (leaves of trees)", fontsize=9)
    lower.supylabel("RMSE / std of target", fontsize=9)
    roles = [role for role in ROLES if of_role(cells, role)]
    drawn = [
        (axes, _draw_role(axes, of_role(cells, role), role))
        for axes, role in zip(np.atleast_1d(upper.subplots(1, len(roles))), roles, strict=True)
    ]
    figure.draw_without_rendering()  # where points are on the page is known from here on
    for axes, points in drawn:
        label(axes, points, {name: ORANGE if CONTENDERS[name].is_rival else BLUE for name in points})
    save_small(figure, path)


def _draw_role(axes: Any, cells: Sequence[Cell], role: str) -> dict[str, tuple[float, float]]:
    """Every contender by the geometric means of its size and of its error over the least one of the table."""
    errors, sizes = grid_of(cells, "rmse"), grid_of(cells, "functions")
    shares = Grid(errors.tables, errors.methods, ratios(errors.values))
    means = {name: (geometric_mean(sizes.column(name)), geometric_mean(shares.column(name))) for name in errors.methods}
    known = {name: point for name, point in means.items() if np.isfinite(point).all()}
    top = min(HIGHEST_RATIO, 1.04 * max(ratio for _, ratio in known.values()))
    axes.set(xscale="log", yscale="log", xlabel="functions (leaves of trees), geometric mean", ylim=(0.985, top))
    axes.set_ylabel("error over the least of the table, geometric mean")
    axes.set_title(f"{role}: {len(errors.tables)} tables {ROLES[role]}", fontsize=10, loc="left")
    axes.set_yticks([tick for tick in TICKS if tick <= top], [f"{tick:g}" for tick in TICKS if tick <= top])
    axes.set_yticks([], minor=True)
    points = {name: _mark(axes, name, size, ratio, 6.5) for name, (size, ratio) in known.items()}
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.1)  # space for labels at the right
    add_grid(axes)
    hide_frame(axes)
    return points


def _draw_table(axes: Any, table: str, errors: dict[str, float], sizes: dict[str, float]) -> None:
    known = {name: error for name, error in errors.items() if np.isfinite(error)}
    least, most = min(known.values()), max(known.values())
    top = min(most, HIGHEST_RATIO * least)
    axes.set(xscale="log", xlim=(0.8, 60_000), ylim=(least - 0.08 * (top - least), top + 0.03 * (top - least)))
    axes.set_title(f"{table} ({TABLES[table].role})", fontsize=8.5, loc="left")
    axes.tick_params(labelsize=7)
    axes.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1k", "10k"])
    axes.set_xticks([], minor=True)
    for name, error in known.items():
        _mark(axes, name, max(sizes[name], 1.0), error, 4.5)
    add_grid(axes)
    hide_frame(axes)


def _mark(axes: Any, name: str, x: float, y: float, size: float) -> tuple[float, float]:
    """Draw a point, hollow at the upper edge if it is above, and return where it is."""
    color, top = (ORANGE if CONTENDERS[name].is_rival else BLUE), axes.get_ylim()[1]
    look = {"markeredgecolor": "white", "alpha": 0.8} if y <= top else {"markerfacecolor": "white"}
    axes.plot(
        x, min(y, top), MARKS.get(name, "o"), color=color, markersize=size, markeredgewidth=0.7, clip_on=False, zorder=3, **look
    )
    return x, min(y, top)
