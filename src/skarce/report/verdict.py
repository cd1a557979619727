"""Which method to choose, in one sentence, and what would change it.

Methods see the same folds, so they are compared by their differences fold by fold. A method cannot be told from the best if its
mean difference is at most one standard error; else it is worse by more than chance. Folds share training rows, so that error is
larger than the spread of independent differences says: with k folds it is :math:`s\\sqrt{1/n + 1/(k - 1)}` for the standard
deviation s of n differences (Nadeau and Bengio 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skarce._text import listed
from skarce._typing import Floats
from skarce.comparison import MethodResult
from skarce.datasets import TargetKind
from skarce.report.numbers import percent, plural, rounded
from skarce.states.outcome import HALF_USED_BY_INPUTS, Outcome

CLEARLY_SMALLER = 0.8  # a model is smaller in a way that matters with at most this share of the functions
CLEARLY_FASTER = 0.5  # ... and faster with at most this share of the time to predict
MUCH_SMALLER = 0.5  # a model may be a little worse by more than chance if it has at most this share of the functions ...
NEARLY_AS_GOOD = 0.02  # ... and an error that is at most this share larger
FEWEST_ROWS = 30  # with fewer, no method is said to be worse by more than chance
MOST_NAMED = 3
LEAST_SHARE = 0.001  # a smaller share is not written as a number
ERRORS = {TargetKind.NUMBERS: "RMSE", TargetKind.CLASSES: "error rate", TargetKind.COUNTS: "deviance"}
DOUBTS = frozenset(
    {HALF_USED_BY_INPUTS, *(outcome.value for outcome in (Outcome.NO_NOISE, Outcome.HALF_USED, Outcome.ILL_CONDITIONED))}
)


@dataclass(frozen=True)
class Verdict:
    """The sentence, what would change it, and the names behind it.

    Attributes
    ----------
    sentence : what to choose
    changes : what would change that
    best : the method with the smallest error, or None if all failed
    level : methods that cannot be told from it, the best one first
    shown : our method that is recommended, or else our best one, whose model the report looks at; None if all of ours failed
    doubtful : methods whose models cannot be trusted; they are not recommended
    beats_base : whether the best method predicts better than a model without inputs, by more than chance
    leaks : columns that nearly tell the target, so that errors may hold for these rows only
    """

    sentence: str
    changes: tuple[str, ...]
    best: str | None
    level: tuple[str, ...] = ()
    shown: str | None = None
    doubtful: tuple[str, ...] = ()
    beats_base: bool = True
    leaks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def verdict(results: Sequence[MethodResult], n_folds: int, base_errors: Floats, n_rows: int, leaks: Sequence[str] = ()) -> Verdict:
    """The verdict over sorted results, the best first.

    Parameters
    ----------
    results : results of `cross_validate`
    n_folds : number of folds of one repeat
    base_errors : the error on each fold of a model that knows the target and no inputs
    n_rows : rows of the table
    leaks : columns that nearly tell the target
    """
    done = [result for result in results if result.error is None and result.scores]
    if not done:
        return Verdict("No method could be fitted to this table.", ("See the errors in the table.",), None)
    best = done[0]
    level = [result for result in done if n_rows < FEWEST_ROWS or result is best or is_level(result, best, n_folds)]
    ranking = Ranking(done, level, n_rows)
    gains = base_errors - errors_of(best)
    beats_base = bool(gains.mean() > standard_error(gains, n_folds))
    return Verdict(
        sentence=leak_warning(leaks)
        + (ranking.sentence(len(results)) if beats_base else _nothing(best, float(np.mean(base_errors)))),
        changes=tuple(ranking.changes()) if beats_base else (MORE_INPUTS,),
        best=best.method.name,
        level=tuple(result.method.name for result in level),
        shown=ranking.shown,
        doubtful=tuple(result.method.name for result in done if is_doubtful(result)),
        beats_base=beats_base,
        leaks=tuple(leaks),
    )


def error_of(result: MethodResult) -> float:
    """The mean of the error that ranks the methods."""
    return float(np.mean(errors_of(result)))


def errors_of(result: MethodResult) -> Floats:
    """The error that ranks the methods on every fold."""
    return np.array([getattr(score, result.method.task.ranked_by) for score in result.scores], dtype=np.float64)


def is_level(result: MethodResult, best: MethodResult, n_folds: int) -> bool:
    """Whether the mean difference of the errors is at most one standard error."""
    differences = errors_of(result) - errors_of(best)
    return bool(differences.mean() <= standard_error(differences, n_folds))


def is_doubtful(result: MethodResult) -> bool:
    """Whether a model of the method warned that it cannot be trusted: it uses up the rows, interpolates, or is ill-conditioned."""
    return not DOUBTS.isdisjoint(result.warnings)


def standard_error(differences: Floats, n_folds: int) -> float:
    """The standard error of a mean over folds that share training rows."""
    return float(np.std(differences, ddof=1) * np.sqrt(1.0 / len(differences) + 1.0 / (n_folds - 1)))


def optimism(results: Sequence[MethodResult]) -> float:
    """By how much the error of the winner is too small because it was chosen on the same folds (Tibshirani and Tibshirani 2009).

    The mean over the folds of how far the winner is above the smallest error of the fold.
    """
    errors = np.array([errors_of(result) for result in results if result.error is None])
    return float(np.mean(errors[errors.mean(axis=1).argmin()] - errors.min(axis=0)))


MORE_INPUTS = "Other inputs, more rows, or another target may change this."
_PAIRED = (
    "Methods are compared fold by fold: one that is a little worse in every fold is worse by more than chance, and one with a "
    "larger mean error that wins some folds may be so by chance."
)


@dataclass(frozen=True)
class Ranking:
    """Methods that could be fitted, the best first, and those among them that are level with the best."""

    done: Sequence[MethodResult]
    level: Sequence[MethodResult]
    n_rows: int

    @property
    def best(self) -> MethodResult:
        """The method with the smallest error."""
        return self.done[0]

    @property
    def smaller(self) -> MethodResult | None:
        """The method with the fewest functions among those that are level with the best, if it is clearly smaller."""
        smallest = min(_trusted(self.level), key=_size, default=self.best)
        return smallest if smallest is not self.best and _size(smallest) <= CLEARLY_SMALLER * _size(self.best) else None

    @property
    def nearly(self) -> MethodResult | None:
        """The smallest method that is hardly worse than the best, if it is much smaller than it and than the smaller one."""
        named = min(_size(result) for result in (self.best, self.smaller) if result is not None)
        close = [result for result in _trusted(self.done) if error_of(result) <= (1.0 + NEARLY_AS_GOOD) * error_of(self.best)]
        smallest = min(close, key=_size, default=self.best)
        return smallest if smallest is not self.best and _size(smallest) <= MUCH_SMALLER * named else None

    @property
    def faster(self) -> MethodResult | None:
        """The fastest method among those that are level with the best, if it is clearly faster."""
        fastest = min(_trusted(self.level), key=_predict_seconds, default=self.best)
        return fastest if _predict_seconds(fastest) <= CLEARLY_FASTER * _predict_seconds(self.best) else None

    @property
    def sparse(self) -> MethodResult | None:
        """Our best method if a rival wins, unless a model that the sentence names is about as small."""
        ours = next(iter(_ours(_trusted(self.done))), None)
        if ours is None or not self.best.method.is_rival:
            return None
        named = min(_size(result) for result in (self.best, self.smaller, self.nearly) if result is not None)
        return ours if _size(ours) <= CLEARLY_SMALLER * named else None

    @property
    def shown(self) -> str | None:
        """Our method that is recommended: the best, a smaller or the sparse one. If there is none, our best one."""
        recommended = _trusted([result for result in (self.best, self.smaller, self.nearly, self.sparse) if result is not None])
        chosen = next(iter(_ours([*recommended, *_trusted(self.done), *self.done])), None)
        return None if chosen is None else chosen.method.name

    def sentence(self, n_compared: int) -> str:
        """What to choose."""
        best, smaller = self.best, self.smaller
        words = f"{_full_name(best)} predicts best ({_error_words(best)})"
        if is_doubtful(best):
            words += ", but its fits cannot be trusted (see the checks)"
        if len(self.done) == 1:
            words += "; nothing else was compared with it" if n_compared == 1 else "; all others failed"
        elif self.n_rows < FEWEST_ROWS:
            words += f"; {plural(self.n_rows, 'row is', 'rows are')} too few to tell it from the others"
        elif smaller is not None:
            words += f"; {_full_name(smaller)} cannot be told from it on these folds, {self._few_functions(smaller)}"
        elif self.nearly is not None:
            words += f"; the error of {_full_name(self.nearly)} is {self._more_error(self.nearly)}, "
            words += self._few_functions(self.nearly)
        elif len(self.level) == 1:
            words += f"; the next one, {_full_name(self.done[1])}, is worse by more than chance ({_error_words(self.done[1])})"
        else:
            words += f"; {self._as_large()}"
        return f"{words}."

    def _few_functions(self, result: MethodResult) -> str:
        return f"with {_functions(result)} in place of {rounded(_size(self.best), 3)}: choose it if few functions matter"

    def _more_error(self, result: MethodResult) -> str:
        """By how much the error is larger than that of the best."""
        best = error_of(self.best)
        more = error_of(result) / best - 1.0 if best > 0.0 else 0.0
        return f"only {percent(more)} larger" if more >= LEAST_SHARE else f"less than {percent(LEAST_SHARE)} larger"

    def _as_large(self) -> str:
        """Those that are level with the best, and not smaller."""
        trusted = [result.method.name for result in _trusted(self.level[1:])]
        if not trusted:
            return "those that cannot be told from it on these folds cannot be trusted (see the checks)"
        verb = "is" if len(trusted) == 1 else "are"
        return f"{_named(trusted)} cannot be told from it on these folds, and {verb} not clearly smaller"

    def changes(self) -> list[str]:
        """What would change that."""
        if self.n_rows < FEWEST_ROWS:
            return ["More rows: the errors of so few differ mostly by chance."]
        found = self._without_doubts()
        if self.faster is not None and self.faster is not self.smaller:
            found.append(
                f"If the time to predict matters: {self.faster.method.name}, which cannot be told from the best, is faster."
            )
        if self.smaller is not None and self.nearly is not None:
            words = f"{_functions(self.nearly)}, with an error that is {self._more_error(self.nearly)} than the smallest"
            found.append(f"Smaller still: {self.nearly.method.name} ({words}).")
        if self.sparse is not None:
            words = f"{_error_words(self.sparse)}, {_functions(self.sparse)}"
            found.append(f"If the model must be sparse: {self.sparse.method.name} ({words}).")
        if len(self.level) > 1:
            others = len(self.level) - 1
            count = "method" if others == 1 else f"{others} methods"
            found.append(
                f"More rows, or more repeats of the folds (--repeats), may separate {self.best.method.name} from the {count} that "
                "cannot be told from it."
            )
        return found + self._others()

    def _without_doubts(self) -> list[str]:
        trusted = _trusted(self.done)
        if not is_doubtful(self.best) or not trusted:
            return []
        return [f"The best method that can be trusted: {trusted[0].method.name} ({_error_words(trusted[0])})."]

    def _others(self) -> list[str]:
        others = [result for result in self.done if result not in self.level]
        if not others:
            return []
        named = _named([result.method.name for result in others])
        words = f"Worse by more than chance: {named}. Choose such a method only if it is faster or smaller."
        is_puzzling = error_of(others[0]) < error_of(self.level[-1])
        return [f"{words} {_PAIRED}" if is_puzzling else words]


def _trusted(results: Sequence[MethodResult]) -> list[MethodResult]:
    return [result for result in results if not is_doubtful(result)]


def _ours(results: Sequence[MethodResult]) -> list[MethodResult]:
    return [result for result in results if not result.method.is_rival]


def _full_name(result: MethodResult) -> str:
    """The name of a method and what it is."""
    method = result.method
    return method.name if method.title in ("", method.name) else f"{method.name} ({method.title})"


def leak_warning(leaks: Sequence[str]) -> str:
    """What to look at before any error."""
    if not leaks:
        return ""
    verb = "it nearly tells" if len(leaks) == 1 else "they nearly tell"
    return (
        f"Look at {listed(leaks)} first: {verb} the target, so the errors may be this small only for that reason (see the checks). "
    )


def _size(result: MethodResult) -> float:
    return result.mean("n_functions") or 0.0


def _predict_seconds(result: MethodResult) -> float:
    return result.median("predict_seconds") or 0.0


def _functions(result: MethodResult) -> str:
    return f"{rounded(_size(result), 3)} function{'' if _size(result) == 1.0 else 's'}"


def _error_words(result: MethodResult) -> str:
    kind = result.method.task.target
    return f"{ERRORS[kind]} {error_text(kind, error_of(result))}"


def error_text(kind: TargetKind, error: float) -> str:
    """The error as people read it."""
    return percent(error) if kind is TargetKind.CLASSES else rounded(error)


def _nothing(best: MethodResult, base_error: float) -> str:
    """What to say if no method beats a model without inputs."""
    kind = best.method.task.target
    base = base_words(kind)
    if error_of(best) >= base_error:
        return f"No method predicts better than {base}: they find nothing in the inputs that tells the target."
    return (
        f"No method predicts better than {base} by more than chance ({_error_words(best)} of {best.method.name}, "
        f"{error_text(kind, base_error)} without inputs)."
    )


def base_words(kind: TargetKind) -> str:
    """What a model without inputs predicts."""
    return "the most frequent class" if kind is TargetKind.CLASSES else "the mean of the target"


def _named(names: Sequence[str]) -> str:
    """The names if they are few, else their number."""
    if len(names) > MOST_NAMED:
        return f"{len(names)} methods"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
