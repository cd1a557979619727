"""``skarce fit``: a model that predicts one column from the others, saved to a file."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from sklearn.pipeline import Pipeline

from skarce import __version__
from skarce._whole_file import check_output
from skarce.cli.explanation import size_facts
from skarce.cli.exporting_gaps import pipeline_with_gaps
from skarce.cli.exporting_words import in_options_of_fit
from skarce.cli.fit_options import BUDGETED, FitOptions
from skarce.cli.fit_remarks import fitted
from skarce.cli.model_file import SavedModel, save
from skarce.cli.rendering import facts_table, say, show
from skarce.cli.streamed.choice import is_streamed, named_files
from skarce.cli.streamed.files import DataFiles
from skarce.cli.streamed.fit import StreamedFit
from skarce.cli.streamed.passes import FitByPasses
from skarce.cli.streamed.progress import working
from skarce.cli.streamed.state import StateFile, fingerprint, mentioned
from skarce.cli.streamed.summary import RecognizedClassesError
from skarce.cli.target_methods import (
    basis_option,
    exclude_option,
    excluded_columns,
    find_for,
    load_training,
    missing_option,
    print_notes,
    rows_to_use,
    task_option,
)
from skarce.cli.task_output import output_for
from skarce.comparison import CLASSIFICATION, REGRESSION, WIDTH_RULES, Method, Task, choices, find_own_method, own_names
from skarce.datasets.gaps import DROP
from skarce.datasets.tables import TableError, read_table
from skarce.datasets.training import TrainingData
from skarce.designs.parquet_files import DataFile
from skarce.export import ExportError, smaller_within
from skarce.export.to_c import KINDS
from skarce.report.outcome_words import command_line_words

HELP = """Fit a model to a table and save it.

DATA is a CSV (also .csv.gz) or Parquet file, or several files, folders or patterns. All columns except the target and those of
--exclude are inputs: numbers are scaled, text is one-hot encoded, and both steps are saved with the model. If the target is text,
booleans or at most ten different whole numbers, the model predicts classes; use --task to override this. The saved file holds only
data, so reading it cannot run code.

A model can be fitted to more rows than fit into memory. Data above the memory budget are streamed, in blocks. For numbers they are
read twice, and only sums are kept; with --state, a command that was stopped goes on where it was. For classes and counts they are
read several times.

