"""Compare LWPR with other models that learn from streams: ``python -m benchmarks.lwpr``.

Five questions. Does it learn the cross of its paper in 2, 10 and 20 inputs? Does it follow an arm whose payload changes, at once
or slowly, next to stochastic gradients of scikit-learn and trees of river (if that is installed)? How many rows a second does it
learn, and how large does the model become? How many new targets do intervals cover? What do larger steps of the metrics do? Rows
per second are those of CPU time on one core. Boston and Abalone come from the folder that SKARCE_DATA names, or from OpenML.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.rivals import require_rivals
from skarce import LWPRRegressor
from skarce.datasets import load

BATCH = 100
FIRST_BATCH = 2000  # of the arm: scales of inputs come from it
WIDTHS = {2: 100.0, 10: 100.0, 20: 50.0}  # initial metric of the cross in as many inputs; ten inputs of noise want a wider one
PARTS = ("cross", "arm", "long arm", "drift", "speed", "intervals", "larger steps")
Stream = tuple[np.ndarray, np.ndarray]
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # rows and targets for training, and new ones
VARIANTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "diagonal": lambda n_inputs: {},
    "full": lambda n_inputs: {"metric": "full"},
    "larger steps": lambda n_inputs: {"learning_rate": float(n_inputs)},
    "chosen width": lambda n_inputs: {"initial_metric": "auto"},
}


def cross(X: np.ndarray) -> np.ndarray:
    a, b = X[:, 0] ** 2, X[:, 1] ** 2
    return np.maximum.reduce([np.exp(-10.0 * a), np.exp(-50.0 * b), 1.25 * np.exp(-5.0 * (a + b))])


def embedded(X: np.ndarray, n_inputs: int, rng: np.random.Generator) -> np.ndarray:
    """Two inputs, as 10 by a rotation, and with 10 more of small noise, as in the paper."""
    if n_inputs == 2:
        return X
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(10, 10)))[0]
    rotated = X @ rotation[:2]
    return rotated if n_inputs == 10 else np.hstack([rotated, 0.05 * rng.normal(size=(len(X), n_inputs - 10))])


def learn_cross(n_inputs: int, n_rows: int, n_passes: int, variant: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, 2))
    y = cross(X) + 0.1 * rng.normal(size=n_rows)
    axis = np.linspace(-1, 1, 41)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    X_train, X_test = embedded(X, n_inputs, rng), embedded(grid, n_inputs, rng)
    started = time.process_time()
    options = {"initial_metric": WIDTHS[n_inputs], "norm_in": 1.0, "n_passes": n_passes, "random_state": 0}
    model = LWPRRegressor(**options | VARIANTS[variant](n_inputs)).fit(X_train, y)
    seconds = time.process_time() - started
    error = float(np.mean((model.predict(X_test) - cross(grid)) ** 2) / np.var(cross(grid)))
    projections = float(model.n_projections_.mean())
    return {"nmse": error, "fields": model.n_fields_, "projections": projections, "rows_per_s": n_passes * n_rows / seconds}


def arm(n_rows: int, payload: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A planar arm with two links of one meter and one kilogram at each end: joint angles, speeds, accelerations, and one torque.

    The payload is added to the mass at the tip. Joints follow sums of sines that do not repeat.
    """
    t = 0.01 * np.arange(n_rows)
    frequencies, phases = np.array([[0.7, 1.9, 3.1], [1.1, 2.3, 0.5]]), np.array([[0.0, 1.0, 2.0], [0.5, 1.5, 2.5]])
    angle = 0.5 * np.sin(frequencies[..., None] * t + phases[..., None]).sum(axis=1)
    speed = 0.5 * (frequencies[..., None] * np.cos(frequencies[..., None] * t + phases[..., None])).sum(axis=1)
    acceleration = -0.5 * (frequencies[..., None] ** 2 * np.sin(frequencies[..., None] * t + phases[..., None])).sum(axis=1)
    tip = 1.0 + payload(np.arange(n_rows))
    inertia = 1.0 + 2.0 * tip + 2.0 * tip * np.cos(angle[1]), tip + tip * np.cos(angle[1])
    turning = -tip * np.sin(angle[1]) * (2.0 * speed[0] * speed[1] + speed[1] ** 2)
    gravity = 9.81 * ((1.0 + tip) * np.cos(angle[0]) + tip * np.cos(angle[0] + angle[1]))
    torque = inertia[0] * acceleration[0] + inertia[1] * acceleration[1] + turning + gravity
    return np.vstack([angle, speed, acceleration]).T, torque + 0.1 * np.random.default_rng(0).normal(size=n_rows)


