"""Figure 1 of the paper on sparse kernel regression: rows of one split, and the fits to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skarce.reproduce.papers.skr.experiments import true_mean
from skarce.reproduce.runner.findings import Finding
from skarce.reproduce.runner.paper import scaled

SIZE, DPI = (11.0, 4.4), 100
STYLES = {"svm": ("#2e7d4f", "--"), "rvm": ("#7a4fa3", "-."), "skr": ("#c8501e", "-")}
SEED, REPEAT = 0, 0


def draw(found: Sequence[Finding], path: Path) -> None:
    """One panel for each experiment."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(found), squeeze=False)[0]
    for axes, finding in zip(panels, found, strict=True):
        _panel(axes, finding)
    figure.savefig(path, pil_kwargs={"optimize": True})


def _panel(axes: Any, finding: Finding) -> None:
    X, y, *_ = finding.experiment.draw(finding.experiment.rng(REPEAT, SEED))
    line = np.linspace(X.min(), X.max(), 400)[:, None]
    fold = scaled(X, y, line, line[:, 0], input_range=finding.paper.input_range)
    axes.plot(X[:, 0], y, ".", color="#9aa5ad", markersize=5, label="training rows")
    if finding.experiment.name == "simulated":
        axes.plot(line[:, 0], true_mean(line[:, 0]), color="black", linewidth=1.2, label="true mean")
    for summary in finding.summaries:
        contender = summary.contender
        if contender.name not in STYLES:
            continue
        own = (r for r in finding.records if (r.method, r.repeat) == (contender.name, REPEAT) and r.error is not None)
        record = next(own, None)
        if record is None:
            continue
        model = contender.make(record.choice).fit(fold.X_train, fold.y_train)
        colour, dashes = STYLES[contender.name]
        label = f"{contender.label}, {record.n_functions} kernels"
        axes.plot(line[:, 0], model.predict(fold.X_test), dashes, color=colour, linewidth=1.6, label=label)
    axes.set_title(finding.experiment.title, fontsize=11)
    axes.set_xlabel("metal distance" if finding.experiment.name == "ultrasonic" else "x")
    axes.set_ylabel("ultrasonic response" if finding.experiment.name == "ultrasonic" else "y")
    axes.legend(fontsize=8, framealpha=0.9, edgecolor="none")
    axes.spines[["top", "right"]].set_visible(False)
