"""The part of a criterion that scores a set once it is chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from skarce.states.members import Members


class Judge(ABC):
    """Scores a set of functions. A larger score is always better; a larger published value is better if `sense` is 1.

    Attributes
    ----------
    sense : int
        1 if a larger published value is better, -1 if a smaller one is.
    kind : str
        Published values of the same kind can be compared. By default this is the name of the class.
    remark : str
        How the published value differs from the value of other methods. Empty if it does not.
    """

    sense: ClassVar[int] = 1
    kind: ClassVar[str] = ""
    remark: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Set the kind to the name of the class that first defines `score`."""
        if not cls.kind and "score" in vars(cls):
            cls.kind = cls.__name__

    def scaled(self, target_scale: float) -> Self:
        """Return the same judge for a target multiplied by `target_scale`. Default: itself, because nothing has units."""
        return self

    @abstractmethod
    def score(self, members: Members, n_samples: float) -> float:
        """Return the score of a set, up to a constant."""

    @abstractmethod
    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return the published value in user units, from scores for the target multiplied by `target_scale`.

        `n_samples` is N, or N - 1 with an intercept. `n_total` is N in both cases.
        """

    @abstractmethod
    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return the noise variance that belongs to a set."""
