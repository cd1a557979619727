"""Which method to choose, in one sentence, what would change it, and what else there is to know."""

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
from skarce.report.ranking import (
    FEWEST_ROWS,
    Ranking,
    error_of,
    errors_of,
    is_doubtful,
    is_faster,
    is_smaller,
    size_of,
    standard_error,
    trusted,
)

MOST_NAMED = 3
LEAST_SHARE = 0.001  # a smaller share is not written as a number
ERRORS = {TargetKind.NUMBERS: "RMSE", TargetKind.CLASSES: "error rate", TargetKind.COUNTS: "deviance"}
AS_GOOD = "equally good within chance"
CHANGES = "What would change this:"


@dataclass(frozen=True)
class Verdict:
    """The sentence, what would change it, and the names behind it.

    Attributes
    ----------
    sentence : what to choose
    changes : what would change that
    notes : what else there is to know
    best : the method with the smallest error, or None if all failed
    tied : methods with the same error as the best, which comes first
    level : methods that are as good as the best within chance, the best one first
    shown : our method that is recommended, or else our best one, whose model the report looks at; None if all of ours failed
    doubtful : methods whose models cannot be trusted; they are not recommended
    beats_base : whether the best method predicts better than a model without inputs, by more than chance
    leaks : columns that nearly tell the target, so that errors may hold for these rows only
    """

    sentence: str
    changes: tuple[str, ...]
    best: str | None
    notes: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
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
        return Verdict("No method could be fitted to this table.", (), None, notes=("See the errors in the table.",))
    ranking = Ranking.of(done, n_folds, n_rows)
    gains = base_errors - errors_of(ranking.best)
    beats_base = bool(gains.mean() > standard_error(gains, n_folds))
    found = Words(ranking)
    return Verdict(
        sentence=leak_warning(leaks)
        + (found.sentence(len(results)) if beats_base else _nothing(ranking.best, float(np.mean(base_errors)))),
        changes=tuple(found.changes()) if beats_base else (MORE_INPUTS,),
        notes=tuple(found.notes()) if beats_base else (),
        best=ranking.best.method.name,
        tied=_names(ranking.tied),
        level=_names(ranking.level),
        shown=ranking.shown,
        doubtful=_names([result for result in done if is_doubtful(result)]),
        beats_base=beats_base,
        leaks=tuple(leaks),
    )


MORE_INPUTS = "Other inputs, more rows, or another target may change this."
_PAIRED = (
    "Methods are compared fold by fold: one that is a little worse in every fold is worse by more than chance, and one with a "
    "larger mean error that wins some folds may be so by chance."
)


