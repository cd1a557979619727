"""The result of a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.states.journal import TRACE
from skarce.states.judge import Judge
from skarce.states.outcome import Outcome


class Nested(NamedTuple):
    """Models of consecutive sizes. Each model contains the smaller ones: size k has the first k functions of `order`.

    Attributes
    ----------
    order : array of shape (n_largest,)
        The candidates of the largest model, in the order in which they belong to ever larger models.
    least : int
        The size of the smallest model.
    ridges : list of arrays
        The ridges of each model, the smallest model first. Either one ridge for all functions (an array without dimensions), or one
        for each function, in ascending order of the candidates.
    noises : list of float or None
        The noise variance of each model, the smallest first. None if it follows from the set.
    worths : array of shape (n_models,)
        The worth of each model, the smallest first. The search looks for a large worth.
    """

    order: Indices
    least: int
    ridges: list[Floats]
    noises: list[float | None]
    worths: Floats


@dataclass(frozen=True)
class Fit:
    """The result of a method: the candidates it chose, their ridges, and how it ended.

    Attributes
    ----------
    active : array of shape (n_active,)
        The candidates in the model.
    ridges : array of shape (n_active,)
        The diagonal of Lambda, in the same order.
    outcome : Outcome
        How the method ended.
    mixing : array of shape (n_active, n_active) or None
        M if the ridges penalize M w, so that the penalty is w'M'Lambda M w. None if they penalize w.
    noise : float or None
        The noise variance if the criterion holds one. None if it follows from the set.
    weights : array of shape (n_active,) or None
        The weights if the method knows them to more digits than a solution with Phi'Phi + Lambda would give.
    nested : Nested or None
        The models on the way to this one, if each contains the smaller ones.
    judge : Judge or None
        The criterion that chose the set, for the scaled target.
    trace : structured array
        One row for each step.
    """

    active: Indices
    ridges: Floats
    outcome: Outcome
    mixing: Floats | None = None
    noise: float | None = None
    weights: Floats | None = None
    nested: Nested | None = None
    judge: Judge | None = None
    trace: NDArray[np.void] = field(default_factory=lambda: np.empty(0, dtype=TRACE))

    @classmethod
    def empty(cls, outcome: Outcome) -> Fit:
        """Return a fit without functions."""
        return cls(np.empty(0, dtype=np.intp), np.empty(0), outcome)
