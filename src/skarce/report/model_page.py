"""A stored model as one page, with what rows say about it if there are any."""

from __future__ import annotations

from skarce.report.comparison_page import calibration_part, checks_part, far_part, residuals_part, verdict_part
from skarce.report.export_part import export_part
from skarce.report.functions_part import functions_part, steps_columns
from skarce.report.markup import Markup, joined, tag
from skarce.report.model_report import ModelReport
from skarce.report.page import facts, page, table

GIVEN = "The rows that were given; a model looks better on rows that it was fitted to."

STEPS = "The last steps, in their order; candidates are numbered from 0, as above"


def model_page(report: ModelReport) -> str:
    """The page, complete."""
    foot = tag("p", "Written by skarce. This file needs no network.", class_="muted")
    lead = joined(tag("p", report.model.facts["model"], class_="muted"), verdict_part(report.verdict))
    return page(report.title, lead, [*_on_the_model(report), *_on_rows(report), *_origin(report)], foot)


def _on_the_model(report: ModelReport) -> list[tuple[str, str, Markup]]:
    model = report.model
    return [
        ("model", "The model", joined(facts(model.facts), export_part(model))),
        ("weights-part", "Functions", functions_part(model)),
        ("checks", "Checks", checks_part(report.checks)),
    ]


def _on_rows(report: ModelReport) -> list[tuple[str, str, Markup]]:
    """What the given rows say; nothing if there are none."""
    residuals = report.residuals
    if report.quality is None or residuals is None:
        return []
    sections = [("quality", "On the given rows", facts(report.quality.words(report.kind)))]
    if report.curve is not None:
        sections.append(("calibration", "Calibration", calibration_part([report.curve], residuals, report.kind)))
    shown = joined(residuals_part(residuals, report.target, GIVEN), far_part(report.model.far, residuals, report.places))
    return [*sections, ("residuals", "Predicted and true", shown)]


def _origin(report: ModelReport) -> list[tuple[str, str, Markup]]:
    """The last steps of the search if there are any, and where the report comes from."""
    steps = report.model.steps
    sections = [("steps", "Last steps of the search", table("steps-table", steps_columns(steps), STEPS))] if len(steps) else []
    origin = facts({name: tag("code", value) for name, value in report.provenance.items()})
    return [*sections, ("provenance", "Where this comes from", origin)]
