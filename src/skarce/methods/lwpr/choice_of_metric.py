"""The width of new fields, by the errors on rows that were left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skarce._progress import progress
from skarce._typing import Floats, Indices
from skarce.methods.lwpr.layout import Settings
from skarce.methods.lwpr.local_models import LocalModels

CANDIDATES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # of D, times the sum of the variances of all inputs
BY_DEFAULT = 30.0  # the same, if there are too few rows to choose
FEWEST_ROWS = 10
MOST_ROWS = 2000
N_FOLDS = 3


def choose_metric(model: LocalModels, X: Floats, y: Floats, settings: Settings, n_passes: int, rng: np.random.RandomState) -> float:
    """Return the initial metric with the least squared error on left-out rows, among `CANDIDATES` divided by the variance.

    The variance is that of all inputs together, in the units of the fields: their number, unless `norm_in` gives other units.
    `model` has no fields yet. Random rows, at most `MOST_ROWS`, are enough for the choice.
    """
    rows = rng.permutation(len(y))[:MOST_ROWS]
    variance = float(model.scaled(X).var(axis=0).sum()) or 1.0
    if len(rows) < FEWEST_ROWS:
        return BY_DEFAULT / variance
    fold = np.arange(len(rows)) % N_FOLDS
    errors = []
    with progress("choosing the width of fields", len(CANDIDATES), "widths") as part:
        for candidate in CANDIDATES:
            tried = replace(settings, initial_metric=candidate / variance)
            left_out = [_squared_error(model, X, y, rows[fold != k], rows[fold == k], tried, n_passes, rng) for k in range(N_FOLDS)]
            errors.append(sum(left_out))
            part.step()
    return CANDIDATES[int(np.argmin(errors))] / variance


def _squared_error(
    model: LocalModels,
    X: Floats,
    y: Floats,
    train: Indices,
    test: Indices,
    settings: Settings,
    n_passes: int,
    rng: np.random.RandomState,
) -> float:
    trained = model.trained(X[train], y[train], settings, n_passes, rng)
    predicted, _ = trained.predict(X[test], settings.settled_weight)
    return float(np.sum(((y[test] - predicted) / model.target_scale) ** 2))
