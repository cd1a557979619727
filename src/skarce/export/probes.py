"""Rows at which exported models are compared with the models that they come from."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats
from skarce.export.columns import Columns, Lookup
from skarce.export.description import Described
from skarce.export.stages import Chain, Kernels, SideBySide, Splines

N_PROBES = 100


def probe_rows(described: Described, n_rows: int = N_PROBES, seed: int = 0) -> Floats:
    """Return coded rows where the model has its functions, shape (n_rows, n_inputs).

    Numbers are between two places that the model knows: centers of kernels, knots of splines, means of scalers. Codes and keys are
    among those that it knows.
    """
    rng = np.random.default_rng(seed)
    rows = np.zeros((n_rows, len(described.inputs)))
    numbers, keys = [[] for _ in described.used], [[] for _ in described.used]
    _collect(described.stages, numbers, keys)
    for place, known, own_keys in zip(described.used, numbers, keys, strict=True):
        if own_keys:
            rows[:, place] = rng.choice(np.concatenate(own_keys), n_rows)
        else:
            spots = np.concatenate(known) if known else np.array([0.0, 1.0])
            ends = rng.choice(spots, (2, n_rows))
            rows[:, place] = ends[0] + rng.uniform(size=n_rows) * (ends[1] - ends[0])
    for place, one in enumerate(described.inputs):
        if one.categories is not None:
            rows[:, place] = rng.integers(len(one.categories), size=n_rows)
    return rows


def _collect(chain: Chain, numbers: list[list[Floats]], keys: list[list[Floats]]) -> None:
    first = chain[0]
    if isinstance(first, SideBySide):
        for part in first.parts:
            _collect(part, numbers, keys)
    elif isinstance(first, Splines):
        for spline in first.parts:
            numbers[spline.source].append(spline.origins)
    elif isinstance(first, Kernels):
        for place, values in enumerate(first.centers.T):
            numbers[place].append(values)
    elif isinstance(first, Columns):
        for place, item in enumerate(first.items):
            if isinstance(item, Lookup):
                if item.keys:
                    keys[item.source].append(np.array(item.keys))
                continue
            spots = np.array([0.0, 1.0])
            if len(chain) > 1 and isinstance(chain[1], Kernels):
                spots = chain[1].centers[:, place]
            numbers[item.source].append(item.center + spots / item.factor)
