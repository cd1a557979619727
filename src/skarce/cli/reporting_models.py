"""The report on a stored model: its own view, and what rows of a table say about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from skarce._text import one_line, quoted
from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.missing_rows import way_for
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say
from skarce.cli.reporting import given_command
from skarce.comparison import Answers
from skarce.comparison.counting import bytes_in_c
from skarce.comparison.out_of_fold import LOG_SCORES, answer
from skarce.datasets import TargetKind
from skarce.datasets.columns import NUMBER
from skarce.datasets.gaps import DROP, ERROR, FILL, complete_rows, left_out, only_rows
from skarce.datasets.tables import Table, TableError, read_table
from skarce.datasets.training import READERS, check_columns, inputs
from skarce.inspection.functions import kernel_names
from skarce.inspection.shuffling import SHUFFLED
from skarce.likelihoods import Bernoulli, Gaussian, Likelihood, Poisson
from skarce.report.calibration import curve_of
from skarce.report.inputs import Input, inputs_that_matter, widths_of_inputs
from skarce.report.model_page import ModelReport
from skarce.report.model_view import ModelView
from skarce.report.numbers import percent, rounded
from skarce.report.provenance import command_line, fingerprint, versions
from skarce.report.residuals import residuals_of

KINDS: dict[type[Likelihood], TargetKind] = {
    Gaussian: TargetKind.NUMBERS,
    Bernoulli: TargetKind.CLASSES,
    Poisson: TargetKind.COUNTS,
}


WIDTHS_TITLE = "How fast the model can change along each input"
WIDTHS_WORDS = (
    "A long bar is a short length of the kernel: predictions can bend quickly along this input. It does not say how large the "
    "effect of the input is, and an input with a large linear effect has a short bar. To see which inputs matter, give rows: "
    "skarce explain MODEL DATA --report."
)


class Rows(NamedTuple):
    """Rows of a table for a stored model."""

    X: Any
    y: Any


def report_on_model(saved: SavedModel, data: Path | None, missing: str | None = None) -> ModelReport:
    """The report on a model; with data, also on its predictions of them. `missing` says what to do about missing values."""
    kind = KINDS[type(saved.regressor._likelihood())]
    origin = {"command": given_command(click.get_current_context())}
    answers, rows = None, None
    if data is not None:
        table = read_table(data, [name for name, of_name in saved.columns.items() if of_name != NUMBER])
        way = way_for(saved, missing)
        used = _rows_to_use(table, saved, way)
        rows = Rows(inputs(used, saved.columns, has_gaps=way == FILL), targets(used, saved, kind))
        answers = answers_of(saved, rows, kind, data)
        origin["data"] = f"{table.name}, SHA-256 of the table {fingerprint(table.frame)}"
    origin["versions"] = ", ".join(f"{name} {number}" for name, number in versions().items())
    return ModelReport(
        model=_view(saved, rows, kind),
        target=saved.target,
        kind=kind,
        quality={} if answers is None else _quality(answers),
        curve=None if answers is None else curve_of(answers),
        residuals=None if answers is None else residuals_of(answers),
        provenance=origin,
    )


def _rows_to_use(table: Table, saved: SavedModel, way: str) -> Table:
    """The rows whose values are known as far as they must be. A message says how many others were left out."""
    check_columns(table, saved.columns)
    table.column(saved.target)
    if way == ERROR:
        return table
    rows = complete_rows(table, [*saved.columns, saved.target] if way == DROP else [saved.target])
    n_rows, what = len(table.frame), "values are missing" if way == DROP else f"{quoted(saved.target)} is missing"
    if not len(rows):
        raise TableError(f"no row of {table.name} is left: {what} in each of them.")
    if len(rows) < n_rows:
        say(f"Note: {left_out(n_rows - len(rows), n_rows)}, because {what}.")
    return only_rows(table, rows)


def targets(table: Table, saved: SavedModel, kind: TargetKind) -> Any:
    """The target of a table; classes must be those that the model knows."""
    y = READERS[kind](table, saved.target)
    unknown = np.setdiff1d(y, saved.regressor.classes_).tolist() if kind is TargetKind.CLASSES else []
    if unknown:
        first = quoted(unknown[0])
        raise TableError(f"{table.name} has classes that the model has not seen, such as {first}; drop their rows.")
    return y


def answers_of(saved: SavedModel, rows: Rows, kind: TargetKind, data: Path) -> Answers:
    """What the model says about rows."""
    try:
        values = answer(saved.regressor, saved.pipeline[:-1].transform(rows.X), kind)
    except (ValueError, ArithmeticError) as error:
        raise TableError(f"{data} cannot be predicted: {one_line(error)}") from None
    classes = saved.regressor.classes_ if kind is TargetKind.CLASSES else None
    return Answers(type(saved.regressor).__name__, kind, np.arange(len(rows.y)), rows.y, values, classes)


def _view(saved: SavedModel, rows: Rows | None, kind: TargetKind) -> ModelView:
    matter, label, title, words = [], "", ModelView.inputs_title, ModelView.inputs_words
    if rows is not None:
        matter, label = inputs_that_matter(saved.pipeline, rows.X, rows.y, kind), SHUFFLED[kind]
    elif (widths := widths_of_inputs(saved.pipeline)) is not None:
        names = [name.partition("__")[2] for name in widths.names]
        matter = [Input(name, float(value)) for name, value in zip(names, widths.values, strict=True)]
        label, title, words = f"{widths.label}, on scaled inputs", WIDTHS_TITLE, WIDTHS_WORDS
    return ModelView(
        name=type(saved.regressor).__name__,
        facts=facts(saved),
        functions=active_functions(saved),
        kernel_names=kernel_names(saved.regressor),
        steps=last_steps(saved),
        inputs=matter,
        inputs_label=label,
        inputs_title=title,
        inputs_words=words,
        c_bytes=bytes_in_c(saved.pipeline),
        commands=(command_line(["export", str(click.get_current_context().params["model"]), "--out", "model.h"]),),
    )


def _quality(answers: Answers) -> dict[str, str]:
    """The numbers of a comparison for these rows."""
    scores = LOG_SCORES[answers.kind](answers.values, answers.targets, answers.classes)
    found = {"rows": f"{len(answers.targets):,}"}
    if answers.kind is TargetKind.CLASSES:
        is_correct = answers.classes[answers.values.argmax(axis=1)] == answers.targets
        found["accuracy"] = percent(float(np.mean(is_correct)))
    else:
        found["RMSE"] = rounded(float(np.sqrt(np.mean((answers.targets - answers.values[:, 0]) ** 2))))
    return found if scores is None else {**found, "log score": f"{float(np.mean(scores)):.4f}, mean over the rows"}
