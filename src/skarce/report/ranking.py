"""Methods by their errors on the same folds: which are level with the best, and which of them is smaller or faster.

Methods see the same folds, so they are compared by their differences fold by fold. A method is level with the best, or equally good
within chance, if its mean difference is at most one standard error; else it is worse by more than chance. Folds share training
rows, so that error is larger than the spread of independent differences says: with k folds it is
:math:`s\\sqrt{1/n + 1/(k - 1)}` for the standard deviation s of n differences (Nadeau and Bengio 2003).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.comparison import MethodResult
from skarce.states.outcome import HALF_USED_BY_INPUTS, Outcome

CLEARLY_SMALLER = 0.8  # a model is smaller in a way that matters with at most this share of the functions
CLEARLY_FASTER = 0.5  # ... and faster with at most this share of the time to predict
MUCH_SMALLER = 0.5  # a model may be a little worse by more than chance if it has at most this share of the functions ...
NEARLY_AS_GOOD = 0.02  # ... and an error that is at most this share larger
FEWEST_ROWS = 30  # with fewer, no method is said to be worse by more than chance
SAME = 1e-9  # relative difference of errors that is rounding
DOUBTS = frozenset(
    {HALF_USED_BY_INPUTS, *(outcome.value for outcome in (Outcome.NO_NOISE, Outcome.HALF_USED, Outcome.ILL_CONDITIONED))}
)


def error_of(result: MethodResult) -> float:
    """The mean of the error that ranks the methods."""
    return float(np.mean(errors_of(result)))


def errors_of(result: MethodResult) -> Floats:
    """The error that ranks the methods on every fold."""
    return np.array([getattr(score, result.method.task.ranked_by) for score in result.scores], dtype=np.float64)


def size_of(result: MethodResult) -> float:
    """The mean number of functions."""
    return result.mean("n_functions") or 0.0


def seconds_of(result: MethodResult) -> float:
    """The median time to predict a fold."""
    return result.median("predict_seconds") or 0.0


def is_level(result: MethodResult, best: MethodResult, n_folds: int) -> bool:
    """Whether the mean difference of the errors is at most one standard error."""
    differences = errors_of(result) - errors_of(best)
    return bool(differences.mean() <= standard_error(differences, n_folds))


def is_doubtful(result: MethodResult) -> bool:
    """Whether a model of the method warned that it cannot be trusted: it uses up the rows, interpolates, or is ill-conditioned."""
    return not DOUBTS.isdisjoint(result.warnings)


def is_smaller(result: MethodResult, other: MethodResult, share: float = CLEARLY_SMALLER) -> bool:
    """Whether a method has at most this share of the functions of another one."""
    return result is not other and size_of(result) <= share * size_of(other)


def is_faster(result: MethodResult, other: MethodResult) -> bool:
    """Whether a method predicts in a clearly shorter time than another one."""
    return result is not other and seconds_of(result) <= CLEARLY_FASTER * seconds_of(other)


def standard_error(differences: Floats, n_folds: int) -> float:
    """The standard error of a mean over folds that share training rows."""
    return float(np.std(differences, ddof=1) * np.sqrt(1.0 / len(differences) + 1.0 / (n_folds - 1)))


def optimism(results: Sequence[MethodResult]) -> float:
    """By how much the error of the winner is too small because it was chosen on the same folds (Tibshirani and Tibshirani 2009).

    The mean over the folds of how far the winner is above the smallest error of the fold.
    """
    errors = np.array([errors_of(result) for result in results if result.error is None])
    return float(np.mean(errors[errors.mean(axis=1).argmin()] - errors.min(axis=0)))


def trusted(results: Sequence[MethodResult]) -> list[MethodResult]:
    """Those whose fits can be trusted."""
    return [result for result in results if not is_doubtful(result)]


@dataclass(frozen=True)
class Ranking:
    """Methods that could be fitted, the best first, and those among them that are level with the best."""

    done: Sequence[MethodResult]
    level: Sequence[MethodResult]
    n_rows: int

    @classmethod
    def of(cls, done: Sequence[MethodResult], n_folds: int, n_rows: int) -> Ranking:
        """Find those that are level with the first. Of few rows, all are."""
        best = done[0]
        level = [result for result in done if n_rows < FEWEST_ROWS or result is best or is_level(result, best, n_folds)]
        return cls(done, level, n_rows)

    @property
    def best(self) -> MethodResult:
        """The method with the smallest error."""
        return self.done[0]

    @property
    def tied(self) -> list[MethodResult]:
        """Methods with the same error as the best whose fits can be trusted, the best one first. A doubtful one stands alone."""
        if is_doubtful(self.best):
            return [self.best]
        return [result for result in trusted(self.level) if math.isclose(error_of(result), error_of(self.best), rel_tol=SAME)]

    @property
    def smaller(self) -> MethodResult | None:
        """The method with the fewest functions among those that are level with the best, if it is clearly smaller."""
        smallest = min(trusted(self.level), key=size_of, default=self.best)
        return smallest if is_smaller(smallest, self.best) else None

    @property
    def nearly(self) -> MethodResult | None:
        """The smallest method that is hardly worse than the best, if it is much smaller than it and than the smaller one."""
        close = [result for result in trusted(self.done) if error_of(result) <= (1.0 + NEARLY_AS_GOOD) * error_of(self.best)]
        smallest = min(close, key=size_of, default=self.best)
        named = [result for result in (self.best, self.smaller) if result is not None]
        return smallest if all(is_smaller(smallest, result, MUCH_SMALLER) for result in named) else None

    @property
    def faster(self) -> MethodResult | None:
        """The fastest method among those that are level with the best, if it is clearly faster."""
        fastest = min(trusted(self.level), key=seconds_of, default=self.best)
        return fastest if is_faster(fastest, self.best) else None

    @property
    def sparse(self) -> MethodResult | None:
        """Our best method if a rival wins, unless a model that the sentence names is about as small."""
        ours = next(iter(_ours(trusted(self.done))), None)
        if ours is None or not self.best.method.is_rival:
            return None
        named = [result for result in (self.best, self.smaller, self.nearly) if result is not None]
        return ours if all(is_smaller(ours, result) for result in named) else None

    @property
    def sound(self) -> MethodResult | None:
        """The best method that can be trusted, if the best one cannot."""
        return next(iter(trusted(self.done)), None) if is_doubtful(self.best) else None

    @property
    def recommended(self) -> list[MethodResult]:
        """All methods that are offered for one reason or another."""
        offered = (self.best, self.smaller, self.nearly, self.sparse, self.faster, self.sound)
        return [result for result in offered if result is not None]

    @property
    def worse(self) -> list[MethodResult]:
        """Methods that are worse by more than chance, without those that are offered for another reason."""
        offered = [*self.level, *self.recommended]
        return [result for result in self.done if not any(result is other for other in offered)]

    @property
    def shown(self) -> str | None:
        """Our method that is recommended: the best, a smaller or the sparse one. If there is none, our best one."""
        offered = trusted([result for result in (self.best, self.smaller, self.nearly, self.sparse) if result is not None])
        chosen = next(iter(_ours([*offered, *trusted(self.done), *self.done])), None)
        return None if chosen is None else chosen.method.name

    def those(self, results: Sequence[MethodResult], is_so: Callable[[MethodResult, MethodResult], bool]) -> list[MethodResult]:
        """Those among trusted results for which something is so in comparison with the best."""
        return [result for result in trusted(results) if is_so(result, self.best)]


def _ours(results: Sequence[MethodResult]) -> list[MethodResult]:
    return [result for result in results if not result.method.is_rival]
