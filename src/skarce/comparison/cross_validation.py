"""Cross-validation of several methods on one table: the same folds for all, and one that fails does not stop the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score, root_mean_squared_error

from skarce._typing import Floats
from skarce.comparison.registry import Method, count_functions, gives_std

NORMAL_95 = 1.959963984540054  # standard deviations either side that hold 95 % of a normal distribution


@dataclass(frozen=True)
class Score:
    """One method on one fold; None where a number has no meaning."""

    rmse: float
    r2: float | None
    n_functions: int
    fit_seconds: float
    predict_seconds: float
    coverage: float | None

    @property
    def error(self) -> float:
        """By which methods are ranked."""
        return self.rmse


class Fold(NamedTuple):
    """Training and test rows, the inputs already prepared by what the training rows say."""

    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats


@dataclass
class MethodResult:
    """What a method reached on every fold, the warnings it gave, and the error that ended it."""

    method: Method
    scores: list[Any] = field(default_factory=list)  # of `Score` or `ClassScore`
    warnings: list[str] = field(default_factory=list)
    error: str | None = None

    def mean(self, name: str) -> float | None:
        """Of one number over the folds; None where it has no meaning."""
        return _summary(np.mean, self._values(name))

    def std(self, name: str) -> float | None:
        """The spread of one number over the folds."""
        return _summary(np.std, self._values(name))

    def median(self, name: str) -> float | None:
        """The typical value over the folds; for times, where the first fit may pay for warming up."""
        return _summary(np.median, self._values(name))

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

    def _values(self, name: str) -> list[float | None]:
        return [getattr(score, name) for score in self.scores]


def compare(
    X: Any,
    y: Floats,
    methods: Sequence[Method],
    preprocessing: Any,
    splitter: Any,
    on_start: Callable[[Method], None] = lambda method: None,
    score: Callable[[Method, Fold], Any] | None = None,
) -> list[MethodResult]:
    """Cross-validate every method on the same folds; best error first, failed methods last.

    Parameters
    ----------
    X : table of shape (n_samples, n_inputs)
    y : array of shape (n_samples,)
    methods : the methods, see `skarce.comparison.registry`
    preprocessing : transformer, fitted anew on the training rows of every fold; its time does not count
    splitter : the folds, a scikit-learn splitter
    on_start : called with the method before each of its fits, also where the fit is skipped because an earlier one failed
    score : what a method reaches on a fold, with an attribute `error`; that of regressors by default
    """
    results = [MethodResult(method) for method in methods]
    for train, test in splitter.split(X, y):
        fold = _prepared(X, y, train, test, preprocessing)
        for result in results:
            on_start(result.method)
            if result.error is None:
                _run_fold(result, fold, score or regression_score)
    return sorted(results, key=_rank)


def _prepared(X: Any, y: Floats, train: Any, test: Any, preprocessing: Any) -> Fold:
    prepare = clone(preprocessing).fit(X.iloc[train])
    return Fold(prepare.transform(X.iloc[train]), y[train], prepare.transform(X.iloc[test]), y[test])


def _run_fold(result: MethodResult, fold: Fold, score: Callable[[Method, Fold], Any]) -> None:
    """Add the score of one fold, or the error that ended the method. Rivals may stop early without comment."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if result.method.is_rival:
            warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            result.scores.append(score(result.method, fold))
        except Exception as error:
            result.error = f"{type(error).__name__}: {error}"
    result.warnings += [str(warning.message) for warning in caught]


def regression_score(method: Method, fold: Fold) -> Score:
    """Fit, predict, and compare with what came."""
    started = time.perf_counter()
    model = method.fit(fold.X_train, fold.y_train)
    fitted = time.perf_counter()
    predicted = model.predict(fold.X_test)
    finished = time.perf_counter()
    return Score(
        rmse=float(root_mean_squared_error(fold.y_test, predicted)),
        r2=float(r2_score(fold.y_test, predicted)) if len(predicted) > 1 else None,
        n_functions=count_functions(model),
        fit_seconds=fitted - started,
        predict_seconds=finished - fitted,
        coverage=_coverage(model, fold) if gives_std(model) else None,
    )


def _coverage(model: Any, fold: Fold) -> float:
    """The share of test targets within the 95 % interval of their prediction."""
    mean, std = model.predict(fold.X_test, return_std=True)
    return float(np.mean(np.abs(fold.y_test - mean) <= NORMAL_95 * std))


def _summary(statistic: Callable[[Any], Any], values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(statistic(known)) if known else None


def _rank(result: MethodResult) -> tuple[bool, float]:
    return result.error is not None, result.mean("error") or 0.0
