"""Cross-validation of several methods on one table: all see the same folds, and one that fails does not stop the others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skarce.basis.learners import Memory, remembering
from skarce.comparison.registry import Method
from skarce.comparison.scores import Fold, Score


@dataclass
class MethodResult:
    """The scores of a method on every fold, the warnings it gave, and the error that ended it."""

    method: Method
    scores: list[Score] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str | None = None

    def mean(self, name: str) -> float | None:
        """The mean of one number over the folds; None if it is undefined in all of them."""
        return self._summary(np.mean, name)

    def std(self, name: str) -> float | None:
        """The spread of one number over the folds."""
        return self._summary(np.std, name)

    def median(self, name: str) -> float | None:
        """The median of one number over the folds. It suits times, because the first fit may include warming up."""
        return self._summary(np.median, name)

    def as_dict(self) -> dict[str, Any]:
        """All numbers of all folds, ready for JSON."""
        method = self.method
        return {
            "name": method.name,
            "title": method.title,
            "is_rival": method.is_rival,
            "widths": method.width_rule,
            "error": self.error,
            "warnings": self.warnings,
            "folds": [asdict(score) for score in self.scores],
        }

    def _summary(self, statistic: Callable[[Any], Any], name: str) -> float | None:
        known = [value for score in self.scores if (value := getattr(score, name)) is not None]
        return float(statistic(known)) if known else None


class FoldModel(NamedTuple):
    """A model of a method, fitted to the training rows of a fold; `rows` are the numbers of the test rows in the table."""

    method: Method
    model: Any
    fold: Fold
    rows: Any


def cross_validate(
    X: Any,
    y: Any,
    methods: Sequence[Method],
    preprocessing: Any,
    splitter: Any,
    on_start: Callable[[Method], None] = lambda method: None,
    on_model: Callable[[FoldModel], None] | None = None,
) -> list[MethodResult]:
    """Cross-validate methods for one task on the same folds; the best comes first, failed methods come last.

    Methods that learn kernel widths in the same way share them: they are learned once for each fold.

    Parameters
    ----------
    X : table of shape (n_samples, n_inputs)
    y : array of shape (n_samples,)
    methods : the methods, see `skarce.comparison.registry`
    preprocessing : transformer, fitted again to the training rows of every fold; its time does not count
    splitter : the folds, a scikit-learn splitter
    on_start : called with the method before each of its fits, also if the fit is skipped because an earlier one failed
    on_model : called with each fitted model after it was scored; the model is not kept
    """
    results = [MethodResult(method) for method in methods]
    for train, test in splitter.split(X, y):
        fold = _prepared(X, y, train, test, preprocessing)
        with remembering() as memory:
            for result in results:
                on_start(result.method)
                if result.error is None:
                    model = _run_fold(result, fold, memory)
                    if on_model is not None and result.error is None:
                        on_model(FoldModel(result.method, model, fold, test))
    return sorted(results, key=_rank)


def _prepared(X: Any, y: Any, train: Any, test: Any, preprocessing: Any) -> Fold:
    prepare = clone(preprocessing).fit(X.iloc[train])
    return Fold(prepare.transform(X.iloc[train]), y[train], prepare.transform(X.iloc[test]), y[test])


def _run_fold(result: MethodResult, fold: Fold, memory: Memory) -> Any:
    """Add the score of one fold and return its model, or add the error that ended the method. Rivals may stop before convergence.

    Methods share learned widths. The time to fit includes that of learning them, which is what the method would take on its own.
    """
    method = result.method
    models: list[Any] = []

    def fit(X: Any, y: Any) -> Any:
        models.append(method.fit(X, y))
        return models[-1]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if method.is_rival:
            warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            score = method.task.score(fit, fold)
            result.scores.append(replace(score, fit_seconds=score.fit_seconds + memory.take_seconds_saved()))
        except Exception as error:
            memory.take_seconds_saved()
            result.error = f"{type(error).__name__}: {error}"
    result.warnings += [str(warning.message) for warning in caught]
    return models[-1] if models else None


def _rank(result: MethodResult) -> tuple[bool, float]:
    return result.error is not None, result.mean(result.method.task.ranked_by) or 0.0
