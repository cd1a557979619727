"""What given rows say about a stored model, in a few numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skarce.comparison import Answers
from skarce.comparison.out_of_fold import LOG_SCORES
from skarce.datasets import TargetKind
from skarce.inspection.intervals import coverage_curve
from skarce.report.calibration import interval
from skarce.report.checks import LEVEL
from skarce.report.losses import error_of_rows, row_losses, without_inputs
from skarce.report.numbers import finite, fixed, percent
from skarce.report.residuals import Residuals
from skarce.report.verdict import ERRORS, error_text


@dataclass(frozen=True)
class Quality:
    """Numbers of rows.

    Attributes
    ----------
    n_rows : how many there are
    error : RMSE, error rate or deviance, by the kind of the target
    error_without_inputs : that of the mean of these targets, or of their most frequent class
    beats_base : whether the first is smaller by more than one standard error of the difference
    log_score : the mean over the rows, None without std
    coverage : the share inside 95 % intervals, None without std
    """

    n_rows: int
    error: float
    error_without_inputs: float
    beats_base: bool
    log_score: float | None
    coverage: float | None

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**asdict(self), "log_score": finite(self.log_score)}

    def words(self, kind: TargetKind) -> dict[str, str]:
        """The numbers with their names."""
        found = {
            "rows": f"{self.n_rows:,}",
            ERRORS[kind]: error_text(kind, self.error),
            f"{ERRORS[kind]} without inputs": error_text(kind, self.error_without_inputs),
        }
        if self.log_score is not None:
            found["log score"] = f"{fixed(self.log_score, '.4f')}, mean over the rows"
        if self.coverage is not None:
            found["95 % intervals cover"] = percent(self.coverage)
        return found


def quality_of(answers: Answers, residuals: Residuals) -> Quality:
    """Compare what a model says about rows with what is true, and with a model that ignores its inputs."""
    kind, y = answers.kind, answers.targets
    losses, base = row_losses(kind, y, residuals.predicted), row_losses(kind, y, without_inputs(kind, y))
    gains, scores = base - losses, LOG_SCORES[kind](answers.values, y, answers.classes)
    return Quality(
        n_rows=len(y),
        error=error_of_rows(kind, losses),
        error_without_inputs=error_of_rows(kind, base),
        beats_base=len(y) > 1 and bool(gains.mean() > np.std(gains, ddof=1) / np.sqrt(len(y))),
        log_score=None if scores is None else float(np.mean(scores)),
        coverage=float(coverage_curve(y, [interval(answers, LEVEL)])[0]) if answers.has_std else None,
    )
