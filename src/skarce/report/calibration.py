"""Whether predictions are as sure as they may be: what left-out rows say about intervals and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.comparison import Answers
from skarce.comparison.scores import count_interval, normal_interval
from skarce.datasets import TargetKind
from skarce.inspection.intervals import coverage_curve

LEVELS = np.append(np.arange(0.1, 0.95, 0.1), [0.95, 0.99])  # of intervals
N_BINS = 10  # of probabilities


@dataclass(frozen=True)
class Curve:
    """What was promised and what happened: nominal and observed coverage, or probabilities and frequencies."""

    name: str
    promised: Floats
    happened: Floats
    n_rows: Floats  # behind each point

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "name": self.name,
            "promised": self.promised.tolist(),
            "happened": self.happened.tolist(),
            "n_rows": self.n_rows.tolist(),
        }


def curve_of(answers: Answers) -> Curve | None:
    """The curve of one method; None if it gives neither a std nor probabilities."""
    if answers.kind is TargetKind.CLASSES:
        return reliability(answers)
    return curve_of_intervals(answers) if answers.has_std else None


def curve_of_intervals(answers: Answers) -> Curve:
    """The share of targets inside of intervals of several levels."""
    shares = coverage_curve(answers.targets, [interval(answers, level) for level in LEVELS])
    return Curve(answers.name, LEVELS, shares, np.full(len(LEVELS), len(answers.targets)))


def interval(answers: Answers, level: float) -> tuple[Floats, Floats]:
    """The intervals of rows at one level."""
    of_kind = count_interval if answers.kind is TargetKind.COUNTS else normal_interval
    mean, std = answers.values.T
    return of_kind(mean, std, level)


def reliability(answers: Answers) -> Curve:
    """Mean probability and frequency in bins of equally many rows: of the second of two classes, or of the predicted class."""
    n_rows, classes = len(answers.targets), answers.classes
    column = np.ones(n_rows, np.intp) if len(classes) == 2 else answers.values.argmax(axis=1)
    promised = answers.values[np.arange(n_rows), column]
    happened = classes[column] == answers.targets
    bins = np.array_split(np.argsort(promised, kind="stable"), min(N_BINS, n_rows))
    means = np.array([(promised[rows].mean(), happened[rows].mean(), len(rows)) for rows in bins])
    return Curve(answers.name, *means.T)


def z_scores(answers: Answers) -> Floats:
    """Errors over their std."""
    mean, std = answers.values.T
    return (answers.targets - mean) / np.maximum(std, np.finfo(np.float64).tiny)
