"""What is asked of a criterion once a set is chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from skarce.states.members import Members


class Judge(ABC):
    """Scores a set of functions. Larger scores are better inside; `sense` says which way the published value points."""

    sense: ClassVar[int] = 1  # +1 if a larger published value is better, -1 if a smaller one is
    kind: ClassVar[str] = ""  # values of the same kind can be compared; by default the name of the class
    remark: ClassVar[str] = ""  # what sets the published value apart from that of other methods

    def __init_subclass__(cls) -> None:
        """Name the kind after the class that first says how to score."""
        if not cls.kind and "score" in vars(cls):
            cls.kind = cls.__name__

    def scaled(self, target_scale: float) -> Self:
        """Return the same judge for a target multiplied by `target_scale`. Default: itself, as nothing has units."""
        return self

    @abstractmethod
    def score(self, members: Members, n_samples: float) -> float:
        """Value a set, up to a constant."""

    @abstractmethod
    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return the published value in user units, from scores of `target_scale` times the target.

        `n_total` counts the intercept too.
        """

    @abstractmethod
    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return the noise variance that goes with a set."""
