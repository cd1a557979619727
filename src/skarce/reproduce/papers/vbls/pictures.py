"""Pictures like figures 9 and 10 of the paper on variational least squares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skarce.basis import KernelBasis
from skarce.estimators import VBLSRegressor
from skarce.inspection.palette import LIGHT
from skarce.reproduce.papers.vbls.contenders import LINEAR
from skarce.reproduce.papers.vbls.data import MIXTURES, NOISES, exact_sinc, synthetic_name
from skarce.reproduce.runner.figures import hide_frame, new_figure, save
from skarce.reproduce.runner.findings import Finding

WIDTH, HEIGHT = 9.0, 4.0


def draw(found: Sequence[Finding], folder: Path) -> list[str]:
    """Draw ``mixed-0.9.png`` and ``mixed-0.8.png``, if there are results for them, and ``sinc.png``."""
    names = [name for r2 in NOISES if draw_mixtures(found, r2, folder / (name := f"mixed-{r2:g}.png"))]
    draw_sinc(folder / "sinc.png")
    return [*names, "sinc.png"]


def draw_mixtures(found: Sequence[Finding], r2: float, path: Path) -> bool:
    """Errors of all methods on the four mixtures of inputs, with standard errors. Returns whether there was anything to draw."""
    by_name = {finding.experiment.name: finding for finding in found}
    own = [(mixture, by_name[name]) for mixture in MIXTURES if (name := synthetic_name(*mixture, r2)) in by_name]
    if not own:
        return False
    figure = new_figure(WIDTH, HEIGHT)
    axes = figure.subplots()
    width = 0.8 / len(LINEAR)
    for place, method in enumerate(LINEAR):
        means = [np.nan if (mean := finding.summary(method).mean) is None else mean for _, finding in own]
        spreads = [finding.standard_error(method) or 0.0 for _, finding in own]
        at = np.arange(len(own)) + (place - 0.5 * (len(LINEAR) - 1)) * width
        axes.bar(
            at,
            means,
            width,
            yerr=spreads,
            color=LIGHT.series_color(place),
            label=own[0][1].paper.label(method),
            error_kw={"lw": 0.8},
        )
    axes.set_xticks(range(len(own)), [f"{r} redundant\n{i} irrelevant" for (r, i), _ in own])
    axes.set_ylabel("NMSE on exact targets")
    axes.set_title(f"100 inputs, 10 relevant, r2 = {r2:g}: means and standard errors", fontsize=11)
    hide_frame(axes)
    figure.legend(loc="outside right center", frameon=False)
    save(figure, path)
    return True


def draw_sinc(path: Path) -> None:
    """50 noisy points of sinc, the fit with two standard deviations, and its kernels."""
    rng = np.random.default_rng(0)
    X = np.linspace(-10.0, 10.0, 50)[:, None]
    y = exact_sinc(X) + rng.uniform(-0.2, 0.2, 50)
    model = VBLSRegressor(KernelBasis(gamma=0.1)).fit(X, y)
    grid = np.linspace(-10.0, 10.0, 400)[:, None]
    mean, std = model.predict(grid, return_std=True)
    figure = new_figure(WIDTH, HEIGHT)
    axes = figure.subplots()
    axes.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, color=LIGHT.main, alpha=LIGHT.band_alpha, lw=0, label="two std")
    axes.plot(grid[:, 0], model.basis_.transform(grid) * model.posterior_.mean, color=LIGHT.accent, lw=0.8, alpha=0.7)
    axes.plot(grid[:, 0], exact_sinc(grid), "k--", lw=1, label="sinc")
    axes.plot(grid[:, 0], mean, color=LIGHT.main, label="VBLS-RVM")
    axes.plot(X[:, 0], y, ".", color=LIGHT.data, ms=5, label="data")
    chosen = model.basis_.center_indices_
    axes.plot(X[chosen, 0], y[chosen], "o", mfc="none", mec="k", label=f"{len(model.active_)} relevant of 50")
    axes.set_title("VBLS-RVM on sinc, and the kernels that it keeps (weighted)", fontsize=11)
    hide_frame(axes)
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)
