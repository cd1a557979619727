"""One input: a curve with its band and the data, or dots for categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.inspection.dependence import Dependence
from skarce.inspection.displays.drawing import INTERVAL_WIDTH, count_on, hide_frame, palette_of, text_color, wrapped
from skarce.inspection.palette import Palette
from skarce.inspection.shown_rows import ShownRows
from skarce.inspection.tables import category_names, column, is_numeric

DECILES = np.linspace(0.1, 0.9, 9)


def draw_curve(ax: Any, panel: Dependence, rows: ShownRows | None, target_name: str) -> None:
    """Draw how the prediction depends on one input."""
    if panel.classes is not None:
        _draw_probabilities(ax, panel, rows)
    else:
        _draw_regression(ax, panel, rows, target_name)
    if panel.is_average and rows is not None and is_numeric(panel.grids[0]):
        _draw_deciles(ax, column(rows.X, panel.features[0]))
    ax.set_xlabel(wrapped(panel.names[0]))
    hide_frame(ax)


def band_label(panel: Dependence) -> str:
    """Return what the band of a panel is, in words."""
    share = f"{100.0 * panel.coverage:.4g} %"
    if panel.band == "targets":
        return f"{share} of new targets"
    return f"{share} interval of the {'average' if panel.is_average else 'mean'}"


# Regression -----------------------------------------------------------------------------------------------------------


def _draw_regression(ax: Any, panel: Dependence, rows: ShownRows | None, target_name: str) -> None:
    palette, (grid,) = palette_of(ax), panel.grids
    label = "average prediction" if panel.is_average else "mean"
    if not is_numeric(grid):
        _draw_categories(ax, panel, palette, label)
    else:
        if panel.lower is not None:
            style = {"color": palette.main, "alpha": palette.band_alpha, "linewidth": 0, "zorder": 0}
            ax.fill_between(grid, panel.lower, panel.upper, label=band_label(panel), **style)
        ax.plot(grid, panel.mean, color=palette.main, linewidth=2, label=label, zorder=2)
        if rows is not None and not panel.is_average:
            _draw_data(ax, panel, rows, palette)
    ax.set_ylabel(wrapped(f"average {target_name}" if panel.is_average else target_name))
    if panel.has_counts:
        count_on(ax.yaxis)


def _draw_categories(ax: Any, panel: Dependence, palette: Palette, label: str) -> None:
    names = category_names(panel.grids[0])
    places = np.arange(len(names))
    ends = None if panel.lower is None else np.abs(np.vstack([panel.mean - panel.lower, panel.upper - panel.mean]))
    label = label if ends is None else f"{label}, {band_label(panel)}"
    ax.errorbar(places, panel.mean, ends, fmt="o", color=palette.main, elinewidth=INTERVAL_WIDTH, label=label)
    _name_categories(ax, names)


def _name_categories(ax: Any, names: list[str]) -> None:
    is_crowded = sum(map(len, names)) > 30
    ax.set_xticks(np.arange(len(names)), names, rotation=45 if is_crowded else 0, ha="right" if is_crowded else "center")
    ax.margins(x=0.5 / len(names))


def _draw_data(ax: Any, panel: Dependence, rows: ShownRows, palette: Palette) -> None:
    """Draw rows as dots, and circles around those that are centers; other centers are circles on the curve."""
    values, centers = np.asarray(column(rows.X, panel.features[0]), dtype=np.float64), rows.other_centers[:, 0]
    places, heights = [centers], [_on_curve(panel, centers)]
    if rows.targets is not None:
        ax.plot(values, rows.targets, ".", color=palette.data, markersize=4, label="data", zorder=1)
    of_rows = values[rows.is_center]
    places.append(of_rows)
    heights.append(_on_curve(panel, of_rows) if rows.targets is None else rows.targets[rows.is_center])
    shown = np.isfinite(np.concatenate(heights))
    if shown.any():
        _draw_circles(ax, np.concatenate(places)[shown], np.concatenate(heights)[shown], palette)


def _on_curve(panel: Dependence, values: Floats) -> Floats:
    """Return heights of the curve, NaN beyond its ends."""
    return np.interp(values, panel.grids[0], panel.mean, left=np.nan, right=np.nan)


def _draw_circles(ax: Any, x: Floats, y: Floats, palette: Palette) -> None:
    style = {"markersize": 6, "markerfacecolor": "none", "markeredgecolor": palette.accent, "markeredgewidth": 1.3}
    ax.plot(x, y, "o", label="chosen centers", zorder=3, **style)


def _draw_deciles(ax: Any, values: Floats) -> None:
    finite = np.asarray(values, dtype=np.float64)
    deciles = np.quantile(finite[np.isfinite(finite)], DECILES)
    ax.vlines(deciles, 0.0, 0.035, transform=ax.get_xaxis_transform(), color=text_color(ax), linewidth=0.9)


# Classes --------------------------------------------------------------------------------------------------------------


def _draw_probabilities(ax: Any, panel: Dependence, rows: ShownRows | None) -> None:
    """Draw the probability of the second of two classes, or of each of several."""
    palette, (grid,) = palette_of(ax), panel.grids
    shown = [1] if len(panel.classes) == 2 else range(len(panel.classes))
    is_line = is_numeric(grid)
    places = grid if is_line else np.arange(len(grid))
    for place in shown:
        color = palette.main if len(shown) == 1 else palette.series_color(place)
        ax.plot(places, panel.mean[:, place], "-" if is_line else "o", color=color, linewidth=2, label=f"{panel.classes[place]}")
    if len(panel.classes) == 2:  # of several classes, the most probable one may have less
        ax.axhline(0.5, color=text_color(ax), linewidth=0.8, linestyle=":", zorder=0)
    if rows is not None and rows.targets is not None and is_line and not panel.is_average:
        _draw_labels(ax, column(rows.X, panel.features[0]), rows.targets, len(panel.classes), palette)
    if not is_line:
        _name_categories(ax, category_names(grid))
    ax.set(ylim=(-0.06, 1.06), ylabel="average probability" if panel.is_average else "probability")


def _draw_labels(ax: Any, values: Floats, targets: Floats, n_classes: int, palette: Palette) -> None:
    """Draw a tick for each row: at the top for the second of two classes, else at the bottom in the color of the class."""
    style = {"markersize": 6, "markeredgewidth": 0.9, "alpha": 0.7}
    for place in range(n_classes):
        height = -0.03 if n_classes > 2 or place == 0 else 1.03
        color = palette.series_color(place) if n_classes > 2 else palette.data
        own = values[targets == place]
        ax.plot(own, np.full(len(own), height), "|", color=color, label="_data" if n_classes > 2 or place else "data", **style)
