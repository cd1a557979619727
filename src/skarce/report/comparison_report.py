"""What a report on a comparison says, as numbers and words. How it is written is elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._text import one_line
from skarce._typing import Floats
from skarce.comparison import ALIGNED, SECONDS, MethodResult, Metric, OutOfFold
from skarce.comparison.registry import IN_PYTHON
from skarce.datasets import TargetKind
from skarce.datasets.training import TrainingData
from skarce.report import checks
from skarce.report.calibration import Curve, curve_of
from skarce.report.checks import Check
from skarce.report.losses import error_of_rows, row_losses, without_inputs
from skarce.report.model_view import ModelView
from skarce.report.numbers import NONE, aligned, common_form, finite, fixed, percent, plural, seconds, size, written
from skarce.report.page import Column
from skarce.report.ranking import error_of, errors_of
from skarce.report.residuals import Residuals, residuals_of
from skarce.report.verdict import Verdict, verdict


@dataclass(frozen=True)
class Comparison:
    """What the command has found: the table, the results of all methods, and what was seen of their models.

    Attributes
    ----------
    results : the best first, failed methods last
    seen : answers for left-out rows, by the name of the method
    training : inputs and targets
    tests : test rows of each fold
    n_folds : folds of one repeat
    """

    results: Sequence[MethodResult]
    seen: dict[str, OutOfFold]
    training: TrainingData
    tests: list[Any]
    n_folds: int

    @property
    def target_kind(self) -> TargetKind:
        """Numbers, classes or counts."""
        return self.training.target_kind

    @property
    def verdict(self) -> Verdict:
        """Which method to choose."""
        base_errors = errors_without_inputs(self.target_kind, self.training.y, self.tests)
        return verdict(self.results, self.n_folds, base_errors, len(self.training.y), tuple(self.training.leaks))

    @property
    def shown(self) -> OutOfFold | None:
        """Our method that the report looks at."""
        name = self.verdict.shown
        return None if name is None else self.seen[name]


@dataclass(frozen=True)
class Point:
    """A method by its size and its error."""

    name: str
    n_functions: float
    error: float
    spread: float


@dataclass(frozen=True)
class ComparisonReport:
    """Everything that a page, a Markdown file or JSON says about a comparison."""

    title: str
    settings: dict[str, Any]
    target: str
    kind: TargetKind
    error_name: str
    verdict: Verdict
    columns: list[Column]
    titles: dict[str, str]  # what the methods are, or why they failed
    rivals: list[str]  # methods of other packages
    legends: list[str]
    points: list[Point]
    curves: list[Curve]
    far_off: list[str]  # methods whose intervals are too narrow
    residuals: Residuals | None
    model: ModelView | None
    places: list[str]  # where the far rows of the model are in the table
    checks: list[Check]
    provenance: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The report without its pictures and functions, ready for JSON."""
        return {
            "verdict": self.verdict.as_dict(),
            "checks": [check.as_dict() for check in self.checks],
            "table": self._table(),
            "calibration": [curve.as_dict() for curve in self.curves],
            "residuals": None if self.residuals is None else self.residuals.as_dict(),
            **({"inputs": [], "far": [], "export": None} if self.model is None else self.model.as_dict(self.places)),
            "provenance": self.provenance,
        }

    def _table(self) -> list[dict[str, Any]]:
        """What the table shows, one dictionary for each method; numbers that are not known are None."""
        errors = {point.name: point.error for point in self.points}
        rows = []
        for place, name in enumerate(self.columns[0].texts):
            numbers = {column.key: finite(column.values[place]) for column in self.columns if column.values is not None}
            is_rival = name in self.rivals
            rows.append({"name": name, "title": self.titles[name], "is_rival": is_rival, "error": errors.get(name), **numbers})
        return rows


def comparison_report(
    comparison: Comparison,
    settings: dict[str, Any],
    target: str,
    model: ModelView | None,
    places: list[str],
    uneven_words: str,
    provenance: dict[str, str],
) -> ComparisonReport:
    """Put together what the report says.

    `model` is a view of the model that is shown, `places` say where its far rows are, and `uneven_words` what is wrong with a fold.
    """
    done = [result for result in comparison.results if result.error is None]
    answers = [comparison.seen[name].against(comparison.training.y) for name in _in_order(comparison, done)]
    curves = [curve for each in answers if (curve := curve_of(each)) is not None]
    metrics = comparison.results[0].method.task.metrics
    return ComparisonReport(
        title=f"{target}: {plural(len(comparison.results), 'method')} compared",
        settings=settings,
        target=target,
        kind=comparison.target_kind,
        error_name=_error_metric(comparison).heading if comparison.target_kind is not TargetKind.CLASSES else "error rate",
        verdict=comparison.verdict,
        columns=_columns(comparison),
        titles={result.method.name: _description(result) for result in comparison.results},
        rivals=[result.method.name for result in comparison.results if result.method.is_rival],
        legends=[metric.legend for metric in metrics if metric.legend],
        points=[_point(result) for result in done],
        curves=curves,
        far_off=checks.too_narrow(coverages(done), len(comparison.training.y)),
        residuals=_residuals(comparison),
        model=model,
        places=places,
        checks=_checks(comparison, uneven_words),
        provenance=provenance,
    )


