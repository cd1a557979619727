"""Where a method ended."""

from __future__ import annotations

from typing import NamedTuple

from skarce._typing import Floats, Indices
from skarce.states.outcome import Outcome


class Nested(NamedTuple):
    """Models of consecutive sizes that contain one another: all that a search knows of them.

    The model of size k has the first k functions of `order`; `ridges`, `noises` and `worths` start with the smallest one. A worth
    is what the search wants large.
    """

    order: Indices
    least: int
    ridges: list[Floats]
    noises: list[float | None]
    worths: Floats


class Fit(NamedTuple):
    """Where a search ended: the candidates and ridges, and why there.

    The ridges penalise the weights w, or `mixing` @ w where that is given: the penalty is w'M'Lambda M w. `noise` is the noise
    variance where the criterion holds one. A method that knows the weights to more digits than a solution with Phi'Phi + Lambda
    would give says them. `nested` are the models on the way where each contains the smaller ones.
    """

    active: Indices
    ridges: Floats
    outcome: Outcome
    mixing: Floats | None = None
    noise: float | None = None
    weights: Floats | None = None
    nested: Nested | None = None
