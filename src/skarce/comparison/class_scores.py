"""What a classifier reaches on one fold."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss

from skarce._typing import Floats
from skarce.comparison.classifiers import count_class_functions


@dataclass(frozen=True)
class ClassScore:
    """One classifier on one fold."""

    error: float
    accuracy: float
    log_loss: float
    brier: float
    n_functions: int
    fit_seconds: float
    predict_seconds: float


def class_score(method: Any, fold: Any) -> ClassScore:
    """Fit, predict, and compare with what came."""
    started = time.perf_counter()
    model = method.fit(fold.X_train, fold.y_train)
    fitted = time.perf_counter()
    probabilities = model.predict_proba(fold.X_test)
    finished = time.perf_counter()
    accuracy = float(accuracy_score(fold.y_test, model.classes_[probabilities.argmax(axis=1)]))
    return ClassScore(
        error=1.0 - accuracy,
        accuracy=accuracy,
        log_loss=float(log_loss(fold.y_test, probabilities, labels=model.classes_)),
        brier=brier(probabilities, fold.y_test, model.classes_),
        n_functions=count_class_functions(model),
        fit_seconds=fitted - started,
        predict_seconds=finished - fitted,
    )


def brier(probabilities: Floats, labels: Any, classes: Any) -> float:
    """The mean squared error of the probability: of the second of two classes, or summed over more."""
    happened = labels[:, None] == classes
    squares = (probabilities - happened) ** 2
    return float(np.mean(squares[:, 1] if len(classes) == 2 else squares.sum(axis=1)))