@dataclass(frozen=True)
class Words:
    """A ranking in words."""

    ranking: Ranking

    @property
    def best(self) -> MethodResult:
        """The method with the smallest error."""
        return self.ranking.best

    def sentence(self, n_compared: int) -> str:
        """What to choose."""
        return f"{self._lead()}{self._against_others(n_compared)}."

    def _lead(self) -> str:
        """The best method, or all that have its error."""
        tied = self.ranking.tied
        if len(tied) > 1:
            names = [_full_name(result) for result in tied]
            shown = names if len(names) <= MOST_NAMED else [names[0], f"{len(names) - 1} other methods"]
            return f"{_named(shown)} are equally good ({_error_words(self.best)})"
        doubt = ", but its fits cannot be trusted (see the checks)" if is_doubtful(self.best) else ""
        return f"{_full_name(self.best)} predicts best ({_error_words(self.best)}){doubt}"

    def _against_others(self, n_compared: int) -> str:
        """What there is to say about the others."""
        ranking, smaller, nearly = self.ranking, self.ranking.smaller, self.ranking.nearly
        if len(ranking.done) == 1:
            return "; nothing else was compared with it" if n_compared == 1 else "; all others failed"
        if ranking.n_rows < FEWEST_ROWS:
            return f"; {plural(ranking.n_rows, 'row is', 'rows are')} too few to tell methods apart"
        if smaller is not None:
            as_good = "has" if _is_in(smaller, ranking.tied) else f"is {AS_GOOD}, with"
            return f"; {_full_name(smaller)} {as_good} {self._few_functions(smaller)}"
        if nearly is not None:
            return f"; the error of {_full_name(nearly)} is {self._more_error(nearly)}, with {self._few_functions(nearly)}"
        return self._not_smaller()

    def _not_smaller(self) -> str:
        """Those that are level with the best and offer nothing; if there are none, the next one."""
        ranking = self.ranking
        level = [result for result in ranking.level if not _is_in(result, ranking.tied)]
        if level:
            return f"; {self._as_large(level)}"
        others = [result for result in ranking.done if not _is_in(result, ranking.level)]
        if not others:
            return ""
        return f"; the next one, {_full_name(others[0])}, is worse by more than chance ({_error_words(others[0])})"

    def _few_functions(self, result: MethodResult) -> str:
        return f"{_functions(result)} in place of {rounded(size_of(self.best), 3)}: choose it if few functions matter"

    def _more_error(self, result: MethodResult) -> str:
        """By how much the error is larger than that of the best."""
        best = error_of(self.best)
        more = error_of(result) / best - 1.0 if best > 0.0 else 0.0
        return f"only {percent(more)} larger" if more >= LEAST_SHARE else f"less than {percent(LEAST_SHARE)} larger"

    def _as_large(self, level: Sequence[MethodResult]) -> str:
        """Those that are level with the best, and not smaller."""
        sound = trusted(level)
        if not sound:
            return f"those that are {AS_GOOD} cannot be trusted (see the checks)"
        verb = "is" if len(sound) == 1 else "are"
        size = "hardly" if any(size_of(result) < size_of(self.best) for result in sound) else "not"
        return f"{_named(_names(sound))} {verb} {AS_GOOD}, and {size} smaller"

    def changes(self) -> list[str]:
        """What would change that."""
        ranking = self.ranking
        if ranking.n_rows < FEWEST_ROWS:
            return ["More rows: the errors of so few differ mostly by chance."]
        return [*self._if_something_matters(), *self._more_rows()]

    def _if_something_matters(self) -> list[str]:
        """Which method to choose if something besides the error matters."""
        ranking, found = self.ranking, []
        if ranking.sound is not None:
            found.append(
                f"If the fits must be ones that can be trusted: {ranking.sound.method.name} ({_error_words(ranking.sound)})."
            )
        if ranking.faster is not None and ranking.faster is not ranking.smaller:
            as_good = "" if _is_in(ranking.faster, ranking.tied) else f"{AS_GOOD}, and "
            found.append(f"If the time to predict matters: {ranking.faster.method.name} is {as_good}faster.")
        if ranking.smaller is not None and ranking.nearly is not None:
            words = f"{_functions(ranking.nearly)}, with an error that is {self._more_error(ranking.nearly)} than the smallest"
            found.append(f"If the model must be smaller still: {ranking.nearly.method.name} ({words}).")
        if ranking.sparse is not None:
            words = f"{_error_words(ranking.sparse)}, {_functions(ranking.sparse)}"
            found.append(f"If the model must be sparse: {ranking.sparse.method.name} ({words}).")
        return found

    def _more_rows(self) -> list[str]:
        others = len(self.ranking.level) - 1
        if not others:
            return []
        those = "the method that is" if others == 1 else f"the {others} methods that are"
        return [
            f"More rows, or more repeats of the folds (--repeats), may separate {self.best.method.name} from {those} {AS_GOOD}."
        ]

    def notes(self) -> list[str]:
        """What else there is to know: methods that are worse, and what they have instead."""
        worse = self.ranking.worse
        if not worse:
            return []
        words = f"Worse by more than chance: {_named(_names(worse))}. {self._instead(worse)}"
        is_puzzling = error_of(worse[0]) < error_of(self.ranking.level[-1])
        return [f"{words} {_PAIRED}" if is_puzzling else words]

    def _instead(self, worse: Sequence[MethodResult]) -> str:
        """Which of them are smaller or faster than the best."""
        name = self.best.method.name
        found = {word: self.ranking.those(worse, is_so) for word, is_so in (("smaller", is_smaller), ("faster", is_faster))}
        if len(worse) == 1:
            gains = [word for word, results in found.items() if results]
            return f"It is {' and '.join(gains)} than {name}." if gains else f"It is neither smaller nor faster than {name}."
        parts = [f"{word.capitalize()} than {name}: {_named(_names(results))}." for word, results in found.items() if results]
        return " ".join(parts) or f"None of them is smaller or faster than {name}."


def _is_in(result: MethodResult, results: Sequence[MethodResult]) -> bool:
    return any(result is other for other in results)


def _names(results: Sequence[MethodResult]) -> tuple[str, ...]:
    return tuple(result.method.name for result in results)


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


def _functions(result: MethodResult) -> str:
    return f"{rounded(size_of(result), 3)} function{'' if size_of(result) == 1.0 else 's'}"


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