class Scaled:
    """A model of scikit-learn with `partial_fit`, on inputs (perhaps random features) and a target scaled by the first batch."""

    def __init__(self, model: Any, n_features: int | None = None) -> None:
        self.model, self.n_features = model, n_features

    def _features(self, X: np.ndarray) -> np.ndarray:
        scaled = (X - self.center) / self.scale
        return scaled if self.n_features is None else self.sampler.transform(scaled)

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        if not hasattr(self, "center"):
            self.center, self.scale, self.level, self.spread = X.mean(axis=0), X.std(axis=0), y.mean(), y.std()
            if self.n_features is not None:
                self.sampler = RBFSampler(gamma=0.5 / X.shape[1], n_components=self.n_features, random_state=0).fit(X)
        self.model.partial_fit(self._features(X), (y - self.level) / self.spread)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.level + self.spread * self.model.predict(self._features(X))


class River:
    """A model of river, which learns from one dict after another."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), target)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X.tolist()])


def _lwpr(metric: str) -> LWPRRegressor:
    return LWPRRegressor(metric=metric, forgetting=0.999, random_state=0)


def _sgd(rate: float) -> SGDRegressor:
    return SGDRegressor(learning_rate="constant", eta0=rate, alpha=1e-8, random_state=0)


def contenders() -> dict[str, Callable[[], Any]]:
    """All models; those of river, which take milliseconds for a row, come last."""
    found: dict[str, Callable[[], Any]] = {
        "LWPR": lambda: _lwpr("diagonal"),
        "LWPR, full metrics": lambda: _lwpr("full"),
        "SGD, linear": lambda: Scaled(SGDRegressor(learning_rate="constant", eta0=0.01, random_state=0)),
        "SGD, 500 random features": lambda: Scaled(
            SGDRegressor(learning_rate="constant", eta0=0.5, alpha=1e-8, random_state=0), 500
        ),
    }
    try:
        from river import forest, linear_model, preprocessing, tree
    except ImportError:
        return found
    return found | {
        "river linear regression": lambda: River(preprocessing.StandardScaler() | linear_model.LinearRegression()),
        "river Hoeffding tree": lambda: River(tree.HoeffdingAdaptiveTreeRegressor(seed=0)),
        "river adaptive forest": lambda: River(forest.ARFRegressor(n_models=10, seed=0)),
    }


def follow_jump(make: Callable[[], Any], n_rows: int, first: int) -> dict[str, float]:
    """The payload is one kilogram from half of the rows on."""
    half, quarter, soon = n_rows // 2, n_rows // 4, n_rows // 20
    parts = {"before": slice(quarter, half), "soon after": slice(half, half + soon), "later": slice(half + quarter, None)}
    return follow_arm(make, arm(n_rows, lambda row: (row >= half).astype(float)), first, parts)


def follow_drift(make: Callable[[], Any], n_rows: int, first: int) -> dict[str, float]:
    """The payload grows from nothing to one kilogram, a little in each row."""
    quarter = n_rows // 4
    parts = {name: slice(k * quarter, (k + 1) * quarter) for k, name in enumerate(("2nd quarter", "3rd quarter", "4th quarter"), 1)}
    return follow_arm(make, arm(n_rows, lambda row: row / n_rows), first, parts)


def follow_arm(make: Callable[[], Any], stream: Stream, first: int, parts: dict[str, slice]) -> dict[str, float]:
    """Predict each batch, then learn it. Return the errors in some parts of the stream."""
    X, y = stream
    n_rows = len(y)
    model, errors, seconds = make(), np.full(n_rows, np.nan), 0.0
    for start in (0, *range(first, n_rows, BATCH)):
        rows = slice(start, start + BATCH if start else first)
        if start:
            errors[rows] = (y[rows] - model.predict(X[rows])) ** 2
        began = time.process_time()
        model.partial_fit(X[rows], y[rows])
        seconds += time.process_time() - began
    variance = np.var(y)
    return {name: float(errors[rows].mean() / variance) for name, rows in parts.items()} | {
        "rows_per_s": n_rows / seconds,
        "kilobytes": len(pickle.dumps(model)) / 1024.0,
        "fields": getattr(model, "n_fields_", float("nan")),
    }


def speed(n_rows: int, metric: str) -> dict[str, float]:
    """Rows per second with ten inputs in batches of 1000, and the size of the model on the way."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_rows, 3))
    X = np.tanh(hidden @ rng.normal(size=(3, 10))) + 0.05 * rng.normal(size=(n_rows, 10))
    y = np.sin(2.0 * hidden[:, 0]) * hidden[:, 1] + 0.1 * rng.normal(size=n_rows)
    model = LWPRRegressor(metric=metric, initial_metric=1.0, random_state=0)
    seconds, sizes = 0.0, {}
    for start in range(0, n_rows, 1000):
        began = time.process_time()
        model.partial_fit(X[start : start + 1000], y[start : start + 1000])
        seconds += time.process_time() - began
        sizes[start + 1000] = {"fields": model.n_fields_, "kilobytes": len(pickle.dumps(model)) / 1024.0}
    places = {"after a tenth": n_rows // 10, "after half": n_rows // 2, "after all": n_rows}
    grown = {f"{what} {name}": sizes[place][what] for what in ("fields", "kilobytes") for name, place in places.items()}
    return {"rows_per_s": n_rows / seconds} | grown


def linear(n_rows: int, n_inputs: int) -> Callable[[int], Split]:
    """Draw a linear function of five inputs of many, with unit noise, and 1000 new rows."""

    def drawn(seed: int) -> Split:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows + 1000, n_inputs))
        y = X[:, :5].sum(axis=1) + rng.normal(size=len(X))
        return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]

    return drawn


