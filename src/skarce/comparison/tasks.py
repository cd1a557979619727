"""What a model can be asked to predict, and how models are compared at it. A new task is one more entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, RepeatedKFold, RepeatedStratifiedKFold, StratifiedKFold

from skarce.comparison.scores import (
    CLASS_METRICS,
    COUNT_METRICS,
    REGRESSION_METRICS,
    Fit,
    Fold,
    Metric,
    Score,
    class_score,
    count_score,
    regression_score,
)
from skarce.datasets import TargetKind


class TooFewRowsError(ValueError):
    """Rows that cannot be split into as many folds as were asked for."""


def check_rows(y: Any, n_folds: int, target: str) -> None:
    """Raise if there are fewer rows than folds."""
    if len(y) < n_folds:
        raise TooFewRowsError(f"the table has {len(y)} rows, fewer than the {n_folds} folds; use --cv {len(y)}, or add rows.")


def check_classes(y: Any, n_folds: int, target: str) -> None:
    """Raise if a class has fewer rows than there are folds."""
    labels, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if smallest >= n_folds:
        return
    name = f"class {labels[counts.argmin()]!s} of {target!r}"
    remedy = "add rows" if len(labels) == 2 else "drop the class, or merge it with another"
    if np.issubdtype(labels.dtype, np.number) and len(labels) > 2:
        remedy += f"; if {target!r} holds counts or other numbers, use --task"
    if smallest == 1:
        raise TooFewRowsError(f"{name} has one row, which cannot be used both to train and to test; {remedy}.")
    remedy = f"use --cv {smallest}, {'or ' if len(labels) == 2 else ''}{remedy}"
    raise TooFewRowsError(f"{name} has {smallest} rows, fewer than the {n_folds} folds; {remedy}.")


@dataclass(frozen=True)
class Task:
    """A kind of target, and how models that predict it are compared."""

    name: str  # on the command line and in files
    target: TargetKind
    score: Callable[[Fit, Fold], Score]
    metrics: tuple[Metric, ...]  # the columns of a table; the first is shown with its spread over the folds
    ranked_by: str  # a number of the score; smaller is better
    splitter: Callable[..., Any]  # the folds of a comparison
    check_folds: Callable[[Any, int, str], None]  # whether targets can be split into this many folds
    width_splitter: Callable[..., Any]  # the folds of a search for a kernel width
    width_scoring: str  # what such a search maximizes


REGRESSION = Task(
    name="regression",
    target=TargetKind.NUMBERS,
    score=regression_score,
    metrics=REGRESSION_METRICS,
    ranked_by="rmse",
    splitter=RepeatedKFold,
    check_folds=check_rows,
    width_splitter=KFold,
    width_scoring="neg_mean_squared_error",
)
CLASSIFICATION = Task(
    name="classification",
    target=TargetKind.CLASSES,
    score=class_score,
    metrics=CLASS_METRICS,
    ranked_by="error",
    splitter=RepeatedStratifiedKFold,
    check_folds=check_classes,
    width_splitter=StratifiedKFold,
    width_scoring="neg_log_loss",
)
COUNTS = Task(
    name="counts",
    target=TargetKind.COUNTS,
    score=count_score,
    metrics=COUNT_METRICS,
    ranked_by="deviance",
    splitter=RepeatedKFold,
    check_folds=check_rows,
    width_splitter=KFold,
    width_scoring="neg_mean_poisson_deviance",
)
TASKS = {task.name: task for task in (REGRESSION, CLASSIFICATION, COUNTS)}


def task_for(target: TargetKind) -> Task:
    """The task of predicting such a target."""
    return next(task for task in TASKS.values() if task.target is target)
