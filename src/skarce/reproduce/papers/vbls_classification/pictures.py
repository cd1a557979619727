"""Decision regions of classifiers in the plane, with the vectors that they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.comparison.cross_validation import Fold
from skarce.reproduce.runner.findings import Finding, Summary

METHODS = ("rvm", "frvm", "vbls-rvm", "svm")
COLOURS = ("#1f77b4", "#d62728")
WIDTH, HEIGHT, DPI, GRID, MARGIN = 3.1, 3.4, 100, 160, 0.08
N_SHADES = 10


def draw_regions(finding: Finding, path: Path) -> bool:
    """A panel per method on the first split of seed 0, at the median of its choices; whether there was anything to draw.

    Shades are probabilities (of the SVM, sides), the line is where both classes are equally likely, dashed lines are 0.25 and 0.75
    (the margins of the SVM), circles are the vectors.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    summaries = [s for s in finding.summaries if s.contender.name in METHODS and s.choice is not None]
    if not summaries:
        return False
    fold = finding.experiment.split(0, 0, finding.paper.input_range)
    figure = Figure(figsize=(WIDTH * len(summaries), HEIGHT), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, summary in zip(np.atleast_1d(figure.subplots(1, len(summaries))), summaries, strict=True):
        _panel(axes, summary, fold)
    figure.suptitle(f"{finding.experiment.title}: {len(fold.y_train)} training rows, the vectors circled", fontsize=11)
    figure.savefig(path, pil_kwargs={"optimize": True})
    return True


def _panel(axes: Any, summary: Summary, fold: Fold) -> None:
    model = summary.contender.make(summary.choice).fit(fold.X_train, fold.y_train)
    x, y = (_span(fold.X_train[:, k]) for k in (0, 1))
    plane = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    values, levels = _heights(model, plane)
    heights = values.reshape(GRID, GRID)
    shades = np.linspace(2.0 * levels[0] - levels[1], 2.0 * levels[2] - levels[1], N_SHADES + 1)
    axes.contourf(x, y, heights, levels=shades, cmap="coolwarm", alpha=0.35, extend="both")
    axes.contour(x, y, heights, levels=levels, colors="k", linewidths=(0.7, 1.4, 0.7), linestyles=("dashed", "solid", "dashed"))
    for label, colour in zip(np.unique(fold.y_train), COLOURS, strict=True):
        own = fold.X_train[fold.y_train == label]
        axes.plot(own[:, 0], own[:, 1], ".", color=colour, ms=4, mew=0)
    vectors = vectors_of(model, fold.X_train)
    axes.plot(vectors[:, 0], vectors[:, 1], "o", mfc="none", mec="k", ms=6, mew=0.9 if len(vectors) < 30 else 0.5)
    error = 100.0 * float(np.mean(model.predict(fold.X_test) != fold.y_test))
    axes.set_title(f"{summary.contender.label}: {len(vectors)} vectors, error {error:.1f} %", fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])


def vectors_of(model: Any, X_train: Floats) -> Floats:
    """The centres of the active kernels, or the support vectors."""
    vectors: Floats = X_train[model.support_] if hasattr(model, "support_") else model.relevance_vectors_
    return vectors


def _span(values: Floats) -> Floats:
    room = MARGIN * np.ptp(values)
    return np.linspace(values.min() - room, values.max() + room, GRID)


def _heights(model: Any, plane: Floats) -> tuple[Floats, tuple[float, float, float]]:
    """Probabilities of the second class, or the decision function of an SVM, and the levels at which to draw lines."""
    if hasattr(model, "support_"):
        return model.decision_function(plane), (-1.0, 0.0, 1.0)
    return model.predict_proba(plane)[:, 1], (0.25, 0.5, 0.75)