def errors_without_inputs(kind: TargetKind, y: Any, tests: Sequence[Any]) -> Floats:
    """The error on each fold of a model that ignores its inputs: the mean of the target, or its most frequent class."""
    losses = [row_losses(kind, y[test], without_inputs(kind, np.delete(y, test))) for test in tests]
    return np.array([error_of_rows(kind, each) for each in losses])


def _residuals(comparison: Comparison) -> Residuals | None:
    """Of repeated folds, only the first repeat counts, so each row is there once."""
    shown = comparison.shown
    return None if shown is None else residuals_of(shown.against(comparison.training.y, once=True))


def _in_order(comparison: Comparison, done: Sequence[MethodResult]) -> list[str]:
    """The method that is shown, then the others from the best on."""
    names = [result.method.name for result in done]
    shown = comparison.verdict.shown
    return sorted(names, key=lambda name: name != shown)


def _error_metric(comparison: Comparison) -> Metric:
    return comparison.results[0].method.task.metrics[0]


def _point(result: MethodResult) -> Point:
    errors = errors_of(result)
    return Point(result.method.name, result.mean("n_functions") or 0.0, error_of(result), float(errors.std()))


def _columns(comparison: Comparison) -> list[Column]:
    """One row for each method. The first metric has its spread over the folds next to it."""
    results, metrics = comparison.results, comparison.results[0].method.task.metrics
    columns = [Column("method", [result.method.name for result in results])]
    for place, metric in enumerate(metrics):
        columns.append(_metric_column(results, metric))
        if place == 0:
            columns.append(_spread_column(results, metric))
    if comparison.target_kind is not TargetKind.CLASSES:
        scores = [_of(comparison, result, "log_score") for result in results]
        texts = [fixed(score, ".3f") for score in scores]
        columns.insert(4, Column("log score", texts, scores, key="log_score"))
    sizes = [_of(comparison, result, "bytes_of_model") for result in results]
    columns.append(Column("size", [size(each) for each in sizes], sizes, key="bytes_of_model"))
    in_c = [_of(comparison, result, "bytes_in_c") for result in results]
    if any(each is not None for each in in_c):
        columns.append(Column("in C", [size(each) for each in in_c], in_c, key="bytes_in_c"))
    return columns


def _of(comparison: Comparison, result: MethodResult, name: str) -> float | None:
    return None if result.error is not None else getattr(comparison.seen[result.method.name], name)


def _metric_column(results: Sequence[MethodResult], metric: Metric) -> Column:
    statistic = "median" if metric.form == SECONDS else "mean"
    values = [None if result.error else getattr(result, statistic)(metric.name) for result in results]
    return Column(metric.heading, _texts(metric, values), values, key=metric.name)


def _spread_column(results: Sequence[MethodResult], metric: Metric) -> Column:
    """The spread with as many decimals as the metric has."""
    means, values = (
        [None if result.error else getattr(result, name)(metric.name) for result in results] for name in ("mean", "std")
    )
    texts = _texts(metric, values) if metric.form != ALIGNED else written(values, common_form(means))
    return Column("spread", [text if text == NONE else f"± {text}" for text in texts], values, key="spread")


def _texts(metric: Metric, values: Sequence[float | None]) -> list[str]:
    if metric.form == ALIGNED:
        return aligned(values)
    if metric.form == SECONDS:
        return [seconds(value) for value in values]
    if metric.form.endswith("%"):
        return [percent(value) for value in values]
    return [fixed(value, metric.form) for value in values]


def _description(result: MethodResult) -> str:
    if result.error is not None:
        return f"failed: {one_line(result.error)}"
    return result.method.title + (" (rival)" if result.method.is_rival and result.method.name not in IN_PYTHON else "")


def _checks(comparison: Comparison, uneven_words: str) -> list[Check]:
    training, seen = comparison.training, list(comparison.seen.values())
    done = [result for result in comparison.results if result.error is None]
    found: list[Check | None] = [
        checks.failures(comparison.results),
        checks.better_than_no_inputs(comparison.verdict, comparison.target_kind),
        checks.enough_rows(training),
        checks.leaking_columns(training),
        checks.repeated_rows(training),
        checks.even_folds(uneven_words),
        checks.early_stops(seen),
        checks.interpolation(seen),
        checks.warned_fits(comparison.results, seen),
        checks.reused_rows(comparison.results),
        _interval_check(comparison, done),
        checks.other_notes(training),
    ]
    return checks.warnings_first(found)


def _interval_check(comparison: Comparison, done: Sequence[MethodResult]) -> Check | None:
    best, has_counts = comparison.verdict.best or "", comparison.target_kind is TargetKind.COUNTS
    return checks.honest_intervals(coverages(done), len(comparison.training.y), best, may_be_wide=has_counts)


def coverages(done: Sequence[MethodResult]) -> dict[str, float]:
    """The share of left-out rows inside of 95 % intervals, as in the table, of methods that have intervals."""
    if done and done[0].method.task.target is TargetKind.CLASSES:
        return {}
    return {result.method.name: share for result in done if (share := result.mean("coverage")) is not None}
