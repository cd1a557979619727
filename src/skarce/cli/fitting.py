"""``skarce fit``: a model that predicts one column from the others, saved to a file."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from skarce import __version__
from skarce.basis.default import AUTO
from skarce.cli.explanation import size_facts
from skarce.cli.model_file import SavedModel, save
from skarce.cli.rendering import facts_table, say, show, working
from skarce.cli.target_methods import basis_option, exclude_option, find_for, load_training, print_notes, task_option
from skarce.cli.task_output import output_for
from skarce.cli.whole_file import check_output
from skarce.comparison import METHODS, WIDTH_RULES, Method, Task, choices, find_own_method, own_names
from skarce.datasets.tables import TableError, read_table
from skarce.datasets.training import TrainingData, make_preprocessing

BUDGETED = choices(lambda task: [name for name in own_names(task) if METHODS[task][name].takes_budget])
HELP = """Fit a model to a table and save it.

DATA is a CSV (also .csv.gz) or Parquet file. All columns except the target and those of --exclude are inputs: numbers are scaled,
text is one-hot encoded, and both steps are saved with the model. If the target is text, booleans or at most ten different whole
numbers, the model predicts classes; use --task to override this. The saved file holds only data, so reading it cannot run code.

\b
Examples:
  skarce fit houses.csv --target price
  skarce fit houses.csv --target price --exclude id,sold_on
  skarce fit houses.parquet --target price --method rvm --out houses.skops
  skarce fit many.csv --target y --centers 500 --max-time 60
  skarce fit flowers.csv --target species                    classes with probabilities
  skarce fit houses.csv --target price --basis rbf           quick: one width by a rule, nothing learned
  skarce fit houses.csv --target price --widths ard          one width per input, learned from up to 1000 rows
  skarce fit houses.csv --target price --widths cv           the best of nine, cross-validated: 46 fits
  skarce fit houses.csv --target price --method gps-be --n-basis 20
"""


@click.command(help=HELP, short_help="Fit a model to a table and save it.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column to predict.")
@exclude_option
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
def fit(
    data: Path,
    target: str,
    exclude: tuple[str, ...],
    task: Task | None,
    method: str,
    out: Path,
    basis: str,
    gamma: float | None,
    widths: str | None,
    centers: int | None,
    n_basis: int | None,
    max_time: float | None,
) -> None:
    if gamma is not None and widths is not None:
        raise click.UsageError(f"--gamma {gamma:g} and --widths {widths} both set the kernel width; use one of them.")
    find_own_method(method, task)  # a wrong name is reported before the file is read
    check_output(out, data)
    training, task = load_training(read_table(data), target, task, exclude)
    chosen = find_for(target, task, partial(find_own_method, method))
    _check_options(chosen, basis=basis, gamma=gamma, widths=widths, centers=centers, n_basis=n_basis)
    print_notes(training)
    options = {"basis__gamma": gamma, "basis__centers": centers, "n_basis": n_basis, "max_time": max_time}
    given = {name: value for name, value in options.items() if value is not None}
    with working(f"Fitting {chosen.name} to {len(training.y)} rows"):
        chosen = chosen.with_basis(basis)
        pipeline = _fitted(chosen if widths is None else chosen.with_widths(widths), training, given)
    model = SavedModel(pipeline, target, training.kinds, __version__)
    save(model, out)
    show(facts_table({**_facts(model, training), "written to": str(out)}))


def _check_options(
    method: Method, *, basis: str, gamma: float | None, widths: str | None, centers: int | None, n_basis: int | None
) -> None:
    """Refuse options that the method cannot use."""
    if basis != AUTO and not method.has_basis:
        reason = "always has the same kernels" if method.has_kernels else "has no kernels"
        raise click.UsageError(f"--basis {basis} is not for --method {method.name}, which {reason}.")
    if widths is not None and not method.widths.rules:
        reason = "always chooses its kernel widths in the same way" if method.has_kernels else "has no kernels"
        raise click.UsageError(f"--widths {widths} is not for --method {method.name}, which {reason}.")
    for option, value in (("--gamma", gamma), ("--centers", centers)):
        if value is not None and not method.has_kernels:
            raise click.UsageError(f"{option} {value:g} is not for --method {method.name}, which has no kernels.")
    if n_basis is not None and not method.takes_budget:
        reason = "finds the number of functions itself"
        raise click.UsageError(f"--n-basis {n_basis} is not for --method {method.name}, which {reason}; use it with {BUDGETED}.")


def _fitted(method: Method, training: TrainingData, options: dict[str, Any]) -> Pipeline:
    """The fitted pipeline. A warning that only repeats the outcome of the fit is not printed, because the outcome is."""
    preprocessing = make_preprocessing(training.kinds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            model = method.fit(preprocessing.fit_transform(training.X), training.y, **options)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise TableError(f"{method.name} cannot be fitted to this table: {' '.join(str(error).split())}") from None
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if message != model.outcome_.value:
            say(f"Note: {message}")
    return Pipeline([("preprocessing", preprocessing), ("model", model)])


def _facts(model: SavedModel, training: TrainingData) -> dict[str, Any]:
    score = model.pipeline.score(training.X, training.y)
    return {"outcome": model.regressor.outcome_.value, **size_facts(model), **output_for(model).quality(model, score)}
