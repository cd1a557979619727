"""Reports of commands: what they need beyond the results, and the files that they are written to."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from sklearn.pipeline import Pipeline

from skarce import __version__
from skarce._whole_file import check_output, replacing
from skarce.cli.comparison_table import uneven_note
from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.fit_remarks import fitted
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say
from skarce.cli.reporting_c import in_c_of, option_of_real
from skarce.comparison import Method, MethodResult, Observer, Task
from skarce.comparison.counting import InC
from skarce.comparison.uneven_folds import uneven_fold
from skarce.datasets.tables import Table, TableError
from skarce.datasets.training import TrainingData
from skarce.inspection.functions import kernel_names
from skarce.inspection.shuffling import SHUFFLED
from skarce.report.comparison_report import Comparison, ComparisonReport, comparison_report
from skarce.report.inputs import MOST_FAR, far_rows, inputs_that_matter
from skarce.report.model_view import ModelView
from skarce.report.provenance import command_line, fingerprint, versions_in_words

Report = TypeVar("Report")
REPORTING = "Writing the report"  # what is shown while it is done
ALSO_OF_FIT = ("exclude", "missing", "task", "basis", "widths")  # options of a comparison that a fit has too


ON_ROWS_OF_THE_FIT = (
    "The input at the top matters most to this model. Inputs were shuffled on the rows that it was fitted to, so on new rows they "
    "may matter less."
)


@dataclass(frozen=True)
class ReportFiles:
    """Where a report goes: to a page, to Markdown, to both or nowhere."""

    page: Path | None
    markdown: Path | None

    @property
    def is_asked_for(self) -> bool:
        """Whether there is anything to write."""
        return self.page is not None or self.markdown is not None

    def check(self, sources: Sequence[Path], *others: Path | None) -> None:
        """Refuse, before any work is done, files that cannot be written, and two outputs of one name."""
        named = [path for path in (self.page, self.markdown, *others) if path is not None]
        for place, path in enumerate(named):
            check_output(path, *sources)
            if any(path.resolve() == other.resolve() for other in named[:place]):
                raise click.UsageError(f"two outputs have the same name, {path}; give them different names.")

    def write(self, report: Report, page: Callable[[Report], str], markdown: Callable[[Report], str]) -> None:
        """Write the files."""
        forms = ((self.page, page), (self.markdown, markdown))
        texts = [(path, form(report)) for path, form in forms if path is not None]
        for path, text in texts:
            write_text(path, text, "Report")


def write_json(path: Path, content: dict[str, Any], what: str) -> None:
    """Write numbers for other programs."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n", what)


def write_text(path: Path, text: str, what: str) -> None:
    """Write a file completely or not at all, and say so."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="replace")
    say(f"{what} written to {path}")


def report_on(
    results: Sequence[MethodResult],
    observer: Observer,
    table: Table,
    training: TrainingData,
    tests: list[Any],
    settings: dict[str, Any],
    target: str,
) -> ComparisonReport:
    """The report on a comparison. Our method that the verdict recommends is fitted once more, to all rows."""
    comparison = Comparison(results, observer.seen, training, tests, settings["cv"])
    view = None
    if comparison.shown is not None:
        view = _view(comparison.shown.method, training, table, target)
    places = [table.place(int(row)) for row in view.far.rows[:MOST_FAR]] if view is not None and view.far is not None else []
    origin = {
        "command": given_command(click.get_current_context()),
        "data": f"{settings['data']}, SHA-256 of the table {fingerprint(table.frame)}",
        "seed": str(settings["seed"]),
        "versions": versions_in_words(),
    }
    return comparison_report(comparison, settings, target, view, places, uneven_words(results[0], training, table, tests), origin)


def uneven_words(best: MethodResult, training: TrainingData, table: Table, tests: list[Any]) -> str:
    """What to look at if the error of the best method on one fold is far above the others; nothing if it is not."""
    fold = uneven_fold(best, training.y, tests)
    return "" if fold is None else uneven_note(fold, best.method, training.y[fold.row], table.place(fold.row))


def _view(method: Method, training: TrainingData, table: Table, target: str) -> ModelView | None:
    """The model of a method, fitted to all rows. If that fails, the notes on the table say why."""
    preprocessing = training.preprocessing()
    prepared = preprocessing.fit_transform(training.X)
    try:
        model = fitted(method.name, lambda: method.fit(prepared, training.y))
    except TableError as error:
        training.notes.append(str(error))
        return None
    saved = SavedModel(Pipeline([*preprocessing.steps, ("model", model)]), target, training.kinds, __version__)
    about = {**facts(saved), "model": str(model)}
    matter = inputs_that_matter(saved.pipeline, training.X, training.y, training.target_kind)
    exported = in_c_of(saved)
    label = SHUFFLED[training.target_kind]
    return ModelView(
        name=method.name,
        facts=about,
        functions=active_functions(saved),
        kernel_names=kernel_names(model, table.place),
        steps=last_steps(saved),
        inputs=matter,
        inputs_label=label,
        inputs_words=ON_ROWS_OF_THE_FIT,
        far=far_rows(model, prepared),
        in_c=exported,
        commands=export_commands(click.get_current_context(), method.name, target, exported),
    )


def export_commands(context: click.Context, method: str, target: str, exported: InC) -> tuple[str, ...]:
    """The commands that fit a method to the same table, and write its model as C. None if the table is in no file."""
    data = context.params["data"]
    if data is None:
        return ()
    named = ["--target", target, *given_arguments(context, ALSO_OF_FIT), "--method", method]
    written = ["model.skops", str(data), "--out", "model.h", *option_of_real(exported)]
    return command_line(["fit", str(data), *named, "--out", "model.skops"]), command_line(["export", *written])


def given_command(context: click.Context) -> str:
    """The command line as it was given, with long names of options."""
    names = [parameter.name or "" for parameter in context.command.params]
    return command_line([context.command.name or "", *given_arguments(context, names)])


def given_arguments(context: click.Context, names: Collection[str]) -> list[str]:
    """The arguments of these names that were given, in the order of the help, with long names of options."""
    given = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in names or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        values = value if isinstance(value, tuple) else (value,)
        written = [each.name if isinstance(each, Task) else str(each) for each in values]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            given.append(parameter.opts[-1])
        elif isinstance(parameter, click.Option):
            given += [word for each in written for word in (parameter.opts[-1], each)]
        else:
            given += written
    return given