\b
Examples:
  skarce fit houses.csv --target price
  skarce fit houses.csv --target price --exclude id,sold_on
  skarce fit houses.csv --target price --missing fill        gaps are filled in, also by `skarce predict`
  skarce fit houses.parquet --target price --method rvm --out houses.skops
  skarce fit many.csv --target y --centers 500 --max-time 60
  skarce fit data/*.parquet --target y --centers 500 --stream --state fit.state
  skarce fit flowers.csv --target species                    classes with probabilities
  skarce fit houses.csv --target price --basis rbf           quick: one width by a rule, nothing learned
  skarce fit houses.csv --target price --widths ard          one width per input, learned from up to 1000 rows
  skarce fit houses.csv --target price --widths cv           the best of nine, cross-validated: 46 fits
  skarce fit houses.csv --target price --method gps-be --n-basis 20
  skarce fit houses.csv --target price --max-bytes 4096      small enough for a microcontroller
"""


@click.command(help=HELP, short_help="Fit a model to a table and save it.")
@click.argument("data", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--target", required=True, help="The column to predict.")
@exclude_option
@missing_option
@task_option
@click.option("--method", default="frvm", show_default=True, help=f"One of {choices(own_names)}.")
@click.option("--out", type=click.Path(path_type=Path), default="model.skops", show_default=True, help="Where to save the model.")
@basis_option
@click.option(
    "--gamma",
    type=click.FloatRange(min=0, min_open=True),
    help="Width of rbf kernels, as in exp(-gamma |x-c|^2).  [default: learned; by a rule with --basis rbf]",
)
@click.option("--widths", type=click.Choice(list(WIDTH_RULES)), help="How to choose the kernel width, instead of --gamma.")
@click.option(
    "--centers", type=click.IntRange(min=1), help="Number of kernel centers.  [default: all rows, or landmarks of many rows]"
)
@click.option("--n-basis", type=click.IntRange(min=1), help=f"Keep exactly this many functions; only for {BUDGETED}.")
@click.option(
    "--max-time",
    type=click.FloatRange(min=0, min_open=True),
    help="Time limit in seconds for all fits together; then the best model so far is saved.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="Keep the best model whose tables in C take at most this many bytes, with the std. Only tables are counted: "
    "the code takes 1 to 6 KB more, 5 to 12 in double.",
)
@click.option("--real", type=click.Choice(list(KINDS)), help="The type of numbers for --max-bytes.  [default: float]")
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Whether to read the data in blocks, or as one table.  [default: in blocks if they are larger than the memory budget]",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    help="Keep the sums of streamed data in this file, so that the same command can go on. It is deleted after success.",
)
def fit(data: tuple[Path, ...], out: Path, stream: bool | None, state: Path | None, **given: Any) -> None:
    with mentioned(state):
        _fit(data, FitOptions(**given), out, stream, state)


def _fit(data: tuple[Path, ...], options: FitOptions, out: Path, stream: bool | None, state: Path | None) -> None:
    options.check()
    files = named_files(data, stream)
    check_output(out, *(data if files is None else [file.path for file in files]))
    if files is not None and is_streamed(files, stream):
        _fit_streamed(DataFiles.of(files), options, out, state)
    elif state is not None:
        raise click.UsageError(
            "--state is for data that are streamed, and these are read as one table; use --stream, or no --state."
        )
    else:
        _fit_in_memory(data, files, options, out)


def _fit_in_memory(data: tuple[Path, ...], files: tuple[DataFile, ...] | None, options: FitOptions, out: Path) -> None:
    several = None if len(data) == 1 and os.path.isfile(data[0]) else files
    table = read_table(data[0]) if several is None else _with_columns_of(DataFiles.of(several), options).whole()
    excluded = options.exclude if several is None else ()
    table = rows_to_use(table, options.target, excluded, options.missing)
    training, task = load_training(table, options.target, options.task, excluded, options.missing)
    chosen = find_for(options.target, task, partial(find_own_method, options.method))
    options.check_for(chosen)
    print_notes(training)
    with working(f"Fitting {chosen.name} to {len(training.y)} rows"):
        pipeline = _fitted(options.applied_to(chosen), training, options.parameters)
        model = SavedModel(pipeline, options.target, training.kinds, __version__)
        model, costs = _within(model, training, options.max_bytes, options.real or "float")
    save(model, out)
    _show(model, model.pipeline.score(training.X, training.y), {**costs, "written to": str(out)})


def _fit_streamed(data: DataFiles, options: FitOptions, out: Path, state: Path | None) -> None:
    options.check_streamed()
    task = options.task
    if task is None or task is REGRESSION:
        try:
            return _fit_sums(_with_columns_of(data, options), options, out, state)
        except RecognizedClassesError as found:
            _refuse_state(state, f"{found}, but ")
            say(f"Note: {found}; if that is wrong, use --task.")
            task = CLASSIFICATION
    _refuse_state(state)
    _fit_passes(_with_columns_of(data, options), options, task, out)


def _refuse_state(state: Path | None, found: str = "") -> None:
    if state is not None:
        reason = "--state is for models of numbers: those of classes and counts read the rows again and again, and have no sums"
        raise TableError(f"{found}{reason}; leave --state out, or use --task regression if the target holds amounts.")


def _fit_sums(data: DataFiles, options: FitOptions, out: Path, state: Path | None) -> None:
    """Numbers: one pass for a summary, one for sums."""
    method = find_own_method(options.method, REGRESSION)
    options.check_for(method)
    if state is not None:
        _check_state(state, out, data)
    file = StateFile(state, fingerprint(data, options.as_dict()))
    kind = None if options.task is None else options.task.target
    model, score = StreamedFit(data, options.target, options.applied_to(method), options.parameters, kind).run(file)
    save(model, out)
    file.remove()
    _show(model, score, {"rows": f"{model.regressor.n_effective_:,.0f}, streamed", "written to": str(out)})


def _fit_passes(data: DataFiles, options: FitOptions, task: Task, out: Path) -> None:
    """Classes and counts: as many passes as the search needs."""
    method = find_for(options.target, task, partial(find_own_method, options.method))
    options.check_for(method)
    model, score, n_rows = FitByPasses(data, options.target, options.applied_to(method), options.parameters, task.target).run()
    save(model, out)
    _show(model, score, {"rows": f"{n_rows:,}, streamed", "written to": str(out)})


def _with_columns_of(data: DataFiles, options: FitOptions) -> DataFiles:
    """The files with the columns of inputs and target, which all of them must have."""
    table = data.empty_table()
    table.column(options.target)
    kept = table.without(excluded_columns(table, options.target, options.exclude))
    return replace(data.with_columns(list(kept.frame.columns)), drops_gaps=options.missing == DROP)


def _check_state(state: Path, out: Path, data: DataFiles) -> None:
    check_output(state, *data.paths)
    if state.resolve() == out.resolve():
        raise click.UsageError(f"--state and --out are both {out}; give them different names.")


def _fitted(method: Method, training: TrainingData, parameters: dict[str, Any]) -> Pipeline:
    preprocessing = training.preprocessing()
    model = fitted(method.name, lambda: method.fit(preprocessing.fit_transform(training.X), training.y, **parameters))
    return Pipeline([*preprocessing.steps, ("model", model)])


def _within(model: SavedModel, training: TrainingData, max_bytes: int | None, real: str) -> tuple[SavedModel, dict[str, str]]:
    """Return a model whose tables in C are small enough, and what that costs. The tables are those that an export writes."""
    if max_bytes is None:
        return model, {}
    try:
        found = smaller_within(pipeline_with_gaps(model), training.X, training.y, max_bytes=max_bytes, real=real)
    except ExportError as error:
        raise TableError(in_options_of_fit(error)) from None
    pipeline = Pipeline([*model.pipeline.steps[:-1], ("model", found.model[-1])])
    return replace(model, pipeline=pipeline), {"C tables": in_options_of_fit(found)}


def _show(model: SavedModel, score: float, more: dict[str, str]) -> None:
    facts = {
        "outcome": command_line_words(model.regressor.outcome_.value),
        **size_facts(model),
        **output_for(model).quality(model, score),
    }
    show(facts_table({**facts, **more}))
