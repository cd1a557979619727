"""Errors relative to the model with all functions, and sizes, over the number of training rows. One panel for each prototask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from skarce.reproduce.papers.ssge.data import PROTOTASKS, prototask_of, size_of
from skarce.reproduce.runner.figures import add_grid, hide_frame, new_figure, save
from skarce.reproduce.runner.findings import Finding

WIDTH, HEIGHT = 12.0, 5.6
LEAST_SIZE = 0.5  # where a model without functions is drawn on the logarithmic axis
COLORS = {
    "pta10": "#1f77b4",
    "pta21": "#17becf",
    "sffs": "#d62728",
    "oscillating5": "#2ca02c",
    "abf": "#000000",
    "rvm": "#ff7f0e",
    "svm": "#9467bd",
    "ols": "#8c8c8c",
}
COMMON: dict[str, Any] = {"linestyle": "-", "linewidth": 1.3, "marker": "."}
# Oscillating(5) and PTA(1,0) have the same sizes. Thin dashes on a broad line, and a dot in a ring, keep both visible.
OWN_STYLE: dict[str, dict[str, Any]] = {
    "pta10": {"linewidth": 4.0, "marker": "o", "markersize": 9.0, "markerfacecolor": "white", "alpha": 0.6},
    "oscillating5": {"linestyle": (0, (4, 3)), "linewidth": 1.5, "marker": ".", "zorder": 3.0},
}
Number = Callable[[Finding, str], float | None]


def draw_lines(found: Sequence[Finding], folder: Path) -> list[str]:
    """Draw ``errors.png`` and ``functions.png``."""
    _draw(found, folder / "errors.png", _relative_error, "mean test error over that of ABF", is_log=False)
    _draw(found, folder / "functions.png", _n_functions, "mean number of functions", is_log=True)
    return ["errors.png", "functions.png"]


def _relative_error(finding: Finding, method: str) -> float | None:
    ours, dense = finding.summary(method).mean, finding.summary("abf").mean
    return None if ours is None or not dense else ours / dense


def _n_functions(finding: Finding, method: str) -> float | None:
    number = finding.summary(method).n_functions
    return None if number is None else max(number, LEAST_SIZE)


def _draw(found: Sequence[Finding], path: Path, number: Number, title: str, *, is_log: bool) -> None:
    figure = new_figure(WIDTH, HEIGHT)
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    for axes, prototask in zip(panels.flat, PROTOTASKS, strict=True):
        own = [finding for finding in found if prototask_of(finding) == prototask]
        _lines(axes, own, number)
        _decorate(axes, prototask, sorted({size_of(finding) for finding in found}), is_log=is_log)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    figure.supxlabel("training rows", fontsize=10)
    figure.suptitle(title, fontsize=12)
    save(figure, path)


def _lines(axes: Any, own: Sequence[Finding], number: Number) -> None:
    for method, color in COLORS.items():
        points = [(size_of(finding), value) for finding in own if (value := number(finding, method)) is not None]
        label = own[0].paper.label(method) if own else method
        x, y = zip(*points, strict=True) if points else ((), ())
        axes.plot(x, y, color=color, label=label, **(COMMON | OWN_STYLE.get(method, {})))


def _decorate(axes: Any, title: str, sizes: Sequence[int], *, is_log: bool) -> None:
    from matplotlib.ticker import StrMethodFormatter

    axes.set_title(title, fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    if is_log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    add_grid(axes)
    hide_frame(axes)
