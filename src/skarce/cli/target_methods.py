"""What ``skarce compare`` and ``skarce fit`` share: the task, and the methods that suit a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click
import numpy as np

from skarce.basis.default import AUTO, KERNELS
from skarce.cli.rendering import say
from skarce.comparison import TASKS, Task, UnknownMethodError, task_for
from skarce.datasets import TargetKind
from skarce.datasets.tables import Table
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


def load_training(table: Table, target: str, asked: Task | None) -> tuple[TrainingData, Task]:
    """The inputs and targets of a table, and the task that was asked for or else recognized from the target."""
    training = training_data(table, target, None if asked is None else asked.target)
    if asked is None and training.target_kind is TargetKind.CLASSES and np.issubdtype(training.y.dtype, np.integer):
        training.notes.append(f"the numbers in {target!r} were recognized as classes; for counts, use --task counts.")
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
    for note in training.notes:
        say(f"Note: {note}")
