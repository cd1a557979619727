"""Rows that a model keeps from training, as raw rows: kernels have their centers, and some regressors also other training rows."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats, Indices
from skarce.export.columns import Columns, Lookup, Number
from skarce.export.description import Described
from skarce.export.stages import Chain, Kernels, Mixture, SideBySide, values_of

MOST_KEPT = 200
SAME = 1e-6  # how far two columns may be apart, as a share of their largest value, to be the same


def kept_rows(described: Described) -> Floats:
    """Return coded rows at centers of kernels and at other training rows of a model, evenly taken if they are many.

    The steps before the kernels are undone. Rows whose steps cannot be undone are left out.
    """
    places = [place for place, stage in enumerate(described.stages) if isinstance(stage, Kernels)]
    empty = np.zeros((0, len(described.inputs)))
    if not places:
        return empty
    before, points = described.stages[: places[0]], _points(described, places[0])
    usual = np.array([one.levels[-1] if len(one.levels) else 0.0 for one in described.inputs])  # NaN is the last level
    rows, used = np.tile(usual, (len(points), 1)), list(described.used)
    found = _inputs(before, points, [described.inputs[place].levels for place in used])
    rows[:, used] = np.where(np.isnan(found), usual[used], found)
    reached = values_of(before, rows[:, used])
    is_same = np.abs(reached - points) <= SAME * np.abs(points).max(initial=1.0)
    return rows[is_same.all(axis=1)]


def _points(described: Described, place: int) -> Floats:
    """Return what the kernels, the stage at this place, take at the rows that the model keeps."""
    kernels, queries = described.stages[place], described.query_kernels or ()
    assert isinstance(kernels, Kernels)
    points = np.vstack([kernels.centers, *(query.kernels.centers for query in queries[:1])])
    _, first = np.unique(points, axis=0, return_index=True)
    points = points[np.sort(first)]
    return points[np.unique(np.linspace(0, len(points) - 1, min(MOST_KEPT, len(points))).astype(np.intp))]


def _inputs(chain: Chain, outputs: Floats, levels: list[Floats]) -> Floats:
    """Return inputs with which a chain gives these outputs, NaN if a step cannot be undone. `levels` are those of categories."""
    for place in reversed(range(len(chain))):
        stage = chain[place]
        own = levels if place == 0 else [np.zeros(0)] * stage.n_inputs
        if isinstance(stage, Columns):
            outputs = _inputs_of_columns(stage, outputs, own)
        elif isinstance(stage, Mixture):
            outputs = (outputs - stage.offset) @ np.linalg.pinv(stage.matrix).T
        elif isinstance(stage, SideBySide):
            outputs = _inputs_of_parts(stage, outputs, own)
        else:
            outputs = np.full((len(outputs), stage.n_inputs), np.nan)
    return outputs


def _inputs_of_parts(stage: SideBySide, outputs: Floats, levels: list[Floats]) -> Floats:
    inputs, start = np.full((len(outputs), stage.n_inputs), np.nan), 0
    for part in stage.parts:
        stop = start + part[-1].n_outputs
        own = _inputs(part, outputs[:, start:stop], levels)
        inputs, start = np.where(np.isnan(inputs), own, inputs), stop
    return inputs


def _inputs_of_columns(stage: Columns, outputs: Floats, levels: list[Floats]) -> Floats:
    inputs = np.full((len(outputs), stage.n_inputs), np.nan)
    for source in range(stage.n_inputs):
        own = np.array([place for place, item in enumerate(stage.items) if item.source == source], dtype=np.intp)
        if len(own):
            inputs[:, source] = _input(stage, own, outputs, levels[source])
    return inputs


def _input(stage: Columns, own: Indices, outputs: Floats, levels: Floats) -> Floats:
    """Return an input by its own outputs: a number as it was before it was scaled, or the category that comes nearest."""
    for place in own:
        item = stage.items[place]
        if isinstance(item, Number) and item.factor != 0.0:
            return np.asarray(outputs[:, place] / item.factor + item.center)
    lookups = [item for item in (stage.items[place] for place in own) if isinstance(item, Lookup)]
    keys = levels if len(levels) else np.unique([key for item in lookups for key in item.keys])
    if not len(keys):
        return np.full(len(outputs), np.nan)
    results = np.stack([item.values(keys) for item in lookups], axis=1)
    distances = ((outputs[:, None, own] - results) ** 2).sum(axis=2)
    return np.asarray(keys[distances.argmin(axis=1)])
