"""A stored model as one page, with what rows say about it if there are any."""

from __future__ import annotations

from dataclasses import dataclass

from skarce.datasets import TargetKind
from skarce.report.calibration import Curve
from skarce.report.comparison_page import calibration_part, residuals_part
from skarce.report.export_part import export_part
from skarce.report.functions_part import functions_part, steps_columns
from skarce.report.markup import Markup, joined, tag
from skarce.report.model_view import ModelView
from skarce.report.page import facts, page, table
from skarce.report.residuals import Residuals

GIVEN = "The rows that were given; a model looks better on rows that it was fitted to."

STEPS = "The last steps, in their order; candidates are numbered from 0, as above"


@dataclass(frozen=True)
class ModelReport:
    """What a page says about a model.

    Attributes
    ----------
    model : the model
    target, kind : what it predicts
    quality : what given rows say in a few numbers; empty if there are none
    curve, residuals : the same in pictures; None if there are no rows, or no targets in them
    provenance : command, data and versions
    """

    model: ModelView
    target: str
    kind: TargetKind
    quality: dict[str, str]
    curve: Curve | None
    residuals: Residuals | None
    provenance: dict[str, str]


def model_page(report: ModelReport) -> str:
    """The page, complete."""
    model = report.model
    sections: list[tuple[str, str, Markup]] = [
        ("model", "The model", joined(facts(model.facts), export_part(model))),
        ("weights-part", "Functions", functions_part(model)),
    ]
    if report.quality:
        sections.append(("quality", "On the given rows", facts(report.quality)))
    if report.curve is not None:
        sections.append(("calibration", "Calibration", calibration_part([report.curve], report.residuals, report.kind)))
    if report.residuals is not None:
        sections.append(("residuals", "Predicted and true", residuals_part(report.residuals, report.target, GIVEN)))
    if len(model.steps):
        steps = table("steps-table", steps_columns(model.steps), STEPS)
        sections.append(("steps", "Last steps of the search", steps))
    origin = facts({name: tag("code", value) for name, value in report.provenance.items()})
    sections.append(("provenance", "Where this comes from", origin))
    foot = tag("p", "Written by skarce. This file needs no network.", class_="muted")
    return page(f"{report.target}: the model of {model.name}", tag("p", model.facts["outcome"], class_="muted"), sections, foot)
