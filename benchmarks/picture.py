"""Draw the picture of the README: python -m benchmarks.picture [--out docs/images/sinc.png].

The same noisy sinc, once by relevance vectors and once by a support vector machine with the same kernel.
The left one is a `PredictionDisplay`, and the right one has the same colors.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.svm import SVR

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.inspection import PredictionDisplay
from skarce.inspection.palette import LIGHT
from skarce.reproduce.runner.figures import hide_frame, new_figure

N_ROWS, NOISE, GAMMA = 200, 0.1, 0.1
HALF_RANGE = 10.0
Y_LIMITS = (-0.65, 1.35)
BLUE, ORANGE = LIGHT.main, LIGHT.accent
DPI, N_COLORS = 160, 48
PANEL_GAP = 0.06  # space between the panels, as a share of their width


def noisy_sinc() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-HALF_RANGE, HALF_RANGE, N_ROWS))
    return x[:, None], np.sinc(x / np.pi) + rng.normal(0.0, NOISE, N_ROWS)


def draw_background(axes: Any, grid: np.ndarray) -> None:
    axes.plot(grid, np.sinc(grid / np.pi), "--", color="black", linewidth=1, label="truth", zorder=4)
    axes.set(xlim=(grid[0], grid[-1]), ylim=Y_LIMITS, xticks=[-10, -5, 0, 5, 10], yticks=[-0.5, 0, 0.5, 1])
    hide_frame(axes)


def draw_centers(axes: Any, X: np.ndarray, y: np.ndarray, label: str) -> None:
    axes.plot(
        X[:, 0], y, "o", markersize=6, markerfacecolor="none", markeredgecolor=ORANGE, markeredgewidth=1.3, label=label, zorder=3
    )


def draw_relevance_vectors(axes: Any, X: np.ndarray, y: np.ndarray, grid: np.ndarray) -> None:
    model = RelevanceVectorRegressor(KernelBasis(gamma=GAMMA)).fit(X, y)
    PredictionDisplay.from_estimator(model, X, y, grid_resolution=len(grid), ax=axes)
    axes.set(xlabel="", ylabel="")
    axes.set_title(f"RelevanceVectorRegressor: {len(model.active_)} of {len(X)} functions", fontsize=10)


def draw_support_vectors(axes: Any, X: np.ndarray, y: np.ndarray, grid: np.ndarray) -> None:
    model = SVR(gamma=GAMMA).fit(X, y)
    axes.plot(X[:, 0], y, ".", color=LIGHT.data, markersize=4, label="data", zorder=1)
    axes.plot(grid, model.predict(grid[:, None]), color=BLUE, linewidth=2, label="prediction", zorder=2)
    draw_centers(axes, X[model.support_], y[model.support_], "support vectors")
    axes.set_title(f"SVR (scikit-learn): {len(model.support_)} of {len(X)} functions", fontsize=10)


def save_small(figure: Any, path: Path, n_colors: int = N_COLORS) -> None:
    """A PNG file with a palette takes a third of the space of one with full colors."""
    buffer = BytesIO()
    figure.savefig(buffer, dpi=DPI, format="png")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(buffer).convert("RGB").quantize(n_colors).save(path, optimize=True)


def draw(path: Path) -> None:
    X, y = noisy_sinc()
    grid = np.linspace(-HALF_RANGE, HALF_RANGE, 400)
    figure = new_figure(8.4, 3.0)
    for axes, draw_model in zip(figure.subplots(1, 2, sharey=True), (draw_relevance_vectors, draw_support_vectors), strict=True):
        draw_background(axes, grid)
        draw_model(axes, X, y, grid)
        axes.legend(loc="upper right", fontsize=7.5, frameon=False)
    figure.get_layout_engine().set(wspace=PANEL_GAP)
    save_small(figure, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the picture of the README.")
    parser.add_argument("--out", type=Path, default=Path("docs/images/sinc.png"))
    draw(parser.parse_args().out)
