"""What ``skarce compare`` and ``skarce fit`` share: the task, and the methods that suit a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

import click
import numpy as np

from skarce._text import quoted
from skarce.basis.default import AUTO, KERNELS
from skarce.cli.rendering import say
from skarce.comparison import TASKS, Task, UnknownMethodError, task_for
from skarce.datasets import TargetKind
from skarce.datasets.gaps import DROP, ERROR, FILL, WAYS, complete_rows, left_out, only_rows
from skarce.datasets.tables import Table, TableError
from skarce.datasets.training import TrainingData, training_data

Found = TypeVar("Found")

task_option = click.option(
    "--task",
    type=click.Choice(list(TASKS)),
    callback=lambda context, option, name: None if name is None else TASKS[name],
    help="Whether to predict numbers, classes or counts.  [default: numbers or classes, recognized from the target]",
)

basis_option = click.option(
    "--basis",
    type=click.Choice(KERNELS),
    default=AUTO,
    show_default=True,
    help="Kernels: auto learns the kernel function and its widths; rbf has one width by a quick rule.",
)


exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="COLUMN",
    help="A column that is not an input, or several, comma-separated. May be repeated.",
)


missing_option = click.option(
    "--missing",
    type=click.Choice(WAYS),
    default=ERROR,
    show_default=True,
    help="What to do about missing values: drop leaves out rows with some; fill puts the median of the training rows into numbers "
    "and '(missing)' into text. Both leave out rows without a target.",
)


def excluded_columns(table: Table, target: str, given: Sequence[str]) -> list[str]:
    """The columns to leave out: each text is the name of a column, or names separated by commas."""
    parts = [[text] if text in table.frame else [name.strip() for name in text.split(",")] for text in given]
    names = list(dict.fromkeys(chain.from_iterable(parts)))
    if target in names:
        raise TableError(f"the target {quoted(target)} cannot be excluded.")
    return names


def rows_to_use(table: Table, target: str, excluded: Sequence[str], missing: str) -> Table:
    """The rows whose values are known as far as they must be. A message says how many others were left out."""
    table.column(target)
    if missing == ERROR:
        return table
    names = table.without(excluded_columns(table, target, excluded)).frame.columns if missing == DROP else [target]
    rows = complete_rows(table, names)
    n_rows, what = len(table.frame), "values are missing" if missing == DROP else f"{quoted(target)} is missing"
    if not len(rows):
        remedy = " Use --missing fill, or leave out columns with many gaps by --exclude." if missing == DROP else ""
        raise TableError(f"no row of {table.name} is left: {what} in each of them.{remedy}")
    if len(rows) < n_rows:
        say(f"Note: {left_out(n_rows - len(rows), n_rows)}, because {what}.")
    return only_rows(table, rows)


def load_training(
    table: Table, target: str, asked: Task | None, excluded: Sequence[str] = (), missing: str = ERROR
) -> tuple[TrainingData, Task]:
    """The inputs and targets of a table, and the task that was asked for or else recognized from the target."""
    table.column(target)
    kept = table.without(excluded_columns(table, target, excluded))
    training = training_data(kept, target, None if asked is None else asked.target, has_gaps=missing == FILL)
    if asked is None and training.target_kind is TargetKind.CLASSES and np.issubdtype(training.y.dtype, np.integer):
        remedy = "if they are amounts, use --task regression or --task counts."
        training.notes.append(f"the numbers in {quoted(target)} were recognized as classes; {remedy}")
    return training, task_for(training.target_kind)


def find_for(target: str, task: Task, find: Callable[[Task], Found]) -> Found:
    """The methods that `find` gives for the task. An error also says how the target was recognized, as that may be the mistake."""
    try:
        return find(task)
    except UnknownMethodError as error:
        remark = f"The target {target!r} was recognized as {task.target.value}; if that is wrong, use --task."
        raise UnknownMethodError(f"{error} {remark}") from None


def print_notes(training: TrainingData) -> None:
    """Tell the user what may be unexpected in the data."""
    for note in [*training.notes, *training.leaks.values()]:
        say(f"Note: {note}")
