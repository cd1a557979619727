"""A table with the traps that real tables have, to try skarce on: ``python -m benchmarks.traps --out traps.csv [--rows 600]``.

The target is the yield of a well. The traps:

- ``depth`` takes 14 values on a grid, so a kernel can become so narrow that each value is a category of its own;
- a quarter of the rows repeat the inputs of another row, with new noise;
- one target lost its decimal point, so it is ten times too large;
- ``batch`` is the same in all rows;
- ``estimate`` is a near copy of the target, which nobody knows before the yield is measured;
- ``site`` is text, and its order says nothing;
- ``operator_age`` has no effect.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

TARGET, LEAK = "yield", "estimate"
DEPTHS = np.linspace(10.0, 140.0, 14)
SITES = {"north": 0.0, "delta": 6.0, "ridge": -4.0, "harbor": 2.5}  # what each adds to the yield
NOISE = 1.0  # standard deviation of the target about its mean
LEAK_NOISE = 0.3  # standard deviation of the leaking column about the target
SHARE_REPEATED = 0.25  # of the rows have the inputs of another row
LOST_POINT = 10.0  # factor of a target without its decimal point


def traps(rng: np.random.Generator, n_rows: int = 600, *, n_outliers: int = 1, depths: np.ndarray = DEPTHS) -> pd.DataFrame:
    """A table of this many rows, with inputs, the leaking column, and the target last."""
    frame = pd.DataFrame(
        {
            "depth": rng.choice(depths, n_rows),
            "pressure": rng.normal(50.0, 12.0, n_rows).round(2),
            "salinity": rng.gamma(2.0, 1.5, n_rows).round(3),
            "operator_age": rng.integers(20, 65, n_rows),
            "batch": np.full(n_rows, 7),
            "site": rng.choice(list(SITES), n_rows),
        }
    )
    repeats = rng.choice(n_rows, round(SHARE_REPEATED * n_rows), replace=False)
    frame.iloc[repeats] = frame.iloc[rng.integers(n_rows, size=len(repeats))].to_numpy()
    frame = frame.astype({"depth": float, "pressure": float, "salinity": float, "operator_age": int, "batch": int})
    target = mean_yield(frame) + rng.normal(0.0, NOISE, n_rows)
    target[rng.choice(n_rows, n_outliers, replace=False)] *= LOST_POINT
    return frame.assign(**{LEAK: (target + rng.normal(0.0, LEAK_NOISE, n_rows)).round(2), TARGET: target.round(2)})


def mean_yield(frame: pd.DataFrame) -> np.ndarray:
    """The mean of the target: a peak over depth, a slope and a bend, and one number per site."""
    peak = 25.0 * np.exp(-(((frame["depth"] - 80.0) / 30.0) ** 2))
    bend = 4.0 * np.tanh((frame["pressure"] - 50.0) / 8.0)
    return (20.0 + peak + bend - 2.0 * np.sqrt(frame["salinity"]) + frame["site"].map(SITES)).to_numpy(dtype=float)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traps", description="Write a table with traps.")
    parser.add_argument("--out", type=Path, default=Path("traps.csv"))
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    traps(np.random.default_rng(arguments.seed), arguments.rows).to_csv(arguments.out, index=False)
