"""Rows at which an exported model is compared with the model that it comes from, and what Python predicts there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from skarce._typing import Floats
from skarce.basis import SelectedColumns
from skarce.export.columns import Columns, Lookup
from skarce.export.description import SEARCHES, Described, unwrapped
from skarce.export.stages import Chain, Kernels, SideBySide, Splines, simplified
from skarce.export.transformers import Raw, Reader

N_PROBES = 100
ANYWHERE = np.array([0.0, 1.0])  # in the scale of a column: inside of the support of every distribution


class Tie(NamedTuple):
    """A column that is (x - center) * factor of one raw input."""

    source: int
    center: float = 0.0
    factor: float = 1.0


class Spots(NamedTuple):
    """What a model knows about each of its raw inputs: places of numbers, and keys of categories."""

    numbers: list[list[Floats]]
    keys: list[list[Floats]]

    @classmethod
    def of(cls, estimator: Any, n_inputs: int) -> Spots:
        """Collect them also from columns that the model does not use, because `predict` checks these too."""
        reader, raw = Reader(), [Raw(place) for place in range(n_inputs)]
        model, (chain, kept), _ = unwrapped(estimator, reader, list(raw))
        basis = model.basis_.transformer if isinstance(model.basis_, SelectedColumns) else model.basis_
        spots = cls([[] for _ in raw], [[] for _ in raw])
        spots.collect(simplified((*chain, *reader.read(basis, kept)[0])), [Tie(place) for place in range(n_inputs)])
        return spots

    def collect(self, chain: Chain, ties: list[Tie | None]) -> None:
        """Add what a chain knows about columns that are tied to raw inputs."""
        stage = chain[0] if chain else None
        if isinstance(stage, Columns):
            self.collect(chain[1:], [self._followed(item, ties[item.source]) for item in stage.items])
        elif isinstance(stage, SideBySide):
            for part in stage.parts:
                self.collect(part, ties)
        elif isinstance(stage, Kernels):
            self._add(ties, list(stage.centers.T))
        elif isinstance(stage, Splines):
            self._add([ties[spline.source] for spline in stage.parts], [spline.origins for spline in stage.parts])
        else:
            self._add(ties, [ANYWHERE] * len(ties))

    def _followed(self, item: Any, tie: Tie | None) -> Tie | None:
        if tie is None:
            return None
        if isinstance(item, Lookup):
            if item.keys:
                self.keys[tie.source].append(tie.center + np.array(item.keys) / tie.factor)
            return None
        return Tie(tie.source, tie.center + item.center / tie.factor, tie.factor * item.factor)

    def _add(self, ties: list[Tie | None], places: list[Floats]) -> None:
        for tie, own in zip(ties, places, strict=True):
            if tie is not None:
                self.numbers[tie.source].append(tie.center + own / tie.factor)


def probe_rows(estimator: Any, described: Described, n_rows: int = N_PROBES, seed: int = 0) -> Floats:
    """Return coded rows where the model has its functions, shape (n_rows, n_inputs).

    Numbers are between two places that the model knows: centers of kernels, knots of splines, means of scalers. Codes and keys are
    among those that it knows.
    """
    rng, spots = np.random.default_rng(seed), Spots.of(estimator, len(described.inputs))
    rows = np.empty((n_rows, len(described.inputs)))
    for place, (numbers, keys, one) in enumerate(zip(*spots, described.inputs, strict=True)):
        if one.categories is not None:
            rows[:, place] = rng.integers(len(one.categories), size=n_rows)
        elif keys:
            rows[:, place] = rng.choice(np.concatenate(keys), n_rows)
        else:
            known = np.concatenate([np.empty(0), *numbers])
            ends = rng.choice(known if len(known) else ANYWHERE, (2, n_rows))
            rows[:, place] = ends[0] + rng.uniform(size=n_rows) * (ends[1] - ends[0])
    return rows


def predicted(estimator: Any, X: Any) -> tuple[Floats, Floats]:
    """Return mean and std of numbers or counts by Python, in the units of the data, also if the estimator is wrapped."""
    if isinstance(estimator, SEARCHES):
        return predicted(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        return predicted(estimator.steps[-1][1], estimator[:-1].transform(X) if len(estimator) > 1 else X)
    if not isinstance(estimator, TransformedTargetRegressor):
        return estimator.predict(X, return_std=True)
    mean, std = predicted(estimator.regressor_, X)
    lower, upper = (_in_units(estimator.transformer_, values) for values in (mean, mean + std))
    return lower, np.abs(upper - lower)


def _in_units(transformer: Any, values: Floats) -> Floats:
    columns = values[:, None] if values.ndim == 1 else values
    return np.asarray(transformer.inverse_transform(columns)).reshape(values.shape)
