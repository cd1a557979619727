"""A report on a comparison as one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skarce.datasets import TargetKind
from skarce.report.calibration import Curve
from skarce.report.charts import beyond_words, calibration_chart, error_chart, residual_chart, size_chart, z_chart
from skarce.report.checks import Check, Finding
from skarce.report.comparison_report import ComparisonReport
from skarce.report.export_part import export_part
from skarce.report.functions_part import functions_part
from skarce.report.inputs import MOST_FAR, FarRows
from skarce.report.markup import Markup, joined, tag
from skarce.report.model_view import ModelView
from skarce.report.numbers import percent, plural, rounded
from skarce.report.page import Column, charts, facts, figure, key, page, table
from skarce.report.residuals import Residuals
from skarce.report.svg import WIDTH
from skarce.report.verdict import AS_GOOD, CHANGES, Verdict

MOST_CLASSES = 20  # with more, confusions are listed
LEFT_OUT = "Each row was predicted by a model that had not seen it."
MEANINGS = {  # of columns whose metrics have no legend
    "log score": "mean log density of left-out targets, larger is better",
    "functions": "basis functions that a prediction evaluates",
    "size": "bytes of the fitted model as a pickle",
    "in C": "bytes of its constant tables on a microcontroller, in float, or in double if float is not precise enough, with what "
    "its uncertainty needs",
}
BADGES = {Finding.WARNING: "⚠ warning", Finding.NOTE: "ℹ note", Finding.FINE: "✓ fine"}


def comparison_page(report: ComparisonReport) -> str:
    """The page, complete."""
    curves, residuals, model = report.curves, report.residuals, report.model
    sections = [
        ("methods", "Methods", _methods(report)),
        ("checks", "Checks", checks_part(report.checks)),
        ("size", "Error and size", _sizes(report)),
        ("calibration", "Calibration", calibration_part(curves, residuals, report.kind, report.far_off) if curves else None),
        ("residuals", "Left-out rows", residuals_part(residuals, report.target, LEFT_OUT) if residuals is not None else None),
        ("model", f"The model of {model.name}" if model is not None else "", _model(report, model) if model is not None else None),
        ("provenance", "Where this comes from", facts({name: tag("code", value) for name, value in report.provenance.items()})),
    ]
    foot = tag("p", "Written by skarce. This file needs no network.", class_="muted")
    shown = [(name, heading, content) for name, heading, content in sections if content is not None]
    return page(report.title, joined(_lead(report), verdict_part(report.verdict)), shown, foot)


def _lead(report: ComparisonReport) -> Markup:
    settings = report.settings
    repeats = f", {settings['repeats']} times" if settings["repeats"] > 1 else ""
    words = (
        f"{settings['data']}: {plural(settings['n_rows'], 'row')}, {plural(settings['n_inputs'], 'input')}, "
        f"{settings['cv']} folds{repeats}. Target: {report.target} ({settings['task']})."
    )
    return tag("p", words, class_="muted")


def verdict_part(found: Verdict) -> Markup:
    """The sentence, what would change it, and what else there is to know."""
    sentence, changes = tag("p", found.sentence), [tag("li", each) for each in found.changes]
    more = [tag("p", CHANGES, class_="muted"), tag("ul", *changes)] if changes else []
    return tag("div", sentence, *more, *(tag("p", note, class_="muted") for note in found.notes), class_="verdict")


def _methods(report: ComparisonReport) -> Markup:
    words = (
        "All methods saw the same folds. Numbers are means over the folds, times and sizes are medians; the spread is the "
        "standard deviation over the folds."
    )
    titles = tag("details", tag("summary", "What the methods are"), facts(report.titles))
    best = [place for place, name in enumerate(report.columns[0].texts) if name in report.verdict.tied]
    caption = "Methods, the best first; the buttons in the headings sort the table"
    return joined(
        table("methods-table", report.columns, caption, best=best, is_sortable=True),
        tag("p", words, class_="muted"),
        tag("ul", *(tag("li", each) for each in _meanings(report)), class_="muted"),
        titles,
    )


def _meanings(report: ComparisonReport) -> list[str]:
    """What the columns are, one line each."""
    headings = {column.heading for column in report.columns}
    explained = [f"{heading}: {words}" for heading, words in MEANINGS.items() if heading in headings]
    return [*(meaning for legend in report.legends for meaning in legend.split("; ")), *explained]


def checks_part(found: list[Check]) -> Markup:
    """What checks found, warnings first."""
    return tag("ul", *(tag("li", *_check(check)) for check in found), class_="checks")


def _check(check: Check) -> list[Markup]:
    badge = tag("span", BADGES[check.finding], class_=f"badge {check.finding.value}")
    return [badge, tag("span", tag("strong", f"{check.name}."), " ", check.words)]


def _sizes(report: ComparisonReport) -> Markup | None:
    if not report.points:
        return None
    level = set(report.verdict.level)
    points = [
        (point.name, point.n_functions, point.error, point.spread, _class_of(point.name, report.verdict.tied, level))
        for point in report.points
    ]
    needed = [name for name in (report.verdict.best, report.verdict.shown) if name is not None]
    keys = joined(
        key("accent", "best"), key("main", AS_GOOD),
        key("data", "worse by more than chance"),
        ". A bar is one standard deviation over the folds.",
    )  # fmt: skip
    rule = (
        f"A method is {AS_GOOD} if its mean difference from the best, fold by fold, is at most one standard error of that "
        "difference, which allows for folds that share training rows. This is another number than the spread, the standard "
        "deviation of the errors themselves: folds that are hard for all methods widen the spread, and not the differences."
    )
    form = percent if report.kind is TargetKind.CLASSES else rounded
    return joined(
        figure(
            size_chart("sizes", points, report.error_name, needed, form),
            "Small and good is at the lower left",
            joined(keys, " The name of any other point shows under the mouse."),
            narrow=size_chart("sizes-narrow", points, report.error_name, needed, form, width=WIDTH),
        ),
        tag("p", rule, class_="muted"),
    )


def _class_of(name: str, best: Sequence[str], level: set[str]) -> str:
    if name in best:
        return "accent"
    return "main" if name in level else "data"


def calibration_part(curves: list[Curve], residuals: Residuals | None, kind: TargetKind, far_off: Sequence[str] = ()) -> Markup:
    """Charts of what was promised and what happened; methods `far_off` are named."""
    of_classes, name = kind is TargetKind.CLASSES, curves[0].name
    if of_classes:
        words = "In each group of rows with similar probabilities, the class should happen as often as was said."
    else:
        words = "The share of rows inside their intervals should be what the intervals promise."
    if kind is TargetKind.COUNTS:
        words += " Those of counts end at whole numbers, so they cover at least that much."
    if far_off:
        words += f" Intervals that are too narrow: {', '.join(far_off)}."
    others = joined(key("data", "other methods")) if len(curves) > 1 else None
    first = figure(
        calibration_chart("promises", curves, of_classes=of_classes, marked=far_off),
        "Probabilities and frequencies" if of_classes else "Coverage of intervals",
        joined(key("main", name), others, f". {words}"),
    )
    second = None
    if residuals is not None and residuals.z is not None and kind is TargetKind.NUMBERS:
        words = f"Standard deviation {rounded(float(residuals.z.std()), 3)}: above 1, the std is too small; below 1, too large."
        words += f" {beyond_words(residuals.z)}"
        second = figure(z_chart("scores", residuals.z, name), "Errors over their std", joined(key("main", "normal"), f". {words}"))
    return charts(first, second)


def residuals_part(residuals: Residuals, target: str, words: str) -> Markup:
    """Predicted and true targets; `words` say which rows these are."""
    if residuals.confusion is not None:
        return _confusion(residuals, target, words)
    name, predicted, true = residuals.name, residuals.predicted, residuals.true
    return charts(
        figure(
            residual_chart("truth", predicted, true, name, target),
            "Predicted and true",
            words,
        ),
        figure(
            error_chart("errors", predicted, true, name),
            "Errors",
            "A trend says that the model misses something; a funnel, that the noise is not the same everywhere.",
        ),
    )


def _confusion(residuals: Residuals, target: str, words: str) -> Markup:
    labels = [str(label) for label in residuals.classes]
    if len(labels) > MOST_CLASSES:
        return _confusions(residuals, labels, words)
    columns = [Column(f"true {target}", labels)]
    for place, label in enumerate(labels):
        counts = residuals.confusion[:, place]
        columns.append(Column(f"predicted as {label}", [str(count) for count in counts], [float(count) for count in counts]))
    correct = residuals.confusion.diagonal() / residuals.confusion.sum(axis=1).clip(min=1)
    columns.append(Column("correct", [percent(share) for share in correct], [float(share) for share in correct]))
    return table("confusion", columns, f"Rows by their true class and the one that {residuals.name} predicted. {words}")


def _confusions(residuals: Residuals, labels: list[str], words: str) -> Markup:
    """The most frequent confusions, one row each."""
    wrong = residuals.confusion * (1 - np.eye(len(labels), dtype=np.intp))
    order = np.argsort(-wrong, axis=None, kind="stable")[: min(MOST_CLASSES, np.count_nonzero(wrong))]
    true, taken = np.unravel_index(order, wrong.shape)
    counts = wrong[true, taken]
    columns = [
        Column("true", [labels[place] for place in true]),
        Column("predicted as", [labels[place] for place in taken]),
        Column("rows", [str(count) for count in counts], _floats(counts)),
    ]
    return table("confusion", columns, f"The most frequent of {plural(int(wrong.sum()), 'confusion')} by {residuals.name}. {words}")


def _model(report: ComparisonReport, model: ModelView) -> Markup:
    lead = tag("p", f"Fitted once more, to all rows.{_why(report.verdict, model.name)}")
    return joined(
        lead, facts(model.facts), export_part(model), functions_part(model), far_part(model.far, report.residuals, report.places)
    )


def _why(found: Verdict, name: str) -> str:
    """Why this model is the one that is shown."""
    if name in found.doubtful:
        return " None of our methods can be trusted on this table (see the checks); this is the best of them."
    if not found.beats_base:
        return " It is shown to look at, and not recommended: no method tells the target from the inputs."
    return "" if found.best == name else " It is our method that the verdict names, or else our best one."


def far_part(far: FarRows | None, residuals: Residuals | None, places: Sequence[str]) -> Markup:
    """Rows far from all others, and what was predicted for them; `places` say where they are in the table."""
    heading = tag("h3", "Rows far from the others")
    if far is None or residuals is None or not len(far.rows):
        return joined(heading, tag("p", "No row is far from all others."))
    shown, ratios = far.rows[:MOST_FAR], far.ratios[:MOST_FAR]
    by_row: dict[int, int] = {int(row): place for place, row in enumerate(residuals.rows)}
    at = [by_row[int(row)] for row in shown]
    columns = [
        Column("row", places[: len(shown)]),
        Column("distance to the next row", [f"{rounded(ratio, 2)} × median" for ratio in ratios], _floats(ratios)),
        _values("true", residuals.true[at]),
        _values("predicted", residuals.predicted[at]),
    ]
    words = (
        f"{plural(len(far.rows), 'row is', 'rows are')} far from all others in the inputs, as the model measures distances, so it "
        "can only guess there: look for typos, and for rare kinds of rows. Rows and lines of the data are counted from 1."
    )
    return joined(heading, tag("p", words), table("far", columns, "The farthest rows"))


def _values(heading: str, values: Any) -> Column:
    if values.dtype.kind == "f":
        return Column(heading, [rounded(float(value)) for value in values], _floats(values))
    return Column(heading, [str(value) for value in values])


def _floats(values: Any) -> list[float | None]:
    return [float(value) for value in values]
