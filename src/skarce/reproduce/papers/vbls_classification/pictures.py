"""Decision regions of classifiers in the plane, and the vectors that define them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.comparison import Fold
from skarce.reproduce.runner.figures import new_figure, save
from skarce.reproduce.runner.findings import Finding, Summary

METHODS = ("rvm", "frvm", "vbls-rvm", "svm")
COLORS = ("#1f77b4", "#d62728")
IN_THE_PLANE = ("ripley", "banana")  # data with two inputs
PANEL_WIDTH, HEIGHT = 3.1, 3.4
N_GRID, MARGIN, N_SHADES = 160, 0.08, 10
MANY_VECTORS = 30  # from here on they are drawn with thinner circles


def draw(found: Sequence[Finding], folder: Path) -> list[str]:
    """Draw ``ripley-regions.png`` and ``banana-regions.png``, if there are results for them."""
    chosen = [finding for finding in found if finding.experiment.name in IN_THE_PLANE]
    return [name for finding in chosen if draw_regions(finding, folder / (name := f"{finding.experiment.name}-regions.png"))]


def draw_regions(finding: Finding, path: Path) -> bool:
    """A panel for each method on the first split of seed 0, at the median of its choices. Returns whether anything was drawn.

    Shades are probabilities, or values of the decision function of the SVM. On the solid line both classes are equally likely. On
    the dashed lines the probability is 0.25 and 0.75; for the SVM they are its margins. Circles mark the vectors.
    """
    summaries = [s for s in finding.summaries if s.contender.name in METHODS and s.choice is not None]
    if not summaries:
        return False
    fold = finding.experiment.split(0, 0, finding.paper.input_range)
    figure = new_figure(PANEL_WIDTH * len(summaries), HEIGHT)
    for axes, summary in zip(np.atleast_1d(figure.subplots(1, len(summaries))), summaries, strict=True):
        _panel(axes, summary, fold)
    figure.suptitle(f"{finding.experiment.title}: {len(fold.y_train)} training rows, the vectors circled", fontsize=11)
    save(figure, path)
    return True


def _panel(axes: Any, summary: Summary, fold: Fold) -> None:
    model = summary.contender.make(summary.choice).fit(fold.X_train, fold.y_train)
    x, y = (_span(fold.X_train[:, k]) for k in (0, 1))
    plane = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    values, levels = _heights(model, plane)
    heights = values.reshape(N_GRID, N_GRID)
    shades = np.linspace(2.0 * levels[0] - levels[1], 2.0 * levels[2] - levels[1], N_SHADES + 1)
    axes.contourf(x, y, heights, levels=shades, cmap="coolwarm", alpha=0.35, extend="both")
    axes.contour(x, y, heights, levels=levels, colors="k", linewidths=(0.7, 1.4, 0.7), linestyles=("dashed", "solid", "dashed"))
    for label, color in zip(np.unique(fold.y_train), COLORS, strict=True):
        own = fold.X_train[fold.y_train == label]
        axes.plot(own[:, 0], own[:, 1], ".", color=color, ms=4, mew=0)
    vectors = vectors_of(model, fold.X_train)
    axes.plot(vectors[:, 0], vectors[:, 1], "o", mfc="none", mec="k", ms=6, mew=0.9 if len(vectors) < MANY_VECTORS else 0.5)
    error = 100.0 * float(np.mean(model.predict(fold.X_test) != fold.y_test))
    axes.set_title(f"{summary.contender.label}: {len(vectors)} vectors, error {error:.1f} %", fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])


def vectors_of(model: Any, X_train: Floats) -> Floats:
    """The centers of the active kernels, or the support vectors."""
    vectors: Floats = X_train[model.support_] if hasattr(model, "support_") else model.relevance_vectors_
    return vectors


def _span(values: Floats) -> Floats:
    room = MARGIN * np.ptp(values)
    return np.linspace(values.min() - room, values.max() + room, N_GRID)


def _heights(model: Any, plane: Floats) -> tuple[Floats, tuple[float, float, float]]:
    """Probabilities of the second class, or the decision function of an SVM, and the levels of the three lines."""
    if hasattr(model, "support_"):
        return model.decision_function(plane), (-1.0, 0.0, 1.0)
    return model.predict_proba(plane)[:, 1], (0.25, 0.5, 0.75)
