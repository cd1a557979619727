"""What predictions cost, row by row: squared errors, wrong classes or Poisson deviances. Their mean gives the error of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.datasets import TargetKind
from skarce.likelihoods.poisson import LEAST_RATE


def without_inputs(kind: TargetKind, known: Any) -> Any:
    """What a model that ignores its inputs predicts: the mean of the known targets, or their most frequent class."""
    if kind is not TargetKind.CLASSES:
        return float(np.mean(known))
    labels, counts = np.unique(known, return_counts=True)
    return labels[counts.argmax()]


def row_losses(kind: TargetKind, targets: Any, predicted: Any) -> Floats:
    """The loss of each row; `predicted` are numbers or labels, one for each row or one for all."""
    if kind is TargetKind.CLASSES:
        return np.asarray(targets != predicted, dtype=np.float64)
    if kind is TargetKind.NUMBERS:
        return np.asarray((targets - predicted) ** 2, dtype=np.float64)
    rate = np.maximum(predicted, LEAST_RATE)
    return 2.0 * (np.where(targets > 0, targets * np.log(np.where(targets > 0, targets, 1.0) / rate), 0.0) - targets + rate)


def error_of_rows(kind: TargetKind, losses: Floats) -> float:
    """The RMSE, the error rate, or the mean deviance."""
    mean = float(np.mean(losses))
    return float(np.sqrt(mean)) if kind is TargetKind.NUMBERS else mean
