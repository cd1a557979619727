"""Two inputs: a map of the prediction with lines of its uncertainty, or of the classes with their boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.inspection.dependence import Dependence
from skarce.inspection.displays.drawing import MARKERS, palette_of, scale_from, text_color, wrapped
from skarce.inspection.palette import Palette
from skarce.inspection.shown_rows import ShownRows
from skarce.inspection.tables import column, is_numeric

N_LINES = 5
STRONGEST = 0.5  # share of the color of a class where it is certain, so that data stand out


def draw_map(ax: Any, panel: Dependence, rows: ShownRows | None, target_name: str) -> None:
    """Draw how the prediction depends on two inputs."""
    for name, grid in zip(panel.names, panel.grids, strict=True):
        if not is_numeric(grid):
            raise ValueError(f"a map needs two inputs with numbers, but {name!r} has categories. Show it in a panel of its own.")
        if len(grid) < 2 or grid[0] == grid[-1]:
            raise ValueError(f"a map needs two inputs that vary, but {name!r} has one value in X.")
    palette = palette_of(ax)
    if panel.classes is None:
        _draw_regression(ax, panel, palette, target_name)
    else:
        _draw_classes(ax, panel, palette)
    shown = None if panel.is_average else rows
    if panel.classes is not None and (shown is None or shown.targets is None):
        _name_classes(ax, panel.classes, palette)
    if shown is not None:
        _draw_rows(ax, panel, shown, palette)
    first, second = panel.grids
    across, up = map(wrapped, panel.names)
    ax.set(xlabel=across, ylabel=up, xlim=(first[0], first[-1]), ylim=(second[0], second[-1]))


def _draw_regression(ax: Any, panel: Dependence, palette: Palette, target_name: str) -> None:
    first, second = panel.grids
    image = ax.pcolormesh(first, second, panel.mean.T, cmap=scale_from(palette.middle, palette.main), shading="gouraud")
    ax.figure.colorbar(image, ax=ax, label=wrapped(f"average {target_name}" if panel.is_average else target_name))
    if panel.lower is None or panel.upper is None:
        return
    half = 0.5 * (panel.upper - panel.lower)
    if np.ptp(half) > 1e-6 * np.max(half):
        lines = ax.contour(first, second, half.T, N_LINES, colors=[text_color(ax)], linewidths=0.7)
        ax.clabel(lines, fmt=lambda value: f"± {value:.3g}", fontsize=7)


def _draw_classes(ax: Any, panel: Dependence, palette: Palette) -> None:
    """Draw the color of the most probable class, the stronger the more certain it is, and the boundaries."""
    first, second = panel.grids
    if len(panel.classes) == 2:
        zero, one = (_faded(color, palette) for color in palette.series[:2])
        scale = scale_from(zero, palette.middle, one)
        image = ax.pcolormesh(first, second, panel.mean[..., 1].T, cmap=scale, vmin=0, vmax=1, shading="gouraud")
        what = "average probability" if panel.is_average else "probability"
        ax.figure.colorbar(image, ax=ax, label=wrapped(f"{what} of {panel.classes[1]}"))
    else:
        extent = (*_edges(first), *_edges(second))
        ax.imshow(_mixed(panel.mean, palette), origin="lower", extent=extent, aspect="auto", interpolation="bilinear")
    for lead in _leads(panel.mean):
        if lead.min() < 0.0 < lead.max():
            ax.contour(first, second, lead.T, [0.0], colors=[text_color(ax)], linewidths=1.2)


def _name_classes(ax: Any, classes: Any, palette: Palette) -> None:
    """Label the color of each class, which has no rows on the map that would do so."""
    for place, label in enumerate(classes):
        ax.plot([], [], "s", color=_faded(palette.series_color(place), palette), markersize=8, label=f"{label}")


def _faded(color: str, palette: Palette, strength: Any = STRONGEST) -> Any:
    """Return a color mixed with the middle one."""
    from matplotlib.colors import to_rgb

    return strength * np.array(to_rgb(color)) + (1.0 - strength) * np.array(to_rgb(palette.middle))


def _edges(grid: Floats) -> tuple[float, float]:
    """Return the outer edges of the pixels of an evenly spaced grid."""
    half = 0.5 * (grid[1] - grid[0])
    return grid[0] - half, grid[-1] + half


def _mixed(probabilities: Floats, palette: Palette) -> Floats:
    """Return an image: the color of the most probable class, mixed with the background as far as it is uncertain."""
    n_classes = probabilities.shape[-1]
    best, share = probabilities.argmax(axis=-1), probabilities.max(axis=-1)
    strength = STRONGEST * (share - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
    image = np.empty((*best.shape, 3))
    for place in range(n_classes):
        own = best == place
        image[own] = _faded(palette.series_color(place), palette, strength[own][:, None])
    return image.transpose(1, 0, 2)


def _leads(probabilities: Floats) -> list[Floats]:
    """Return by how much each class is ahead of the best other one. Two classes have one boundary."""
    n_classes = probabilities.shape[-1]
    others = (np.delete(probabilities, place, axis=-1).max(axis=-1) for place in range(n_classes))
    leads = [probabilities[..., place] - other for place, other in enumerate(others)]
    return leads[1:] if n_classes == 2 else leads


def _draw_rows(ax: Any, panel: Dependence, rows: ShownRows, palette: Palette) -> None:
    x, y = (np.asarray(column(rows.X, place), dtype=np.float64) for place in panel.features)
    edge = {"markeredgecolor": palette.background, "markeredgewidth": 0.5, "clip_on": False}
    if panel.classes is not None and rows.targets is not None:
        for place, label in enumerate(panel.classes):
            own = rows.targets == place
            marker, color = MARKERS[place % len(MARKERS)], palette.series_color(place)
            ax.plot(x[own], y[own], marker, color=color, markersize=5, linestyle="none", label=f"{label}", **edge)
    else:
        ax.plot(x, y, "o", color=text_color(ax), markersize=3, label="data", **edge)
    at = np.vstack([np.column_stack([x, y])[rows.is_center], rows.other_centers[:, list(panel.features)]])
    if len(at):
        color = palette.accent if panel.classes is None else text_color(ax)
        style = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": color, "markeredgewidth": 1.6, "clip_on": False}
        ax.plot(at[:, 0], at[:, 1], "o", label="chosen centers", zorder=3, **style)
