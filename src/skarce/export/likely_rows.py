"""Rows like those that a model was fitted to, as far as the model tells: exports are checked there if no rows are given."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats
from skarce.export.columns import Column, Columns, Lookup
from skarce.export.description import Described
from skarce.export.stages import Chain, Kernels, Products, SideBySide, Splines

BEYOND = 0.2  # how far between and beyond two centers, as a share of their distance
MISSING = 0.1  # share of rows without a number if the model fills it in


def likely_rows(described: Described, n_rows: int, seed: int = 0) -> Floats:
    """Return coded rows near what the model knows: its centers, knots, scales and means."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, len(described.inputs)))
    found = _inputs_of(described.stages, _functions(described, n_rows, rng), rng)
    for place, values in zip(described.used, found.T, strict=True):
        rows[:, place] = np.where(np.isnan(values), rows[:, place], values)
    for place, one in enumerate(described.inputs):
        if len(one.levels):
            rows[:, place] = one.levels[rng.integers(len(one.levels), size=n_rows)]
    return _with_holes(described, rows, rng)


def _functions(described: Described, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return values that the functions may have, by their means and by how well the data determine their weights."""
    values = np.full((n_rows, described.n_functions), np.nan)
    for head in described.heads:
        spread = np.where(head.center == 0.0, 1.0, np.abs(head.center))
        values[:, head.places] = head.center + 0.5 * spread * rng.normal(size=(n_rows, len(head.places)))
    return values


def _inputs_of(chain: Chain, outputs: Floats, rng: np.random.Generator) -> Floats:
    """Return inputs of a chain, NaN if nothing is known about a column."""
    if not chain:
        return outputs
    stage, n_rows = chain[0], len(outputs)
    if isinstance(stage, Columns):
        return _inputs_of_columns(stage, _inputs_of(chain[1:], outputs, rng), rng)
    inputs = np.full((n_rows, stage.n_inputs), np.nan)
    if isinstance(stage, Kernels) and stage.n_outputs:
        first, second = stage.centers[rng.integers(stage.n_outputs, size=(2, n_rows))]
        return np.asarray(first + rng.uniform(-BEYOND, 1.0 + BEYOND, (n_rows, 1)) * (second - first))
    if isinstance(stage, Products):
        lowest = np.where(stage.shift[:, :1].ravel() > 0.0, 0.0, -1.0) if stage.n_inputs else np.zeros(0)
        return np.asarray(lowest + (1.0 - lowest) * rng.uniform(size=inputs.shape))
    if isinstance(stage, Splines):
        for spline in stage.parts:
            ends = [*spline.starts, *spline.origins]
            inputs[:, spline.source] = rng.uniform(min(ends), max(ends), n_rows)
    if isinstance(stage, SideBySide):
        start = 0
        for part in stage.parts:
            stop = start + part[-1].n_outputs
            own = _inputs_of(part, outputs[:, start:stop] if len(chain) == 1 else np.full((n_rows, stop - start), np.nan), rng)
            inputs = np.where(np.isnan(inputs), own, inputs)
            start = stop
    return inputs


def _inputs_of_columns(stage: Columns, outputs: Floats, rng: np.random.Generator) -> Floats:
    inputs = np.full((len(outputs), stage.n_inputs), np.nan)
    for values, item in zip(outputs.T, stage.items, strict=True):
        own = _input_of(item, values, rng)
        inputs[:, item.source] = np.where(np.isnan(inputs[:, item.source]), own, inputs[:, item.source])
    return inputs


def _input_of(item: Column, values: Floats, rng: np.random.Generator) -> Floats:
    if isinstance(item, Lookup):
        return rng.choice(np.asarray(item.keys), len(values)) if item.keys else np.full(len(values), np.nan)
    if not item.is_unmoved:
        values = np.where(np.isnan(values), rng.normal(size=len(values)), values)
    return np.asarray(values / item.factor + item.center)


def _with_holes(described: Described, rows: Floats, rng: np.random.Generator) -> Floats:
    """Return the rows, with NaN in some of the columns that the model fills in."""
    first = described.stages[0]
    items = first.items if isinstance(first, Columns) else ()
    for item in items:
        if not isinstance(item, Lookup) and not np.isnan(item.missing):
            rows[rng.uniform(size=len(rows)) < MISSING, described.used[item.source]] = np.nan
    return rows
