"""A set of receptive fields in the units of the user: learning, and predictions with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skarce._typing import Floats
from skarce.methods.lwpr.field import FIRST_PROJECTIONS
from skarce.methods.lwpr.layout import Layout, Settings
from skarce.methods.lwpr.learning import learn

NUMBERS_AT_ONCE = 2**21  # in the largest array of a prediction
FADED = 0.5  # how much earlier passes over the same rows count in the next one


class Units(NamedTuple):
    """Where the data lie and how far they spread: learning uses (value - offset) / scale."""

    offset: Floats
    scale: Floats


class Lines(NamedTuple):
    """All fields as linear models: intercept + slopes'(x - mean), and rows v such that the scores are v'(x - mean)."""

    means: Floats
    levels: Floats
    slopes: Floats
    scores: Floats  # (n_fields, max_projections, n_inputs), divided by the root of SS
    noise: Floats


@dataclass(frozen=True)
class LocalModels:
    """Receptive fields, and the units of their inputs and targets."""

    state: Floats
    layout: Layout
    inputs: Units
    target: Units
    settled_weight: float

    def learned(self, X: Floats, y: Floats, settings: Settings, *, compiled: bool = True) -> LocalModels:
        """Return the fields after these rows, in this order."""
        x = np.ascontiguousarray((X - self.inputs.offset) / self.inputs.scale)
        t = np.ascontiguousarray((y - self.target.offset) / self.target.scale)
        return replace(self, state=learn(self.state, self.layout, x, t, settings, compiled=compiled))

    def faded(self) -> LocalModels:
        """Return the same fields with less weight on all that they have seen, for another pass over the same rows."""
        state = self.state.copy()
        state[:, self.layout.first_sum :] *= FADED
        return replace(self, state=state)

    def predict(self, X: Floats) -> tuple[Floats, Floats]:
        return np.zeros(0), np.zeros(0)
