"""What all displays share: matplotlib itself, axes to draw on, and the colors that suit their background."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np

from skarce._text import one_line, quoted
from skarce._typing import Floats
from skarce.inspection.palette import Palette, palette_on

PANEL_SIZE = (4.8, 3.6)  # width and height of one panel, in inches
INTERVAL_WIDTH = 2.0  # of the lines that show intervals
ROW_HEIGHT = 0.28  # of one name in a list, in inches
LONGEST_LINE = 36  # characters of an axis label in one line
LONGEST_ROW_NAME = 30  # characters of a name in a list
MOST_LEGEND_COLUMNS = 4
USUAL_LEGEND = 0.5  # its height above a panel, in inches
FILLED = 0.9  # share of the width and height of a legend that has words and marks
MOST_TICKS = 5  # on an axis below a list, so that large numbers fit
MARKERS = "osD^vP*"  # of classes, so that color is not all that tells them apart


class Display:
    """The axes that a display was drawn on.

    Attributes
    ----------
    axes_ : ndarray of matplotlib.axes.Axes
        The axes, one for each panel.
    ax_ : matplotlib.axes.Axes
        The first of them.
    figure_ : matplotlib.figure.Figure
        Their figure.
    """

    axes_: Any
    ax_: Any
    figure_: Any

    def _keep(self, axes: list[Any]) -> None:
        self.axes_ = np.array(axes, dtype=object)
        self.ax_, self.figure_ = axes[0], axes[0].figure


def matplotlib_for(caller: str) -> Any:
    """Return matplotlib, or say how to get it."""
    try:
        import matplotlib
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(
            f'{caller} draws with matplotlib, which is not installed. In the folder of the source, run: pip install ".[plot]"'
        ) from error
    return matplotlib


def axes_for(ax: Any, n_panels: int, caller: str, *, n_columns: int = 3, size: tuple[float, float] = PANEL_SIZE) -> list[Any]:
    """Return axes for the panels: those that were given, or those of a new figure."""
    matplotlib = matplotlib_for(caller)
    if ax is None:
        n_columns = min(n_columns, n_panels)
        n_rows = -(-n_panels // n_columns)
        shape = (n_columns * size[0], n_rows * size[1])
        _, grid = matplotlib.pyplot.subplots(n_rows, n_columns, figsize=shape, layout="constrained", squeeze=False)
        for unused in grid.ravel()[n_panels:]:
            unused.set_axis_off()
        return list(grid.ravel()[:n_panels])
    given = list(np.asarray(ax, dtype=object).ravel())
    if not all(isinstance(one, matplotlib.axes.Axes) for one in given):
        raise TypeError(f"ax must be axes of matplotlib, or an array of them, got {quoted(ax)}.")
    if len(given) != n_panels:
        raise ValueError(f"{caller} draws {n_panels} panel{'' if n_panels == 1 else 's'} here, but ax has {len(given)} axes.")
    return given


def palette_of(ax: Any) -> Palette:
    """Return the colors that suit the background of the axes."""
    from matplotlib.colors import to_rgba

    background = to_rgba(ax.get_facecolor())
    if background[3] < 0.5:
        background = to_rgba(ax.figure.get_facecolor())
    return palette_on(background[:3]) if background[3] >= 0.5 else palette_on("#ffffff")


def text_color(ax: Any) -> Any:
    """Return the color of text and zero lines under the current style."""
    return ax.xaxis.label.get_color()


def scale_from(*colors: Any) -> Any:
    """Return a scale of colors that goes through the given ones."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("skarce", colors)


def hide_frame(ax: Any) -> None:
    """Keep only the left and the lower line of the frame."""
    ax.spines[["top", "right"]].set_visible(False)


