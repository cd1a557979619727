"""Figures without a window. Matplotlib is optional and imported only when something is drawn."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from skarce.inspection.displays.drawing import hide_frame
from skarce.inspection.palette import LIGHT

__all__ = ["add_grid", "can_draw", "hide_frame", "new_figure", "save"]

DPI = 100


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Any, path: Path) -> None:
    """Write a figure as a small PNG file."""
    figure.savefig(path, pil_kwargs={"optimize": True})


def add_grid(axes: Any, axis: str = "both") -> None:
    """Thin gray lines behind the data."""
    axes.grid(axis=axis, color=LIGHT.grid, linewidth=0.8)
    axes.set_axisbelow(True)
