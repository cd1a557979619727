"""Box plots of errors and numbers of functions, one file for each experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skarce.reproduce.runner.figures import add_grid, hide_frame, new_figure, save
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.formatting import short
from skarce.reproduce.runner.paper import Experiment, Paper
from skarce.reproduce.runner.units import Record

WIDTH_PER_METHOD, LEAST_WIDTH, HEIGHT = 1.5, 8.0, 3.4
WIDE_SPAN = 8.0  # if the largest value is more than this many times the smallest, the axis is logarithmic
NARROW_SPAN = 1.5  # if it is less than this many times the smallest, the axis does not start at zero
FILL, LINE, MEDIAN = "#cfe0ee", "#33566f", "#c8501e"


def draw_all(paper: Paper, records: Sequence[Record], folder: Path) -> list[str]:
    """Draw the paper's own pictures, and ``<experiment>.png`` for every experiment with results. Returns the file names."""
    names = [name for draw in paper.pictures for name in draw(findings(paper, records), folder)]
    for experiment in paper.experiments if paper.in_detail else ():
        own = [record for record in records if record.experiment == experiment.name and record.error is not None]
        if own:
            _draw(paper, experiment, own, folder / f"{experiment.name}.png")
            names.append(f"{experiment.name}.png")
    return names


def _draw(paper: Paper, experiment: Experiment, records: Sequence[Record], path: Path) -> None:
    figure = new_figure(max(LEAST_WIDTH, WIDTH_PER_METHOD * len(paper.contenders)), HEIGHT)
    left, right = figure.subplots(1, 2)
    _boxes(left, paper, records, "error", f"test {paper.measure.name}")
    _boxes(right, paper, records, "n_functions", "basis functions")
    n_repeats = len({record.repeat for record in records})
    figure.suptitle(f"{experiment.title}: {n_repeats} repeat{'s' if n_repeats > 1 else ''}", fontsize=12)
    save(figure, path)


def _boxes(axes: Any, paper: Paper, records: Sequence[Record], name: str, title: str) -> None:
    """One box for each method that has results. Whiskers are at most 1.5 times as long as the box; dots are further away."""
    values = {c.label: [getattr(r, name) for r in records if r.method == c.name] for c in paper.contenders}
    values = {label: own for label, own in values.items() if own}
    axes.boxplot(
        list(values.values()),
        widths=0.55,
        patch_artist=True,
        boxprops={"facecolor": FILL, "edgecolor": LINE},
        medianprops={"color": MEDIAN, "linewidth": 2},
        whiskerprops={"color": LINE},
        capprops={"color": LINE},
        flierprops={"marker": ".", "markersize": 5, "markerfacecolor": LINE, "markeredgecolor": "none", "alpha": 0.6},
    )
    axes.set_xticks(range(1, len(values) + 1), [f"{label}\n{short(np.median(own))}" for label, own in values.items()])
    axes.set_title(f"{title} (median below each name)", fontsize=10)
    _choose_scale(axes, np.concatenate([np.asarray(own, dtype=float) for own in values.values()]))
    add_grid(axes, "y")
    hide_frame(axes)


def _choose_scale(axes: Any, values: Any) -> None:
    """A logarithmic axis for a wide span of values. Otherwise an axis from zero, if that does not squeeze the boxes."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    if values.min() > 0.0 and values.max() > WIDE_SPAN * values.min():
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    elif values.max() > NARROW_SPAN * values.min():
        axes.set_ylim(bottom=0.0)
