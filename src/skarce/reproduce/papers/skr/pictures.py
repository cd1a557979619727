"""Figure 1 of the paper on sparse kernel regression: the rows of one split, and the fits to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.comparison import Fold
from skarce.reproduce.papers.skr.data import true_mean
from skarce.reproduce.runner.figures import hide_frame, new_figure, save
from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.splits import scaled

WIDTH, HEIGHT = 11.0, 4.4
STYLES = {"svm": ("#2e7d4f", "--"), "rvm": ("#7a4fa3", "-."), "skr": ("#c8501e", "-")}  # color and dashes
AXIS_LABELS = {"simulated": ("x", "y"), "ultrasonic": ("metal distance", "ultrasonic response")}
SEED, REPEAT = 0, 0  # of the split that is drawn


def draw_fits(found: Sequence[Finding], folder: Path) -> list[str]:
    """One panel for each experiment, in the file ``fits.png``."""
    figure = new_figure(WIDTH, HEIGHT)
    for axes, finding in zip(figure.subplots(1, len(found), squeeze=False)[0], found, strict=True):
        _panel(axes, finding)
    save(figure, folder / "fits.png")
    return ["fits.png"]


def _panel(axes: Any, finding: Finding) -> None:
    experiment = finding.experiment
    X, y, *_ = experiment.draw(experiment.rng(REPEAT, SEED))
    line = np.linspace(X.min(), X.max(), 400)[:, None]
    fold = scaled(X, y, line, line[:, 0], input_range=finding.paper.input_range)
    axes.plot(X[:, 0], y, ".", color="#9aa5ad", markersize=5, label="training rows")
    if experiment.name == "simulated":
        axes.plot(line[:, 0], true_mean(line[:, 0]), color="black", linewidth=1.2, label="true mean")
    for summary in finding.summaries:
        if summary.contender.name in STYLES:
            _draw_fit(axes, finding, summary, fold, line[:, 0])
    x_label, y_label = AXIS_LABELS[experiment.name]
    axes.set_title(experiment.title, fontsize=11)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend(fontsize=8, framealpha=0.9, edgecolor="none")
    hide_frame(axes)


def _draw_fit(axes: Any, finding: Finding, summary: Summary, fold: Fold, x: Floats) -> None:
    """Fit again with the recorded choice, and draw the predictions at `x`."""
    contender = summary.contender
    own = (r for r in finding.records if (r.method, r.repeat) == (contender.name, REPEAT) and r.error is not None)
    record = next(own, None)
    if record is None:
        return
    model = contender.make(record.choice).fit(fold.X_train, fold.y_train)
    color, dashes = STYLES[contender.name]
    label = f"{contender.label}, {record.n_functions} kernels"
    axes.plot(x, model.predict(fold.X_test), dashes, color=color, linewidth=1.6, label=label)
