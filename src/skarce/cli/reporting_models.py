"""The report on a stored model: its own view, and what rows of a table say about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from skarce._text import one_line, quoted
from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.missing_rows import way_for
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say
from skarce.cli.reporting import ON_ROWS_OF_THE_FIT, given_command
from skarce.cli.reporting_c import in_c_of, option_of_real
from skarce.comparison import Answers
from skarce.comparison.out_of_fold import answer
from skarce.datasets import TargetKind
from skarce.datasets.columns import NUMBER
from skarce.datasets.gaps import DROP, ERROR, FILL, complete_rows, left_out, only_rows
from skarce.datasets.leaks import leaks
from skarce.datasets.tables import Table, TableError, read_table, row_number
from skarce.datasets.training import READERS, TrainingData, check_columns, inputs
from skarce.inspection.functions import kernel_names
from skarce.inspection.shuffling import SHUFFLED
from skarce.likelihoods import Bernoulli, Gaussian, Likelihood, Poisson
from skarce.report.checks import are_of_the_fit
from skarce.report.inputs import MOST_FAR, FarRows, Input, far_rows, inputs_that_matter, widths_of_inputs
from skarce.report.model_report import GivenRows, ModelReport, model_report
from skarce.report.model_view import ModelView
from skarce.report.provenance import command_line, fingerprint, versions_in_words

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


def report_on_model(saved: SavedModel, data: Path | None, missing: str | None = None) -> ModelReport:
    """The report on a model; with data, also on its predictions of them. `missing` says what to do about missing values."""
    kind = KINDS[type(saved.regressor._likelihood())]
    context, origin = click.get_current_context(), {}
    given, far = None, None
    if data is not None:
        table = read_table(data, [name for name, of_name in saved.columns.items() if of_name != NUMBER])
        given, far = _given_rows(saved, table, kind, missing)
        origin["data"] = f"{table.name}, SHA-256 of the table {fingerprint(table.frame)}"
    provenance = {"command": given_command(context), **origin, "seed": seeds(saved), "versions": versions_in_words()}
    return model_report(_view(saved, given, far, kind), saved.target, kind, saved.regressor.outcome_, given, provenance)


def _given_rows(saved: SavedModel, table: Table, kind: TargetKind, missing: str | None) -> tuple[GivenRows, FarRows]:
    """The rows with what the model says about them, and those that are far from all others."""
    way = way_for(saved, missing)
    used = _rows_to_use(table, saved, way)
    X, y = inputs(used, saved.columns, has_gaps=way == FILL), targets(used, saved, kind)
    told = leaks(X, y, kind) if (y != y[0]).any() else {}
    prepared = saved.pipeline[:-1].transform(X)
    far = far_rows(saved.regressor, prepared)
    return (
        GivenRows(
            data=TrainingData(X, y, saved.columns, kind, has_gaps=way == FILL, leaks=told),
            answers=answers_of(saved, prepared, y, kind, table.name),
            places=[used.place(int(row)) for row in far.rows[:MOST_FAR]],
            n_centers=n_centers(saved, prepared),
        ),
        far,
    )


def n_centers(saved: SavedModel, prepared: Floats) -> int:
    """How many of the rows are centers of kernels of the model."""
    basis = saved.regressor.basis_
    if not isinstance(basis, KernelBasis) or basis.kernel_ == "precomputed":
        return 0
    centers = {row.tobytes() for row in np.ascontiguousarray(basis.centers_, dtype=np.float64) + 0.0}
    return sum(row.tobytes() in centers for row in np.ascontiguousarray(prepared, dtype=np.float64) + 0.0)


def seeds(saved: SavedModel) -> str:
    """The random seeds of the fit."""
    found = {name: value for name, value in saved.regressor.get_params().items() if name.endswith("random_state")}
    return ", ".join(f"{value} ({name})" for name, value in found.items() if value is not None) or "none was set"


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


def answers_of(saved: SavedModel, prepared: Floats, y: Any, kind: TargetKind, data: str) -> Answers:
    """What the model says about rows."""
    try:
        values = answer(saved.regressor, prepared, kind)
    except (ValueError, ArithmeticError) as error:
        raise TableError(f"{data} cannot be predicted: {one_line(error)}") from None
    classes = saved.regressor.classes_ if kind is TargetKind.CLASSES else None
    return Answers(type(saved.regressor).__name__, kind, np.arange(len(y)), y, values, classes)


def _view(saved: SavedModel, given: GivenRows | None, far: FarRows | None, kind: TargetKind) -> ModelView:
    matter, label, title, words = [], "", ModelView.inputs_title, ModelView.inputs_words
    if given is not None:
        matter, label = inputs_that_matter(saved.pipeline, given.data.X, given.data.y, kind), SHUFFLED[kind]
        if are_of_the_fit(given.n_centers, len(given.data.y)):
            words = ON_ROWS_OF_THE_FIT
    elif (widths := widths_of_inputs(saved.pipeline)) is not None:
        names = [name.partition("__")[2] for name in widths.names]
        matter = [Input(name, float(value)) for name, value in zip(names, widths.values, strict=True)]
        label, title, words = f"{widths.label}, on scaled inputs", WIDTHS_TITLE, WIDTHS_WORDS
    exported, path = in_c_of(saved), str(click.get_current_context().params["model"])
    return ModelView(
        name=type(saved.regressor).__name__,
        facts=facts(saved),
        functions=active_functions(saved),
        kernel_names=kernel_names(saved.regressor, row_number),
        steps=last_steps(saved),
        inputs=matter,
        inputs_label=label,
        inputs_title=title,
        inputs_words=words,
        far=far,
        in_c=exported,
        commands=(command_line(["export", path, "--out", "model.h", *option_of_real(exported)]),),
    )
