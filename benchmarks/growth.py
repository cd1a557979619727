"""Time against rows, for us and for what users would run instead: ``python -m benchmarks.growth [regression] [--out FOLDER]``.

A method is fitted to 100, 300, 1000, ... rows until a fit takes longer than ``--limit`` seconds. A picture for each task has
logarithmic axes, and the slope at the end: 1 if twice the rows take twice the time. Methods take turns at each size. Run nothing
else at the same time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1, make_moons
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.svm import SVC, SVR

from benchmarks.__main__ import machine
from benchmarks.picture import save_small
from benchmarks.timing import wall_seconds
from skarce import RelevanceVectorClassifier, RelevanceVectorRegressor
from skarce.inspection.displays.drawing import MARKERS
from skarce.inspection.palette import LIGHT
from skarce.reproduce.runner.figures import hide_frame, new_figure

SIZES = [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
REPEATS, QUICK = 3, 0.5  # a fit of less than so many seconds is repeated, and the shortest time counts
AT_THE_END = 3  # sizes that the slope is taken from
IMAGES = Path("docs/images")


@dataclass(frozen=True)
class Task:
    """How to make rows, and the methods by name."""

    data: Callable[[int], tuple[np.ndarray, np.ndarray]]
    methods: dict[str, Callable[[], Any]]


def friedman(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(n, noise=1.0, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def _fastrvm() -> Any:
    from fastrvm import RVR

    return RVR(kernel="rbf", gamma=0.1, fit_intercept=True)


def _lightgbm(kind: str) -> Callable[[], Any]:
    def make() -> Any:
        import lightgbm

        return getattr(lightgbm, kind)(verbose=-1)

    return make


def _if_installed(package: str, methods: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    return methods if importlib.util.find_spec(package) else {}


TASKS = {
    "regression": Task(
        friedman,
        {
            "RelevanceVectorRegressor": lambda: RelevanceVectorRegressor("rbf", calibrate_std=False),
            "RelevanceVectorRegressor, calibrated": lambda: RelevanceVectorRegressor("rbf", calibrate_std=True),
            "SVR": lambda: SVR(C=10.0),
            "GaussianProcessRegressor": lambda: GaussianProcessRegressor(1.0 * RBF(3.0) + WhiteKernel(0.1)),
            "LassoCV": LassoCV,
            **_if_installed("fastrvm", {"fastrvm": _fastrvm}),
            **_if_installed("lightgbm", {"LightGBM": _lightgbm("LGBMRegressor")}),
        },
    ),
    "classification": Task(
        lambda n: make_moons(n, noise=0.25, random_state=0),
        {
            "RelevanceVectorClassifier": lambda: RelevanceVectorClassifier("rbf", calibrate_proba=False),
            "SVC": SVC,
            "GaussianProcessClassifier": lambda: GaussianProcessClassifier(1.0 * RBF()),
            "LogisticRegressionCV": LogisticRegressionCV,
            **_if_installed("lightgbm", {"LightGBM": _lightgbm("LGBMClassifier")}),
        },
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("tasks", nargs="*", choices=[[], *TASKS], default=[], help="all of them by default")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a fit after which no larger one is tried")
    parser.add_argument("--max-rows", type=int, default=SIZES[-1])
    parser.add_argument("--out", type=Path, help="folder for growth.json and growth.txt; pictures go to docs/images")
    parser.add_argument("--redraw", type=Path, help="draw the pictures of this growth.json again, and measure nothing")
    arguments = parser.parse_args()
    if arguments.redraw:
        draw_all(stored(arguments.redraw))
        return
    sizes = [n for n in SIZES if n <= arguments.max_rows]
    found = {name: measured(TASKS[name], sizes, arguments.limit) for name in arguments.tasks or TASKS}
    text = "".join(table_of(name, times) for name, times in found.items())
    print(text, end="")
    if arguments.out:
        (arguments.out / "growth.json").write_text(json.dumps({"machine": machine(), "seconds": found}, indent=1) + "\n")
        (arguments.out / "growth.txt").write_text(text)
        draw_all(found)


def stored(path: Path) -> dict[str, dict[str, dict[int, float]]]:
    """Return seconds by task, method and number of rows as they were measured once."""
    seconds = json.loads(path.read_text())["seconds"]
    return {
        task: {name: {int(n): value for n, value in row.items()} for name, row in times.items()} for task, times in seconds.items()
    }


def draw_all(found: dict[str, dict[str, dict[int, float]]]) -> None:
    for name, times in found.items():
        draw(name, times, IMAGES / f"growth-{name}.png")


def measured(task: Task, sizes: list[int], limit: float) -> dict[str, dict[int, float]]:
    """Return seconds by method and number of rows."""
    times: dict[str, dict[int, float]] = {name: {} for name in task.methods}
    for n in sizes:
        X, y = task.data(n)
        for name, make in task.methods.items():
            if max(times[name].values(), default=0.0) < limit and len(times[name]) == sizes.index(n):
                times[name][n] = seconds_of(make, X, y)
    return times


def seconds_of(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = wall_seconds(lambda: make().fit(X, y))
        if seconds < QUICK:
            seconds = min(wall_seconds(lambda: make().fit(X, y))[0] for _ in range(REPEATS))
    return seconds


def slope(times: dict[int, float]) -> float:
    """Return the power of the rows that the time grows with, at the largest sizes."""
    sizes, seconds = (np.log(list(values)[-AT_THE_END:]) for values in (times.keys(), times.values()))
    return float(np.polyfit(sizes, seconds, 1)[0]) if len(sizes) > 1 else np.nan


def table_of(task: str, times: dict[str, dict[int, float]]) -> str:
    """Return a table in plain text: one method per line, seconds by rows, and the slope."""
    sizes = sorted({n for row in times.values() for n in row})
    lines = [f"{task:<28}" + "".join(f"{n:>11,}" for n in sizes) + "      slope"]
    for name, row in times.items():
        lines.append(f"{name:<28}" + "".join(f"{row[n]:11.4f}" if n in row else f"{'':11}" for n in sizes) + f"{slope(row):11.2f}")
    return "\n".join(lines) + "\n\n"


def draw(task: str, times: dict[str, dict[int, float]], path: Path) -> None:
    figure = new_figure(7.0, 4.2)
    axes = figure.subplots()
    for place, (name, row) in enumerate(times.items()):
        style: dict[str, Any] = {"linewidth": 2.4, "zorder": 3} if name.startswith("Relevance") else {"linewidth": 1.2}
        style |= {"markersize": 4, "color": LIGHT.series_color(place), "label": f"{name} (slope {slope(row):.1f})"}
        axes.loglog(list(row), list(row.values()), f"{MARKERS[place % len(MARKERS)]}-", **style)
    axes.set(xlabel="rows", ylabel="seconds of a fit", title=task.capitalize())
    hide_frame(axes)
    axes.legend(fontsize=8, frameon=False)
    save_small(figure, path)


if __name__ == "__main__":
    main()
