"""``skarce fit``: a model of one column by the others, saved to a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from skarce import __version__
from skarce.cli.explanation import kernel_width, penalty
from skarce.cli.methods import find_for_task, find_of_any_task
from skarce.cli.model_file import SavedModel, save
from skarce.cli.rendering import facts_table, messages, show
from skarce.cli.target_classes import check_labels
from skarce.cli.whole_file import check_output
from skarce.comparison.classifiers import CLASSIFIERS
from skarce.comparison.registry import METHODS, Method, own_names
from skarce.comparison.width_rules import NO_KERNEL, WIDTH_RULES
from skarce.datasets.tables import TASKS, TableError, TrainingData, make_preprocessing, read_table, training_data


def _learning_widths() -> list[str]:
    """Methods that do not take the kernel width from the scale of the inputs."""
    return [name for name in own_names() if METHODS[name].width_rule in ("evidence", "ard")]


def _budgeted() -> list[str]:
    """Methods that can be told how many functions to keep."""
    return [name for name in own_names() if "n_basis" in METHODS[name].make().get_params(deep=False)]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column to predict.")
@click.option("--task", type=click.Choice(TASKS), help="Numbers or classes.  [default: as the target looks]")
@click.option(
    "--method",
    default="frvm",
    show_default=True,
    help=f"One of {', '.join(own_names())}; for classes one of {', '.join(own_names(CLASSIFIERS))}.",
)
@click.option("--out", type=click.Path(path_type=Path), default="model.skops", show_default=True, help="Where to save the model.")
@click.option(
    "--gamma",
    type=click.FloatRange(min=0, min_open=True),
    help=f"Kernel width exp(-gamma |x-c|^2).  [default: scale; learned by {', '.join(_learning_widths())}]",
)
@click.option("--widths", type=click.Choice(list(WIDTH_RULES)), help="How to choose the kernel width, in place of --gamma.")
@click.option("--centers", type=click.IntRange(min=1), help="Landmarks as candidates, for many rows.  [default: all rows]")
@click.option(
    "--n-basis",
    type=click.IntRange(min=1),
    help=f"Exactly so many functions, where the method takes a budget: {', '.join(_budgeted())}.",
)
@click.option(
    "--max-time",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds for all fits together; then the best model so far is saved.",
)
def fit(
    data: Path,
    target: str,
    task: str | None,
    method: str,
    out: Path,
    gamma: float | None,
    widths: str | None,
    centers: int | None,
    n_basis: int | None,
    max_time: float | None,
) -> None:
    """Fit a model to a table and save it.

    DATA is a CSV (also .csv.gz) or Parquet file. All columns but the target are inputs: numbers are scaled, texts one-hot encoded,
    and both steps are saved with the model. A target of text, truth values or at most ten different whole numbers is taken for
    classes. The file holds data only; reading it cannot run code.

    \b
    Examples:
      skarce fit houses.csv --target price
      skarce fit houses.parquet --target price --method rvm --out houses.skops
      skarce fit many.csv --target y --centers 500 --max-time 60
      skarce fit flowers.csv --target species                    classes: probabilities in place of error bars
      skarce fit houses.csv --target price --widths ard          one width per input, learned
      skarce fit houses.csv --target price --widths cv           the best of nine by cross validation, 46 fits
      skarce fit houses.csv --target price --method gps-be --n-basis 20
    """
    if gamma is not None and widths is not None:
        raise click.UsageError(f"--gamma {gamma:g} and --widths {widths} both say what the kernel width is; give one of them.")
    find_of_any_task([method], task, own=True)  # before the file is read
    check_output(out, data)
    table = read_table(data)
    training = training_data(table, target, task=task)
    check_labels(table, target, training)
    (chosen,) = find_for_task([method], training.task, target, own=True)
    if widths is not None and chosen.widths is None:
        raise click.UsageError(
            f"--widths {widths} is not for --method {chosen.name}, whose kernel widths are part of its name or which has none."
        )
    for option, value in (("--gamma", gamma), ("--centers", centers)):
        if value is not None and chosen.width_rule == NO_KERNEL:
            raise click.UsageError(f"{option} {value:g} is not for --method {chosen.name}, which has no kernels.")
    if n_basis is not None and chosen.name not in _budgeted():
        raise click.UsageError(
            f"--n-basis {n_basis} is not for --method {chosen.name}, which finds the number of functions itself; for regression "
            f"there is a budget with {', '.join(_budgeted())}."
        )
    chosen = chosen if widths is None else chosen.with_widths(widths)
    for note in training.notes:
        messages().print(f"Note: {note}")
    options = {"basis__gamma": gamma, "basis__centers": centers, "n_basis": n_basis, "max_time": max_time}
    with messages().status(f"Fitting {chosen.name} to {len(training.y)} rows"):
        pipeline = _fitted(chosen, training, {name: value for name, value in options.items() if value is not None})
    model = SavedModel(pipeline, target, training.kinds, __version__)
    save(model, out)
    show(facts_table({**_facts(model, training), "written to": str(out)}))


def _fitted(method: Method, training: TrainingData, options: dict[str, Any]) -> Pipeline:
    """The fitted pipeline. What stopped a fit early is printed as its outcome, so that warning is not repeated."""
    preprocessing = make_preprocessing(training.kinds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            model = method.fit(preprocessing.fit_transform(training.X), training.y, **options)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise TableError(f"{method.name} cannot be fitted to this table: {' '.join(str(error).split())}") from None
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if message != model.outcome_.value:
            messages().print(f"Note: {message}")
    return Pipeline([("preprocessing", preprocessing), ("model", model)])


def _facts(model: SavedModel, training: TrainingData) -> dict[str, Any]:
    regressor, score = model.regressor, model.pipeline.score(training.X, training.y)
    common = {
        "outcome": regressor.outcome_.value,
        "functions": f"{len(regressor.active_)} of {len(regressor.relevance_)} candidates",
        **kernel_width(model),
        **penalty(model),
    }
    if is_classifier(regressor):
        classes = ", ".join(map(str, regressor.classes_))
        return {**common, "classes": classes, "accuracy": f"{score:.2%} on the rows it was fitted to"}
    return {
        **common,
        "noise": f"{np.sqrt(regressor.noise_variance_):.5g} (standard deviation)",
        "R2": f"{score:.4f} on the rows it was fitted to",
    }
