"""Methods by their names on the command line, where numbers and classes have methods of their own."""

from __future__ import annotations

from collections.abc import Mapping

import click

from skarce.comparison.classifiers import CLASSIFIERS
from skarce.comparison.registry import METHODS, Method, find_methods, find_own_method, own_names
from skarce.datasets.tables import CLASSIFICATION, REGRESSION

CALLED = {REGRESSION: "numbers", CLASSIFICATION: "classes"}


def methods_for(task: str) -> dict[str, Method]:
    """All methods of a task."""
    return CLASSIFIERS if task == CLASSIFICATION else METHODS


def find_of_any_task(names: list[str], task: str | None, *, own: bool = False) -> list[Method]:
    """The methods of these names, which may be for another task; `own` ones are no rivals.

    It needs no file to be read. The error lists the methods of the task where it was said, else those of each.
    """
    if task is None:
        choices = "; ".join(f"for {called}: {_listed(methods_for(each), own)}" for each, called in CALLED.items())
    else:
        choices = _listed(methods_for(task), own)
    known = {**METHODS, **CLASSIFIERS}
    return [find_own_method(name, known, choices) for name in names] if own else find_methods(names, known, choices)


def find_for_task(names: list[str], task: str, target: str, *, own: bool = False) -> list[Method]:
    """The methods of these names for this task, which the target was found to be, or an error that says which are for another."""
    known = methods_for(task)
    found = [method.name for method in find_of_any_task(names, task, own=own)]
    foreign = [name for name in found if name not in known]
    if foreign:
        raise click.UsageError(
            f"{'--method' if own else '--methods'} {','.join(foreign)} is not for {task}, for which {target!r} is taken. Choose "
            f"from {_listed(known, own)}, or say --task."
        )
    return [known[name] for name in found]


def _listed(known: Mapping[str, Method], own: bool) -> str:
    return ", ".join(own_names(known) if own else known)
