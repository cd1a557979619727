"""Which method to choose, in one sentence, and what would change it.

Methods see the same folds, so they are compared by their differences fold by fold. A method is level with the best if its mean
difference is at most one standard error. Folds share training rows, so that error is larger than the spread of independent
differences says: with k folds it is :math:`s\\sqrt{1/n + 1/(k - 1)}` for the standard deviation s of n differences (Nadeau and
Bengio 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.comparison import MethodResult
from skarce.datasets import TargetKind
from skarce.report.numbers import percent, plural, rounded

CLEARLY_SMALLER = 0.8  # a model is smaller in a way that matters with at most this share of the functions
CLEARLY_FASTER = 0.5  # ... and faster with at most this share of the time to predict
MOST_NAMED = 3
ERRORS = {TargetKind.NUMBERS: "RMSE", TargetKind.CLASSES: "error rate", TargetKind.COUNTS: "deviance"}


@dataclass(frozen=True)
class Verdict:
    """The sentence, what would change it, and the names behind it.

    Attributes
    ----------
    sentence : what to choose
    changes : what would change that
    best : the method with the smallest error, or None if all failed
    level : methods that cannot be told from it, the best one first
    shown : the best method that is ours, whose model the report looks at; None if all of ours failed
    """

    sentence: str
    changes: tuple[str, ...]
    best: str | None
    level: tuple[str, ...] = ()
    shown: str | None = None


def verdict(results: Sequence[MethodResult], n_folds: int, base_error: float) -> Verdict:
    """The verdict over sorted results, the best first.

    Parameters
    ----------
    results : results of `cross_validate`
    n_folds : number of folds of one repeat
    base_error : the error of a model that knows the target and no inputs
    """
    done = [result for result in results if result.error is None and result.scores]
    if not done:
        return Verdict("No method could be fitted to this table.", ("See the errors in the table.",), None)
    best, rest = done[0], done[1:]
    level = [best, *(result for result in rest if is_level(result, best, n_folds))]
    own = next((result.method.name for result in done if not result.method.is_rival), None)
    names = tuple(result.method.name for result in level)
    if error_of(best) >= base_error:
        sentence = f"No method predicts better than {_base_words(best)}: they find nothing in the inputs that tells the target."
        return Verdict(sentence, (_MORE_INPUTS,), best.method.name, names, own)
    smaller = _smallest(level, best)
    sentence = f"{best.method.name} predicts best ({_error_words(best)})"
    if len(done) == 1:
        sentence += "; nothing else was compared with it" if len(results) == 1 else "; all others failed"
    elif smaller is not None:
        size = f"{_functions(smaller)} in place of {rounded(best.mean('n_functions'), 3)}"
        sentence += f"; {smaller.method.name} is within the spread of the folds with {size}: choose it if size matters"
    elif len(level) == 1:
        sentence += f"; the next one, {rest[0].method.name}, is beyond the spread of the folds ({_error_words(rest[0])})"
    else:
        sentence += f"; {_listed(names[1:])} {'is' if len(level) == 2 else 'are'} within the spread of the folds, and not smaller"
    return Verdict(f"{sentence}.", tuple(_changes(level, best, done, smaller)), best.method.name, names, own)


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


def standard_error(differences: Floats, n_folds: int) -> float:
    """The standard error of a mean over folds that share training rows."""
    return float(np.std(differences, ddof=1) * np.sqrt(1.0 / len(differences) + 1.0 / (n_folds - 1)))


def optimism(results: Sequence[MethodResult]) -> float:
    """By how much the error of the winner is too small because it was chosen on the same folds (Tibshirani and Tibshirani 2009).

    The mean over the folds of how far the winner is above the smallest error of the fold.
    """
    errors = np.array([errors_of(result) for result in results if result.error is None])
    return float(np.mean(errors[errors.mean(axis=1).argmin()] - errors.min(axis=0)))


_MORE_INPUTS = "Other inputs, more rows, or another target may change this."


def _changes(
    level: Sequence[MethodResult], best: MethodResult, done: Sequence[MethodResult], smaller: MethodResult | None
) -> list[str]:
    changes = []
    faster = _fastest(level, best)
    if faster is not None and faster is not smaller:
        changes.append(f"If the time to predict matters: {faster.method.name} is within the spread of the folds and faster.")
    sparse = next((result for result in done if not result.method.is_rival), None)
    if best.method.is_rival and sparse is not None:
        changes.append(f"If the model must be sparse: {sparse.method.name} ({_error_words(sparse)}, {_functions(sparse)}).")
    if len(level) > 1:
        count = plural(len(level) - 1, "method cannot", "methods cannot")
        changes.append(f"More rows or more repeats of the folds (--repeats): {count} be told from {best.method.name} by these.")
    others = [result.method.name for result in done if result not in level]
    if others:
        named = _listed(others) if len(others) <= MOST_NAMED else f"the other {len(others)} methods"
        changes.append(f"Only time or size can speak for {named}: their errors are beyond the spread of the folds.")
    return changes


def _smallest(level: Sequence[MethodResult], best: MethodResult) -> MethodResult | None:
    """The method with the fewest functions among those that are level with the best, if it is clearly smaller."""
    smallest = min(level, key=lambda result: result.mean("n_functions") or 0.0)
    size, of_best = (result.mean("n_functions") or 0.0 for result in (smallest, best))
    return smallest if size <= CLEARLY_SMALLER * of_best and smallest is not best else None


def _fastest(level: Sequence[MethodResult], best: MethodResult) -> MethodResult | None:
    fastest = min(level, key=lambda result: result.median("predict_seconds") or 0.0)
    time, of_best = (result.median("predict_seconds") or 0.0 for result in (fastest, best))
    return fastest if time <= CLEARLY_FASTER * of_best else None


def _functions(result: MethodResult) -> str:
    mean = result.mean("n_functions") or 0.0
    return f"{rounded(mean, 3)} function{'' if mean == 1.0 else 's'}"


def _error_words(result: MethodResult) -> str:
    kind, error = result.method.task.target, error_of(result)
    return f"{ERRORS[kind]} {percent(error) if kind is TargetKind.CLASSES else rounded(error)}"


def _base_words(result: MethodResult) -> str:
    return "the most frequent class" if result.method.task.target is TargetKind.CLASSES else "the mean of the target"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
