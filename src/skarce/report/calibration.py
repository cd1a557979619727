"""Whether predictions are as sure as they may be: what left-out rows say about intervals and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from skarce._typing import Floats
from skarce.comparison import OutOfFold
from skarce.comparison.scores import LEAST_RATE
from skarce.datasets import TargetKind
from skarce.likelihoods.poisson import count_quantiles

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


def curve_of(seen: OutOfFold, y: Any) -> Curve | None:
    """The curve of one method; None if it gives neither a std nor probabilities."""
    if seen.method.task.target is TargetKind.CLASSES:
        return reliability(seen, y)
    return coverage_curve(seen, y) if seen.gives_std else None


def coverage_curve(seen: OutOfFold, y: Any) -> Curve:
    """The share of left-out targets inside of intervals of several levels."""
    inside = covered(seen, y, LEVELS)
    return Curve(seen.method.name, LEVELS, inside.mean(axis=1), np.full(len(LEVELS), inside.shape[1]))


def covered(seen: OutOfFold, y: Any, levels: Floats) -> Any:
    """Whether each left-out target is in the interval of each level. Counts have whole ends, so theirs cover at least the level."""
    targets, (mean, std) = np.asarray(y)[seen.all_rows], seen.all_answers.T
    tails = 0.5 * (1.0 - np.asarray(levels))[:, None]
    if seen.method.task.target is TargetKind.COUNTS:
        mean = np.maximum(mean, LEAST_RATE)
        lower, upper = (count_quantiles(tail, mean, std**2) for tail in (tails, 1.0 - tails))
        return (lower <= targets) & (targets <= upper)
    return np.abs(targets - mean) <= norm.isf(tails) * std


def reliability(seen: OutOfFold, y: Any) -> Curve:
    """Mean probability and frequency in bins of equally many rows: of the second of two classes, or of the class that is predicted."""
    labels, probabilities = np.asarray(y)[seen.all_rows], seen.all_answers
    column = np.ones(len(labels), np.intp) if len(seen.classes) == 2 else probabilities.argmax(axis=1)
    promised = probabilities[np.arange(len(labels)), column]
    happened = seen.classes[column] == labels
    bins = np.array_split(np.argsort(promised, kind="stable"), min(N_BINS, len(labels)))
    means = np.array([(promised[rows].mean(), happened[rows].mean(), len(rows)) for rows in bins])
    return Curve(seen.method.name, *means.T)


def z_scores(seen: OutOfFold, y: Any) -> Floats:
    """Errors of left-out rows over their std."""
    mean, std = seen.all_answers.T
    return (np.asarray(y)[seen.all_rows] - mean) / np.maximum(std, np.finfo(np.float64).tiny)
