"""The questions that searches ask of a criterion."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.states.active_set import ActiveSet


class Changes(NamedTuple):
    """The best single change of each active function: its ridge (infinite: leave it out) and what that gains."""

    ridges: Floats
    gains: Floats


class Steps(NamedTuple):
    """Single actions that were taken: what, to which candidate, what it gained, and how it changed the size of the model."""

    actions: NDArray[np.str_]
    candidates: Indices
    gains: Floats
    growth: Indices


class Members(Protocol):
    """Active functions as a criterion sees them: an `ActiveSet` or an `ActiveBlock`."""

    energy: float
    noise: float | None

    @property
    def ridges(self) -> Floats: ...

    @property
    def weights(self) -> Floats: ...

    @property
    def scale(self) -> Floats: ...

    @property
    def log_determinant(self) -> float: ...

    @property
    def inverse(self) -> Floats: ...

    def spread(self) -> Floats: ...


class Criterion(Protocol):
    """Larger scores are better inside; `sense` says which way the published value points."""

    @property
    def sense(self) -> int: ...

    @property
    def needs_squares(self) -> bool:
        """Whether it asks an `ActiveSet` for quantities with P squared."""
        ...

    def ranking(self, state: ActiveSet) -> Floats:
        """One number per candidate, monotone in the gain of adding it; above 1 exactly where adding it helps."""
        ...

    def addition(self, state: ActiveSet, candidate: int) -> tuple[float, float]:
        """The best ridge for one more candidate, and what it gains."""
        ...

    def changes(self, members: Members, n_samples: float) -> Changes:
        """The best single change of each active function."""
        ...

    def score(self, members: Members, n_samples: float) -> float:
        """The value of a set up to a constant."""
        ...

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        """Which active functions are better left out, whatever their ridge."""
        ...

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Floats, Floats]:
        """Gradient, negative Hessian and a positive scale of the score in the logarithms of the ridges."""
        ...

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        """What taking out each of the functions at `positions` gains."""
        ...

    def scaled(self, factor: float) -> Criterion:
        """The same criterion for a target multiplied by `factor`."""
        ...

    def value(self, score: Any, n_samples: float, n_total: float, factor: float) -> Any:
        """The published value in user units, from scores of `factor` times the target; `n_total` counts the intercept too."""
        ...

    def noise_at(self, members: Members, n_samples: float) -> float:
        """The noise variance that goes with a set."""
        ...
