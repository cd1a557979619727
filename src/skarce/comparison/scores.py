"""What a method reaches on one fold.

Each task has a score: a dataclass of its numbers, a function that fits a model, predicts, and fills them in, and the metrics that a
table shows. The costs of a fit are measured in the same way for all.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.metrics import (
    accuracy_score,
    d2_tweedie_score,
    log_loss,
    mean_poisson_deviance,
    r2_score,
    root_mean_squared_error,
)
from sklearn.pipeline import Pipeline

from skarce._typing import Floats
from skarce.comparison.counting import count_functions
from skarce.likelihoods.poisson import LEAST_RATE, count_quantiles

ALIGNED = "aligned"  # four significant digits for the smallest number of a column, and the same decimals for all
SECONDS = "seconds"

Fit = Callable[[Any, Any], Any]  # from training inputs and targets to a fitted model
Interval = Callable[[Floats, Floats, float], tuple[Floats, Floats]]  # from means, stds and a level to lower and upper ends


class Fold(NamedTuple):
    """Training and test rows; the inputs are preprocessed by what was learned from the training rows."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


@dataclass(frozen=True)
class Metric:
    """A number of a score as a column of a table. `form` is a format specification, `ALIGNED` or `SECONDS`."""

    name: str
    heading: str
    form: str
    legend: str = ""


@dataclass(frozen=True, kw_only=True)
class Score:
    """The costs of one method on one fold; each task adds its numbers, which are None if they are undefined."""

    n_functions: int
    fit_seconds: float
    predict_seconds: float


COSTS = (
    Metric("n_functions", "functions", ".1f"),
    Metric("fit_seconds", "fit", SECONDS, "times: median over folds"),
    Metric("predict_seconds", "predict", SECONDS),
)


class Trial(NamedTuple):
    """A model fitted to the training rows of a fold, what it predicts for the test rows, and the costs."""

    model: Any
    predicted: Any
    costs: dict[str, Any]


def fit_and_predict(fit: Fit, fold: Fold, method: str) -> Trial:
    """Fit a model and call one of its methods on the test rows, both timed."""
    started = time.perf_counter()
    model = fit(fold.X_train, fold.y_train)
    fitted = time.perf_counter()
    predicted = getattr(model, method)(fold.X_test)
    finished = time.perf_counter()
    costs = Score(n_functions=count_functions(model), fit_seconds=fitted - started, predict_seconds=finished - fitted)
    return Trial(model, predicted, asdict(costs))


# Regression ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RegressionScore(Score):
    """One regressor on one fold."""

    rmse: float
    r2: float | None
    coverage: float | None


REGRESSION_METRICS = (
    Metric("rmse", "RMSE", ALIGNED),
    Metric("r2", "R2", ".3f"),
    *COSTS,
    Metric("coverage", "coverage", ".1%", "coverage: share of targets in the 95 % interval"),
)


def regression_score(fit: Fit, fold: Fold) -> RegressionScore:
    """Fit a regressor, and compare its predictions with the targets."""
    model, predicted, costs = fit_and_predict(fit, fold, "predict")
    return RegressionScore(
        rmse=float(root_mean_squared_error(fold.y_test, predicted)),
        r2=float(r2_score(fold.y_test, predicted)) if len(predicted) > 1 else None,
        coverage=coverage(model, fold, normal_interval) if gives_std(model) else None,
        **costs,
    )


def coverage(model: Any, fold: Fold, interval: Interval) -> float:
    """The share of test targets within the 95 % interval of their prediction."""
    mean, std = model.predict(fold.X_test, return_std=True)
    lower, upper = interval(mean, std, 0.95)
    return float(np.mean((lower <= fold.y_test) & (fold.y_test <= upper)))


def normal_interval(mean: Floats, std: Floats, level: float) -> tuple[Floats, Floats]:
    """The intervals of numbers at one level, from predictions and their std: those of `predict_interval`."""
    reach = float(norm.ppf(0.5 * (1.0 + level))) * std
    return mean - reach, mean + reach


def count_interval(mean: Floats, std: Floats, level: float) -> tuple[Floats, Floats]:
    """The intervals of counts: those of `predict_interval`. They end at whole numbers, so they cover at least the level."""
    mean = np.maximum(mean, LEAST_RATE)
    lower, upper = (count_quantiles(0.5 * (1.0 + sign * level), mean, std**2) for sign in (-1.0, 1.0))
    return lower, upper


def gives_std(model: Any) -> bool:
    """Whether `predict(X, return_std=True)` gives the standard deviation of a new observation."""
    last = model[-1] if isinstance(model, Pipeline) else model  # a pipeline passes it on
    return "return_std" in inspect.signature(last.predict).parameters


# Counts -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CountScore(Score):
    """One model of counts on one fold."""

    deviance: float
    d2: float | None
    rmse: float
    coverage: float | None


COUNT_METRICS = (
    Metric("deviance", "deviance", ALIGNED, "deviance: mean Poisson deviance; D2: the share of it that is explained"),
    Metric("d2", "D2", ".3f"),
    Metric("rmse", "RMSE", ALIGNED),
    *COSTS,
    Metric("coverage", "coverage", ".1%", "coverage: share of targets in the 95 % interval"),
)


def count_score(fit: Fit, fold: Fold) -> CountScore:
    """Fit a model of counts, and compare its expected counts with the targets."""
    model, predicted, costs = fit_and_predict(fit, fold, "predict")
    expected = np.maximum(predicted, LEAST_RATE)
    explains = len(expected) > 1 and bool(np.ptp(fold.y_test) > 0.0)
    return CountScore(
        deviance=float(mean_poisson_deviance(fold.y_test, expected)),
        d2=float(d2_tweedie_score(fold.y_test, expected, power=1)) if explains else None,
        rmse=float(root_mean_squared_error(fold.y_test, predicted)),
        coverage=coverage(model, fold, count_interval) if gives_std(model) else None,
        **costs,
    )


# Classification -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ClassScore(Score):
    """One classifier on one fold."""

    error: float
    accuracy: float
    log_loss: float
    brier: float


CLASS_METRICS = (
    Metric("accuracy", "accuracy", ".2%"),
    Metric("log_loss", "log loss", ".4f"),
    Metric("brier", "Brier", ".4f"),
    *COSTS,
)


def class_score(fit: Fit, fold: Fold) -> ClassScore:
    """Fit a classifier, and compare its probabilities with the labels."""
    model, probabilities, costs = fit_and_predict(fit, fold, "predict_proba")
    accuracy = float(accuracy_score(fold.y_test, model.classes_[probabilities.argmax(axis=1)]))
    return ClassScore(
        error=1.0 - accuracy,
        accuracy=accuracy,
        log_loss=float(log_loss(fold.y_test, probabilities, labels=model.classes_)),
        brier=brier(probabilities, fold.y_test, model.classes_),
        **costs,
    )


def brier(probabilities: Floats, labels: Any, classes: Any) -> float:
    """The mean squared error of the probabilities: that of the second of two classes, or the sum over more classes."""
    happened = labels[:, None] == classes
    squares = (probabilities - happened) ** 2
    return float(np.mean(squares[:, 1] if len(classes) == 2 else squares.sum(axis=1)))
