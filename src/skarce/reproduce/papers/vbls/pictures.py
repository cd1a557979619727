"""Pictures like figures 9 and 10 of the paper on variational least squares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skarce.reproduce.papers.vbls.tables import LINEAR, MIXTURES, synthetic_name
from skarce.reproduce.runner.findings import Finding

SIZE, DPI = (9.0, 4.0), 100
COLOURS = ("#d62728", "#ff9896", "#ff7f0e", "#8c8c8c", "#9467bd", "#2ca02c", "#1f77b4")


def draw_mixtures(found: Sequence[Finding], r2: float, path: Path) -> bool:
    """Errors of all methods on the four mixtures of inputs, with standard errors; whether there was anything to draw."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    by_name = {finding.experiment.name: finding for finding in found}
    own = [(mixture, by_name[name]) for mixture in MIXTURES if (name := synthetic_name(*mixture, r2)) in by_name]
    if not own:
        return False
    figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    width = 0.8 / len(LINEAR)
    for place, (method, colour) in enumerate(zip(LINEAR, COLOURS, strict=True)):
        errors = [[r.error for r in finding.records if r.method == method and r.error is not None] for _, finding in own]
        means = [float(np.mean(e)) if e else np.nan for e in errors]
        spreads = [float(np.std(e, ddof=1) / np.sqrt(len(e))) if len(e) > 1 else 0.0 for e in errors]
        at = np.arange(len(own)) + (place - 0.5 * (len(LINEAR) - 1)) * width
        axes.bar(at, means, width, yerr=spreads, color=colour, label=own[0][1].paper.label(method), error_kw={"lw": 0.8})
    axes.set_xticks(range(len(own)), [f"{r} redundant\n{i} irrelevant" for (r, i), _ in own])
    axes.set_ylabel("NMSE on exact targets")
    axes.set_title(f"100 inputs, 10 relevant, r2 = {r2:g}: means and standard errors", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right center", frameon=False)
    figure.savefig(path, pil_kwargs={"optimize": True})
    return True


def draw_sinc(path: Path) -> None:
    """50 noisy points of sinc, the fit with two standard deviations, and the kernels it is made of."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from skarce import KernelBasis, VBLSRegressor

    rng = np.random.default_rng(0)
    X = np.linspace(-10.0, 10.0, 50)[:, None]
    y = np.sinc(X[:, 0] / np.pi) + rng.uniform(-0.2, 0.2, 50)
    model = VBLSRegressor(KernelBasis(gamma=0.1)).fit(X, y)
    grid = np.linspace(-10.0, 10.0, 400)[:, None]
    mean, std = model.predict(grid, return_std=True)
    figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, color="#d62728", alpha=0.15, lw=0, label="two std")
    axes.plot(grid[:, 0], model.basis_.transform(grid) * model.coef_, color="#1f77b4", lw=0.8, alpha=0.7)
    axes.plot(grid[:, 0], np.sinc(grid[:, 0] / np.pi), "k--", lw=1, label="sinc")
    axes.plot(grid[:, 0], mean, color="#d62728", label="VBLS-RVM")
    axes.plot(X[:, 0], y, ".", color="#8c8c8c", ms=5, label="data")
    chosen = model.basis_.center_indices_
    axes.plot(X[chosen, 0], y[chosen], "o", mfc="none", mec="k", label=f"{len(model.active_)} relevant of 50")
    axes.set_title("VBLS-RVM on sinc, and the kernels that it keeps (weighted)", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, pil_kwargs={"optimize": True})
