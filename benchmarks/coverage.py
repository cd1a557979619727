"""Do intervals cover new targets, with and without calibration? ``python -m benchmarks.coverage``.

Every regressor with widths learned for each input, and with fixed narrow kernels, on all tables of the data folder and on generated
ones. At least a thousand new rows of each table are pooled over splits. `benchmarks.probabilities` does the same for classes and
counts.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.preprocessing import StandardScaler

import skarce
from skarce import KernelBasis
from skarce._parallel import blas_threads
from skarce.datasets.real import load

TUNED = ("boston", "cpu_act", "puma8fh", "puma8fm", "puma8nh", "puma8nm", "friedman1", "friedman2")
REPORTED = ("abalone", "chwirut1", "kin8fh", "kin8fm", "kin8nh", "kin8nm", "friedman3", "steps")
FRIEDMAN = {"friedman1": (make_friedman1, 1.0), "friedman2": (make_friedman2, 125.0), "friedman3": (make_friedman3, 0.1)}
OTHERS = ("LWPRRegressor", "JointFactorRegressor", "RelevanceVectorPoissonRegressor", "SparseRegressor")
REGRESSORS = tuple(name for name in skarce.__all__ if name.endswith("Regressor") and name not in OTHERS)
LEAST_NEW_ROWS = 1000  # of each table, pooled over splits
MOST_SPLITS = 20
NARROW = 4.0  # gamma of fixed kernels, divided by the number of inputs: sixteen times narrower than a good width of most tables
NORMAL_95 = 1.959963984540054


class Split(NamedTuple):
    """Training rows, and new rows."""

    X: np.ndarray
    y: np.ndarray
    new_inputs: np.ndarray
    new_targets: np.ndarray


def main() -> None:
    arguments = parse_arguments()
    chosen = arguments.tables or [*TUNED, *REPORTED]
    record: dict[str, Any] = {"rows": arguments.rows, "regression": {}}
    with blas_threads(1):
        for table in chosen:
            record["regression"][table] = regression(table, arguments)
    report = text_of(record)
    print(report)
    if arguments.save:
        folder = Path("results/benchmarks")
        (folder / "coverage.json").write_text(json.dumps(record, indent=1) + "\n")
        (folder / "coverage.txt").write_text(report + "\n")


def parse_arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", help=f"some of {', '.join((*TUNED, *REPORTED))}")
    parser.add_argument("--regressors", nargs="*", default=REGRESSORS, help="names of classes")
    parser.add_argument("--rows", type=int, default=400, help="training rows of each split")
    parser.add_argument("--splits", type=int, help="number of splits (as many as a thousand new rows need)")
    parser.add_argument("--save", action="store_true", help="write results/benchmarks/coverage.json and .txt")
    return parser.parse_args()


# Regression ---------------------------------------------------------------------------------------------------------------


def regression(table: str, arguments: Any) -> dict[str, Any]:
    """Return the measures of every regressor, for learned widths and for narrow kernels."""
    pooled: dict[str, list[dict[str, Any]]] = {}
    for split in splits_of(table, arguments.rows, arguments.splits):
        for widths in ("learned", "narrow"):
            gamma = learned_widths(split) if widths == "learned" else NARROW / split.X.shape[1]
            for name in arguments.regressors:
                measured = compared(getattr(skarce, name), gamma, split)
                pooled.setdefault(f"{name}, {widths}", []).append(measured)
                print(f"{table:10s} {name:32s} {widths:8s} factor {measured['factor']:9.3f}", flush=True)
    return {key: averaged(rows) for key, rows in pooled.items()}


def learned_widths(split: Split) -> Any:
    """Return one width for each input. All regressors get the same, so that they are learned once."""
    return KernelBasis(gamma="ard", random_state=0).fit(split.X, split.y).gamma_


def compared(made: Any, gamma: Any, split: Split) -> dict[str, float]:
    """Return coverage and log score of new rows with and without calibration, and the CPU time of both fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, plain = timed(made(KernelBasis(gamma=gamma), calibrate_std=False), split)
        longer, scaled = timed(made(KernelBasis(gamma=gamma), calibrate_std=True), split)
    mean, std = plain.predict(split.new_inputs, return_std=True)
    std = np.maximum(std, 1e-12 * np.std(split.y))
    found = {"n_new": len(mean), "n_active": len(plain.active_), "factor": scaled.std_scale_, "seconds": seconds, "longer": longer}
    found["error"] = float(np.mean((split.new_targets - mean) ** 2) / np.var(split.new_targets))
    for name, factor in (("plain", 1.0), ("scaled", scaled.std_scale_)):
        z = (split.new_targets - mean) / (factor * std)
        found[f"coverage {name}"] = float(np.mean(np.abs(z) < NORMAL_95))
        found[f"log score {name}"] = float(np.mean(-0.5 * z**2 - np.log(factor * std) - 0.5 * np.log(2.0 * np.pi)))
    return found


