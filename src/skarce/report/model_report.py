"""What a report on a stored model says, as numbers and words. How it is written is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skarce.comparison import Answers
from skarce.datasets import TargetKind
from skarce.datasets.training import TrainingData
from skarce.report import checks
from skarce.report.calibration import Curve, curve_of
from skarce.report.checks import Check
from skarce.report.functions_part import records
from skarce.report.model_verdict import model_verdict
from skarce.report.model_view import ModelView
from skarce.report.quality import Quality, quality_of
from skarce.report.ranking import DOUBTS
from skarce.report.residuals import Residuals, residuals_of
from skarce.report.verdict import Verdict
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class GivenRows:
    """Rows of a table with their targets, and what the model says about them.

    Attributes
    ----------
    data : inputs and targets
    answers : predictions of the model
    places : where the far rows of the model are in the table
    n_centers : how many of the rows are centers of its functions
    """

    data: TrainingData
    answers: Answers
    places: list[str]
    n_centers: int


@dataclass(frozen=True)
class ModelReport:
    """Everything that a page, a Markdown file or JSON says about a model.

    Attributes
    ----------
    model : the model
    target, kind : what it predicts
    verdict : what the rows say in one sentence, and what would change it
    checks : what could make that misleading
    quality, curve, residuals : the numbers behind it; None if there are no rows, and no curve if the model has no std
    places : where the far rows of the model are in the table
    provenance : command, data, seed and versions
    """

    model: ModelView
    target: str
    kind: TargetKind
    verdict: Verdict
    checks: list[Check]
    quality: Quality | None
    curve: Curve | None
    residuals: Residuals | None
    places: list[str]
    provenance: dict[str, str]

    @property
    def title(self) -> str:
        """The target and the model."""
        return f"{self.target}: the model of {self.model.name}"

    def as_dict(self) -> dict[str, Any]:
        """The report without its pictures, ready for JSON."""
        return {
            "verdict": self.verdict.as_dict(),
            "checks": [check.as_dict() for check in self.checks],
            "quality": None if self.quality is None else self.quality.as_dict(),
            "calibration": [] if self.curve is None else [self.curve.as_dict()],
            "residuals": None if self.residuals is None else self.residuals.as_dict(),
            **self.model.as_dict(self.places),
            "facts": self.model.facts,
            "functions": records(self.model.functions),
            "provenance": self.provenance,
        }


def model_report(
    model: ModelView, target: str, kind: TargetKind, outcome: Outcome, given: GivenRows | None, provenance: dict[str, str]
) -> ModelReport:
    """Put together what the report says; `given` are rows if there are any."""
    residuals = None if given is None else residuals_of(given.answers)
    quality = None if given is None or residuals is None else quality_of(given.answers, residuals)
    is_narrow = quality is not None and bool(checks.too_narrow(_shares(model, quality), quality.n_rows))
    return ModelReport(
        model=model,
        target=target,
        kind=kind,
        verdict=model_verdict(
            model.name,
            kind,
            quality,
            facts=model.facts,
            n_centers=0 if given is None else given.n_centers,
            is_doubtful=outcome.value in DOUBTS,
            is_narrow=is_narrow,
            leaks=() if given is None else tuple(given.data.leaks),
        ),
        checks=_checks(model, kind, outcome, given, quality),
        quality=quality,
        curve=None if given is None else curve_of(given.answers),
        residuals=residuals,
        places=[] if given is None else given.places,
        provenance=provenance,
    )


def _shares(model: ModelView, quality: Quality) -> dict[str, float]:
    return {} if quality.coverage is None else {model.name: quality.coverage}


def _checks(model: ModelView, kind: TargetKind, outcome: Outcome, given: GivenRows | None, quality: Quality | None) -> list[Check]:
    found: list[Check | None] = [checks.end_of_fit(outcome)]
    if given is not None and quality is not None:
        may_be_wide = kind is TargetKind.COUNTS or checks.are_of_the_fit(given.n_centers, quality.n_rows)
        found += [
            checks.enough_given_rows(quality.n_rows),
            checks.rows_of_the_fit(given.n_centers, quality.n_rows),
            checks.leaking_columns(given.data),
            checks.repeated_rows(given.data),
            checks.honest_intervals(_shares(model, quality), quality.n_rows, "", may_be_wide=may_be_wide, noun="given row"),
        ]
    return checks.warnings_first(found)
