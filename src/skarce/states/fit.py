"""Where a method ended."""

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
    """Models of consecutive sizes that contain one another: all that a search knows of them.

    The model of size k has the first k functions of `order`. `ridges`, `noises` and `worths` start with the smallest model. A
    worth is what the search wants large.
    """

    order: Indices
    least: int
    ridges: list[Floats]
    noises: list[float | None]
    worths: Floats


@dataclass(frozen=True)
class Fit:
    """Where a method ended: the candidates and their ridges, and why there.

    Attributes
    ----------
    active, ridges : the candidates and Lambda, in the same order
    outcome : how it ended
    mixing : M if the ridges penalize M w, so that the penalty is w'M'Lambda M w; None if they penalize w
    noise : the noise variance, if the criterion holds one
    weights : the weights, if the method knows them to more digits than a solution with Phi'Phi + Lambda would give
    nested : the models on the way, if each contains the smaller ones
    judge : the criterion that chose the set, for the scaled target
    trace : the steps
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
        """Return the fit without functions."""
        return cls(np.empty(0, dtype=np.intp), np.empty(0), outcome)
