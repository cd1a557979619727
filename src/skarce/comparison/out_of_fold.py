"""What methods predict for rows that their models have not seen, kept for a closer look than scores allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import norm

from skarce._typing import Floats, Indices
from skarce.comparison.counting import count_bytes, in_c
from skarce.comparison.cross_validation import FoldModel
from skarce.comparison.registry import Method
from skarce.comparison.scores import gives_std
from skarce.datasets import TargetKind
from skarce.likelihoods.poisson import LEAST_RATE, count_log_density
from skarce.states.outcome import Outcome

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # a class held for impossible that happened costs its log, not infinity


@dataclass(frozen=True)
class Answers:
    """What a model or a method says about rows that it has not seen, and what is true.

    Attributes
    ----------
    name : of the method
    kind : numbers, counts or classes
    rows : numbers of the rows in the table
    targets : what is true
    values : array of shape (n_rows, 1) with means, (n_rows, 2) with means and stds, or (n_rows, n_classes) with probabilities
    classes : the labels behind the columns of the values, for classes
    """

    name: str
    kind: TargetKind
    rows: Indices
    targets: Any
    values: Floats
    classes: Any = None

    @property
    def has_std(self) -> bool:
        """Whether numbers or counts come with a std."""
        return self.kind is not TargetKind.CLASSES and self.values.shape[1] == 2


@dataclass
class OutOfFold:
    """The answers of one method, with one entry in each list for each fold.

    Attributes
    ----------
    rows : numbers of the test rows
    answers : arrays of shape (n_rows, 1) with means, (n_rows, 2) with means and stds, or (n_rows, n_classes) with probabilities
    log_scores : mean log density or log probability of the test targets, or None if the model gives no std
    n_bytes : bytes of the fitted model, or None if it cannot be pickled
    c_bytes : bytes of its tables in C, or None if it cannot be exported
    outcomes : how the fit ended, or None for rivals
    classes : the labels behind the columns of the answers, for classes
    """

    method: Method
    rows: list[Indices] = field(default_factory=list)
    answers: list[Floats] = field(default_factory=list)
    log_scores: list[float | None] = field(default_factory=list)
    n_bytes: list[int | None] = field(default_factory=list)
    c_bytes: list[int | None] = field(default_factory=list)
    outcomes: list[Outcome | None] = field(default_factory=list)
    classes: Any = None

    def take(self, fitted: FoldModel) -> None:
        """Add the answers of the model of one fold."""
        fold, kind = fitted.fold, self.method.task.target
        answers = answer(fitted.model, fold.X_test, kind)
        self.classes = getattr(fitted.model, "classes_", None)
        scores = LOG_SCORES[kind](answers, fold.y_test, self.classes)
        self.rows.append(np.asarray(fitted.rows))
        self.answers.append(answers)
        self.log_scores.append(None if scores is None else float(np.mean(scores)))
        self.n_bytes.append(count_bytes(fitted.model))
        self.c_bytes.append(in_c(fitted.model).n_bytes)
        self.outcomes.append(getattr(fitted.model, "outcome_", None))

    def against(self, y: Any, *, once: bool = False) -> Answers:
        """Return the answers of all folds with their targets, one fold after another; `once` takes one answer for each row."""
        rows = np.concatenate(self.rows)[: len(y) if once else None]
        answers = np.concatenate(self.answers)[: len(rows)]
        return Answers(self.method.name, self.method.task.target, rows, np.asarray(y)[rows], answers, self.classes)

    @property
    def log_score(self) -> float | None:
        """The mean log score over the folds."""
        known = [score for score in self.log_scores if score is not None]
        return float(np.mean(known)) if known else None

    @property
    def bytes_of_model(self) -> float | None:
        """The median size of the fitted models."""
        return _median(self.n_bytes)

    @property
    def bytes_in_c(self) -> float | None:
        """The median size of their tables in C."""
        return _median(self.c_bytes)


class Observer:
    """Collects the answers of all methods: pass it to `cross_validate` as `on_model`."""

    def __init__(self) -> None:
        self.seen: dict[str, OutOfFold] = {}

    def __call__(self, fitted: FoldModel) -> None:
        self.seen.setdefault(fitted.method.name, OutOfFold(fitted.method)).take(fitted)


def _median(sizes: list[int | None]) -> float | None:
    known = [size for size in sizes if size is not None]
    return float(np.median(known)) if known else None


def answer(model: Any, X: Any, kind: TargetKind) -> Floats:
    """Return what a model says about rows: means, means and stds if it gives them, or probabilities."""
    if kind is TargetKind.CLASSES:
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    columns = model.predict(X, return_std=True) if gives_std(model) else (model.predict(X),)
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def normal_log_scores(answers: Floats, targets: Any, classes: Any) -> Floats | None:
    """The log density of numbers under normal predictions."""
    if answers.shape[1] < 2:
        return None
    mean, std = answers.T
    with np.errstate(over="ignore"):  # a std of nearly zero next to an error: the score is minus infinity
        return norm.logpdf(targets, mean, np.maximum(std, np.finfo(np.float64).tiny))


def count_log_scores(answers: Floats, targets: Any, classes: Any) -> Floats:
    """The log probability of counts: negative binomial with the std of the model, or Poisson if it gives none."""
    mean = np.maximum(answers[:, 0], LEAST_RATE)
    return count_log_density(targets, mean, answers[:, 1] ** 2 if answers.shape[1] == 2 else mean)


def class_log_scores(answers: Floats, targets: Any, classes: Any) -> Floats:
    """The log probability of the classes that happened."""
    happened = answers[np.arange(len(targets)), np.searchsorted(classes, targets)]
    return np.log(np.clip(happened, LEAST_PROBABILITY, 1.0))


LOG_SCORES: dict[TargetKind, Callable[[Floats, Any, Any], Floats | None]] = {
    TargetKind.NUMBERS: normal_log_scores,
    TargetKind.COUNTS: count_log_scores,
    TargetKind.CLASSES: class_log_scores,
}
