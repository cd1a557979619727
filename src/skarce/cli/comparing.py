"""``skarce compare``: which method fits this table best?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from skarce import __version__
from skarce.cli.comparison_table import comparison_table
from skarce.cli.methods import find_for_task, find_of_any_task, methods_for
from skarce.cli.rendering import messages, show
from skarce.cli.target_classes import check_class_sizes, check_labels
from skarce.cli.whole_file import check_output, replacing
from skarce.comparison.class_scores import class_score
from skarce.comparison.classifiers import CLASSIFIERS
from skarce.comparison.cross_validation import MethodResult, regression_score
from skarce.comparison.cross_validation import compare as cross_validate
from skarce.comparison.registry import METHODS, Method
from skarce.comparison.width_rules import WIDTH_RULES
from skarce.datasets.tables import (
    CLASSIFICATION,
    REGRESSION,
    TASKS,
    TableError,
    TrainingData,
    diabetes_table,
    make_preprocessing,
    read_table,
    recognised_task,
    training_data,
)

LONGEST = max(map(len, METHODS))
KNOWN, KNOWN_CLASSIFIERS = (
    "".join(f"  {method.name:<{LONGEST}} {method.title}\n" for method in known.values()) for known in (METHODS, CLASSIFIERS)
)
RULES = "".join(f"  {rule:<9} {meaning}\n" for rule, meaning in WIDTH_RULES.items())
HELP = f"""Cross-validate several methods on one table, all on the same folds.

DATA is a CSV (also .csv.gz) or Parquet file; without it the diabetes data of scikit-learn are used. Numbers are scaled and texts
one-hot encoded within each fold. The table shows the error (RMSE, mean and standard deviation over folds), R2, the number of
basis functions, median times to fit and to predict a fold, and the share of test targets inside the 95 % interval of their
prediction. A narrow terminal is shown fewer columns; --json has every number.

Where the target is text, truth values or at most ten different whole numbers, classifiers are compared, by accuracy, log loss and
Brier score; --task says otherwise.

\b
Methods for numbers:
{KNOWN}
\b
Methods for classes:
{KNOWN_CLASSIFIERS}
Kernel widths are chosen within each fold by the rule that --widths names, and the time for it counts. A method that cannot follow
the rule takes the nearest one it can, which the table notes: svr is cross-validated in place of learning, and gp always learns.

\b
{RULES}
\b
Examples:
  skarce compare
  skarce compare houses.csv --target price
  skarce compare houses.csv --target price --widths ard
  skarce compare flowers.csv --target species --methods frvm,svc
  skarce compare houses.csv --target price --methods frvm,svr --cv 10 --repeats 3 --json result.json
"""


@click.command(help=HELP, short_help="Find out which method fits a table best.")
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--target", help="The column to predict; needed with DATA.")
@click.option("--task", type=click.Choice(TASKS), help="Numbers or classes.  [default: as the target looks]")
@click.option("--methods", help="Names with commas between them.  [default: all that suit the number of rows]")
@click.option(
    "--widths", type=click.Choice(list(WIDTH_RULES)), help="How kernel widths are chosen.  [default: as each method has it]"
)
@click.option("--cv", type=click.IntRange(min=2), default=5, show_default=True, help="Number of folds.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="How often to split anew.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of the splits.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the numbers of every fold to this file.")
def compare(
    data: Path | None,
    target: str | None,
    task: str | None,
    methods: str | None,
    widths: str | None,
    cv: int,
    repeats: int,
    seed: int,
    json_path: Path | None,
) -> None:
    names = None if methods is None else methods.split(",")
    if names is not None:
        find_of_any_task(names, task)  # before the file is read
    if json_path is not None:
        check_output(json_path, *([data] if data else []))
    name, training = _load(data, target, cv, task)
    is_classification = training.task == CLASSIFICATION
    if names is None:
        suitable = _suitable(len(training.y), methods_for(training.task))
    else:
        suitable = find_for_task(names, training.task, target or "target")
    chosen = suitable if widths is None else [method.with_widths(widths) for method in suitable]
    splitter_class = RepeatedStratifiedKFold if is_classification else RepeatedKFold
    splitter = splitter_class(n_splits=cv, n_repeats=repeats, random_state=seed)
    score = class_score if is_classification else regression_score
    with _progress(len(chosen) * cv * repeats) as on_start:
        results = cross_validate(training.X, training.y, chosen, make_preprocessing(training.kinds), splitter, on_start, score)
    settings = _settings(name, training, task=training.task, widths=widths, cv=cv, repeats=repeats, seed=seed)
    show(*comparison_table(results, settings))
    if json_path is not None:
        _write_json(json_path, settings, results)
    if any(result.error for result in results):
        click.get_current_context().exit(1)


def _load(data: Path | None, target: str | None, cv: int, task: str | None) -> tuple[str, TrainingData]:
    if data is None:
        table, target = diabetes_table(), target or "target"
        messages().print(f"No file was given, so this is {table.name}.")
    else:
        table = read_table(data)
    if target is None:
        raise TableError(f"say with --target which column of {table.name} to predict: {', '.join(table.frame.columns)}.")
    task = task or recognised_task(table, target)
    training = training_data(table, target, at_least=cv if task == REGRESSION else 1, task=task)
    if task == CLASSIFICATION:
        check_labels(table, target, training)
        check_class_sizes(target, training, n_folds=cv)
    for note in training.notes:
        messages().print(f"Note: {note}")
    return table.name, training


def _suitable(n_rows: int, known: dict[str, Method]) -> list[Method]:
    """All methods but those that would take very long on so many rows; a message says which."""
    too_large = [m.name for m in known.values() if m.max_rows is not None and n_rows > m.max_rows]
    if too_large:
        messages().print(f"Note: {', '.join(too_large)} would take long on {n_rows} rows and are left out; name them to run them.")
    return [method for method in known.values() if method.name not in too_large]


def _settings(name: str, training: TrainingData, **options: int | str | None) -> dict[str, Any]:
    return {"data": name, "n_rows": len(training.y), "n_inputs": len(training.kinds), **options}


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Method], None]]:
    """A bar on standard error, where that is a terminal; the function it gives is called before each fit."""
    columns = (TextColumn("{task.description:<7}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=messages(), disable=not messages().is_terminal, transient=True) as progress:
        task = progress.add_task("", total=total)
        starts = iter(range(total))
        yield lambda method: progress.update(task, description=method.name, completed=next(starts))


def _write_json(path: Path, settings: dict[str, Any], results: list[MethodResult]) -> None:
    content = {"version": __version__, **settings, "methods": [result.as_dict() for result in results]}
    with replacing(path) as draft:
        draft.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    messages().print(f"Numbers of every fold: {path}")