def draw_legend(ax: Any, **where: Any) -> None:
    """Draw a legend, if anything has a label, that stays readable if data are behind it."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{"loc": "best", "fontsize": "small", "framealpha": 0.8, "edgecolor": "none", **where})


def draw_legend_in_a_free_place(ax: Any) -> bool:
    """Draw a legend on the axes, or above them if it would hide a curve or a band. Return whether it is above."""
    draw_legend(ax)
    if ax.get_legend() is None or not _is_hiding(ax):
        return False
    draw_legend_above(ax)
    return True


def _is_hiding(ax: Any) -> bool:
    """Whether the legend lies on a curve or a band. Single dots are seen well enough without those behind it."""
    ax.figure.figure.draw_without_rendering()  # the layout makes room for names, and only then are places final
    box = ax.get_legend().get_window_extent().expanded(FILLED, FILLED)
    curves = [line for line in ax.lines if line.get_linestyle() != "None"]
    is_on_curve = any(_is_on(box, curve, [curve.get_path()], filled=False) for curve in curves)
    return is_on_curve or any(_is_on(box, band, band.get_paths(), filled=True) for band in ax.collections)


def _is_on(box: Any, artist: Any, paths: list[Any], *, filled: bool) -> bool:
    """Whether a box lies on any of the paths of an artist."""
    transform = artist.get_transform()
    return any(transform.transform_path(path).intersects_bbox(box, filled=filled) for path in paths)


def draw_legend_above(ax: Any) -> None:
    """Draw a legend above the axes, so that no data are hidden, in as many columns as there is room for."""
    handles, labels = ax.get_legend_handles_labels()
    names = [one_line(label, LONGEST_ROW_NAME) for label in labels]
    where = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "handletextpad": 0.3, "columnspacing": 1.0, "labelspacing": 0.3}
    for n_columns in range(min(MOST_LEGEND_COLUMNS, len(names)), 0, -1):
        draw_legend(ax, handles=handles, labels=names, ncols=n_columns, **where)
        if ax.get_legend().get_window_extent().width <= ax.get_window_extent().width:
            return


def make_room_for_legends(axes: list[Any]) -> None:
    """Make a figure higher by what the tallest legend above its axes has beyond a usual one, so that panels keep their height."""
    legends = [ax.get_legend() for ax in axes if ax.get_legend() is not None]
    if not legends:
        return
    figure = axes[0].figure
    more = max(legend.get_window_extent().height for legend in legends) / figure.dpi - USUAL_LEGEND
    if more > 0.0:
        figure.set_figheight(figure.get_figheight() + more * axes[0].get_subplotspec().get_gridspec().nrows)


def draw_list(ax: Any, names: list[str], n_more: int, what: str) -> None:
    """Name the rows of a horizontal list, the first on top, and say how many are not shown."""
    ax.set_yticks(np.arange(len(names)), [one_line(name, LONGEST_ROW_NAME) for name in names])
    spread_ticks(ax)
    ax.set_ylim(max(len(names), 1) - 0.4 + (0.6 if n_more > 0 else 0.0), -0.6)  # the note has a row of its own
    hide_frame(ax)
    if n_more > 0:
        note = f"and {n_more} more {what}{'' if n_more == 1 else 's'}"
        ax.annotate(note, (1.0, 0.0), (0.0, 4.0), "axes fraction", "offset points", ha="right", va="bottom", fontsize="small")


def wrapped(label: str) -> str:
    """Return a label in lines that fit below or beside a panel."""
    return label if len(label) <= LONGEST_LINE else "\n".join(wrap(label, LONGEST_LINE))


def spread_ticks(ax: Any) -> None:
    """Have few ticks on the x axis, and a power of ten for large or small numbers, so that they do not touch."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(MOST_TICKS))
    ax.ticklabel_format(axis="x", scilimits=(-3, 4))
    ax.xaxis.get_offset_text().set(x=1.01, ha="left")  # the power stands beside the axis, not on its label


def count_on(axis: Any) -> None:
    """Have ticks at whole numbers only, if there are at least two of them."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))


def list_size(n_rows: int) -> tuple[float, float]:
    """Return width and height of a list with this many rows, in inches."""
    return PANEL_SIZE[0] + 0.7, max(1.8, 1.1 + ROW_HEIGHT * n_rows)


def draw_intervals(ax: Any, values: Floats, lower: Floats, upper: Floats, color: Any, label: str | None = None) -> None:
    """Draw values as dots, and their intervals as lines, from top to bottom."""
    places = np.arange(len(values))
    ends = np.abs(np.vstack([values - lower, upper - values]))
    ax.errorbar(values, places, xerr=ends, fmt="o", color=color, markersize=5, elinewidth=INTERVAL_WIDTH, label=label)