def timed(model: Any, split: Split) -> tuple[float, Any]:
    """Fit a model, and return the CPU seconds that it took."""
    started = time.process_time()
    model.fit(split.X, split.y)
    return time.process_time() - started, model


def averaged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return means over the splits, each counted by its number of new rows, and all factors."""
    counts = np.array([row["n_new"] for row in rows])
    means = {name: float(np.average([row[name] for row in rows], weights=counts)) for name in rows[0] if name != "n_new"}
    return {**means, "n_new": int(counts.sum()), "factors": [row["factor"] for row in rows]}


def splits_of(table: str, n_rows: int, n_splits: int | None) -> Iterator[Split]:
    """Yield splits with standardized inputs, until there are enough new rows."""
    n_new = 0
    for seed in range(n_splits or MOST_SPLITS):
        split = _standardized(*_drawn(table, n_rows, np.random.default_rng(seed)))
        n_new += len(split.new_targets)
        yield split
        if n_splits is None and n_new >= LEAST_NEW_ROWS:
            return


def _drawn(table: str, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Return rows in random order, and how many of them are for training."""
    if table in FRIEDMAN:
        make, noise = FRIEDMAN[table]
        return *make(n_samples=n_rows + LEAST_NEW_ROWS, noise=noise, random_state=int(rng.integers(2**31))), n_rows
    if table == "steps":  # levels on a grid and a binary input, with noise
        X = np.column_stack([rng.integers(0, 14, n_rows + LEAST_NEW_ROWS), rng.integers(0, 2, n_rows + LEAST_NEW_ROWS)])
        return X.astype(float), np.sin(0.5 * X[:, 0]) * (1 + X[:, 1]) + 0.3 * rng.normal(size=len(X)), n_rows
    data = load(table)
    order = rng.permutation(len(data.y))
    n_train = min(n_rows, int(0.7 * len(order)))
    order = order[: n_train + LEAST_NEW_ROWS]
    return data.X[order], data.y[order], n_train


def _standardized(X: np.ndarray, y: np.ndarray, n_train: int) -> Split:
    scaler = StandardScaler().fit(X[:n_train])
    return Split(scaler.transform(X[:n_train]), y[:n_train], scaler.transform(X[n_train:]), y[n_train:])


# Report -------------------------------------------------------------------------------------------------------------------


def text_of(record: dict[str, Any]) -> str:
    lines = [f"95 % intervals of new targets, {record['rows']} training rows: covered without / with calibration, factor", ""]
    for widths in ("learned", "narrow"):
        lines += _regression_lines(record["regression"], widths)
    return "\n".join(lines)


def _regression_lines(tables: dict[str, Any], widths: str) -> list[str]:
    lines = [f"Widths: {widths}"]
    names = list(dict.fromkeys(key.split(",")[0] for rows in tables.values() for key in rows))
    for name in names:
        found = {table: rows[f"{name}, {widths}"] for table, rows in tables.items()}
        covered = np.array([[row["coverage plain"], row["coverage scaled"]] for row in found.values()])
        gain = np.mean([row["log score scaled"] - row["log score plain"] for row in found.values()])
        slower = np.mean([row["longer"] / row["seconds"] for row in found.values()])
        lines.append(
            f"{name:32s} mean {covered[:, 0].mean():.3f} / {covered[:, 1].mean():.3f}  least {covered[:, 0].min():.3f} / "
            f"{covered[:, 1].min():.3f}  log score {gain:+.2f}  time {slower:.1f} x"
        )
        lines += [
            f"    {table:10s} {row['coverage plain']:.3f} / {row['coverage scaled']:.3f}  factor {row['factor']:.2f}  "
            f"functions {row['n_active']:.0f}  error {row['error']:.3f}  new rows {row['n_new']}"
            for table, row in found.items()
        ]
    return [*lines, ""]


if __name__ == "__main__":
    main()