def friedman(seed: int) -> Split:
    """Draw 5000 rows of Friedman's first function, and 2000 exact ones."""
    return *make_friedman1(5000, noise=1.0, random_state=seed), *make_friedman1(2000, noise=0.0, random_state=seed + 100)


def table(name: str) -> Callable[[int], Split]:
    """Draw four fifths of the rows of a table for training."""
    data = load(name)

    def drawn(seed: int) -> Split:
        order = np.random.default_rng(seed).permutation(len(data.y))
        train, test = np.split(order, [4 * len(order) // 5])
        return data.X[train], data.y[train], data.X[test], data.y[test]

    return drawn


def covered(draw: Callable[[int], Split], n_splits: int = 10) -> dict[str, float]:
    """Return the share of new targets in intervals of 95 %, and the width of these."""
    shares, widths = [], []
    for seed in range(n_splits):
        X, y, X_new, y_new = draw(seed)
        lower, upper = LWPRRegressor(random_state=0).fit(X, y).predict_interval(X_new, coverage=0.95)
        shares.append(np.mean((lower <= y_new) & (y_new <= upper)))
        widths.append(np.mean(upper - lower) / np.std(y_new))
    return {"covered": float(np.mean(shares)), "width_over_std": float(np.mean(widths))}


def with_larger_steps(draw: Callable[[int], Split], n_splits: int = 5) -> dict[str, float]:
    """Return the error of the default learning rate, and of one that is the number of inputs."""
    found: dict[str, list[float]] = {"nmse": [], "nmse, larger steps": []}
    for seed in range(n_splits):
        X, y, X_new, y_new = draw(seed)
        for name, rate in zip(found, (1.0, float(X.shape[1])), strict=True):
            model = LWPRRegressor(learning_rate=rate, random_state=0).fit(X, y)
            found[name].append(float(np.mean((model.predict(X_new) - y_new) ** 2) / np.var(y_new)))
    return {name: float(np.mean(errors)) for name, errors in found.items()}


def arm_with_larger_steps(n_rows: int, first: int) -> dict[str, float]:
    """Return the errors on the arm before its payload changes, by the default learning rate and by 3."""

    def error(rate: float) -> float:
        make = partial(LWPRRegressor, learning_rate=rate, forgetting=0.999, random_state=0)
        return follow_jump(make, n_rows, first)["before"]

    return {"nmse": error(1.0), "nmse, larger steps": error(3.0)}


def intervals() -> dict[str, dict[str, float]]:
    few = {f"{n} rows, {d} inputs": covered(linear(n, d)) for n, d in ((100, 20), (60, 150))}
    return {name: covered(table(name)) for name in ("boston", "abalone")} | few


def larger_steps(n_rows: int, first: int) -> dict[str, dict[str, float]]:
    return {
        "Friedman 1, 5000 rows": with_larger_steps(friedman),
        "abalone": with_larger_steps(table("abalone")),
        "arm before the change, steps 3 times as large": arm_with_larger_steps(n_rows, first),
    }


def crosses(n_rows: int) -> dict[str, dict[str, float]]:
    return {
        f"{d} inputs, {n} rows, {passes} passes, {variant}": learn_cross(d, n, passes, variant)
        for n, passes in ((500, 100), (n_rows, 1))
        for d in WIDTHS
        for variant in VARIANTS
    }


def parts(n_rows: int) -> dict[str, Callable[[], dict[str, dict[str, float]]]]:
    """Return what can be measured, by name."""
    first, every = min(FIRST_BATCH, n_rows // 8), contenders()
    return {
        "cross": lambda: crosses(n_rows),
        "arm": lambda: {name: follow_jump(make, n_rows, first) for name, make in every.items()},
        "long arm": lambda: {name: follow_jump(make, 5 * n_rows, first) for name, make in every.items()},
        "drift": lambda: {name: follow_drift(make, 5 * n_rows, first) for name, make in every.items()},
        "speed": lambda: {metric: speed(5 * n_rows, metric) for metric in ("diagonal", "full")},
        "intervals": intervals,
        "larger steps": lambda: larger_steps(n_rows, first),
    }


def tables_of(found: dict[str, Any]) -> list[Table]:
    titles = {
        "cross": "The cross of the paper: error on a grid of exact values, relative to their variance",
        "arm": "Torque of an arm, payload changed at half time: error before it is learned, relative to the variance",
        "long arm": "The same with five times as many rows",
        "drift": "As many rows, and the payload grows slowly",
        "speed": "Ten inputs, batches of 1000 rows",
        "intervals": "New targets in intervals of 95 %, and the width of these over the standard deviation of the targets",
        "larger steps": "Error with the default learning rate, and with one that is the number of inputs",
    }
    tables = []
    for part, rows in found.items():
        shown = Table(title=titles[part])
        columns = list(next(iter(rows.values())))
        for column in ("", *columns):
            shown.add_column(column.replace("_", " "), justify="right" if column else "left")
        for name, row in rows.items():
            shown.add_row(name, *(f"{row[column]:.4g}" for column in columns))
        tables.append(shown)
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lwpr", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for lwpr.txt and lwpr.json, which takes river")
    parser.add_argument("--rows", type=int, default=20_000, help="length of the streams (default: %(default)s)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts (default: all)")
    arguments = parser.parse_args()
    require_rivals(("river",), "clients", arguments.out)
    with threadpool_limits(1):
        measure = parts(arguments.rows)
        found = {part: measure[part]() for part in arguments.parts}
    consoles = [Console(width=None if sys.stdout.isatty() else 130)]
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "lwpr.json").write_text(json.dumps({"machine": machine(), **found}, indent=1) + "\n")
        consoles.append(Console(width=130, file=(arguments.out / "lwpr.txt").open("w")))
    for console in consoles:
        for table in tables_of(found):
            console.print(table)


if __name__ == "__main__":
    main()
