"""What ``skarce compare`` prints: a table that gives up columns before it shortens a number, and notes below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, count
from string import ascii_lowercase
from typing import Any

from rich.table import Table

from skarce.cli.rendering import MOST_FIXED, fits, titled_table
from skarce.comparison.cross_validation import MethodResult
from skarce.comparison.width_rules import NO_KERNEL
from skarce.datasets.tables import CLASSIFICATION

NUMBERS = ("RMSE", "R2", "functions", "fit", "predict", "coverage")
OF_CLASSES = ("accuracy", "log loss", "Brier", "functions", "fit", "predict")
FIRST_TO_GO = ("predict", "coverage", "fit", "functions", "Brier")  # where the terminal is narrow
LEGEND = {"fit": "times: median over folds", "coverage": "coverage: share of targets in the 95 % interval"}


def comparison_table(results: Sequence[MethodResult], settings: dict[str, Any]) -> list[Table | str]:
    """One row per method, in the order given (the first is the best), and a line for each note that rows refer to."""
    notes = [_note(result, settings.get("widths")) for result in results]
    marks = _marks(notes)
    names = [result.method.name + (f" ({marks[note]})" if note else "") for result, note in zip(results, notes, strict=True)]
    return [_widest_that_fits(results, names, settings), *(f"({mark}) {note}" for note, mark in marks.items())]


def _widest_that_fits(results: Sequence[MethodResult], names: Sequence[str], settings: dict[str, Any]) -> Table:
    """All columns, or without as many of those that can go as it takes."""
    columns = OF_CLASSES if settings.get("task") == CLASSIFICATION else NUMBERS
    for n_gone in range(len(FIRST_TO_GO) + 1):
        shown = [name for name in columns if name not in FIRST_TO_GO[:n_gone]]
        table = _with_columns(results, names, settings, shown)
        if fits(table):
            break
    return table


def _with_columns(results: Sequence[MethodResult], names: Sequence[str], settings: dict[str, Any], shown: Sequence[str]) -> Table:
    table = titled_table(_title(settings))
    table.collapse_padding = True
    table.caption = "; ".join(meaning for name, meaning in LEGEND.items() if name in shown) or None
    table.add_column("method", overflow="fold")
    for heading in shown:
        table.add_column(heading, justify="right", overflow="fold")
    is_classes = settings.get("task") == CLASSIFICATION
    spec = _error_format([result.mean("error") for result in results if result.error is None])
    for place, (name, result) in enumerate(zip(names, results, strict=True)):
        cells = _class_numbers(result) if is_classes else _numbers(result, spec)
        is_best = place == 0 and result.error is None
        table.add_row(name, *(cells[heading] for heading in shown), style="bold green" if is_best else None)
    return table


def _title(settings: dict[str, Any]) -> str:
    title = "{data}: {n_rows} rows, {n_inputs} inputs, {cv} folds".format(**settings)
    title += f", {settings['repeats']} times" if settings["repeats"] > 1 else ""
    return f"{title}, kernel widths: {settings['widths']}" if settings.get("widths") else title


def _numbers(result: MethodResult, spec: str) -> dict[str, str]:
    if result.error is not None:
        return dict.fromkeys(NUMBERS, "-")
    return {
        "RMSE": f"{result.mean('rmse'):{spec}} ± {result.std('rmse'):{spec}}",
        "R2": _formatted(result.mean("r2"), ".3f"),
        "functions": _formatted(result.mean("n_functions"), ".1f"),
        "fit": _seconds(result.median("fit_seconds")),
        "predict": _seconds(result.median("predict_seconds")),
        "coverage": _formatted(result.mean("coverage"), ".1%"),
    }


def _class_numbers(result: MethodResult) -> dict[str, str]:
    if result.error is not None:
        return dict.fromkeys(OF_CLASSES, "-")
    return {
        "accuracy": f"{result.mean('accuracy'):.2%} ± {result.std('accuracy'):.2%}",
        "log loss": _formatted(result.mean("log_loss"), ".4f"),
        "Brier": _formatted(result.mean("brier"), ".4f"),
        "functions": _formatted(result.mean("n_functions"), ".1f"),
        "fit": _seconds(result.median("fit_seconds")),
        "predict": _seconds(result.median("predict_seconds")),
    }


def _note(result: MethodResult, widths: str | None) -> str:
    """What went wrong, and by which rule kernel widths were chosen where not by the one that was asked for."""
    if result.error is not None:
        return f"failed: {' '.join(result.error.split())}"
    rule = result.method.width_rule
    parts = [f"widths: {rule}"] if widths and rule not in (widths, NO_KERNEL) else []
    if result.warnings:
        n_warnings = len(result.warnings)
        parts.append(f"{n_warnings} warning{'' if n_warnings == 1 else 's'}, the first: {' '.join(result.warnings[0].split())}")
    return "; ".join(parts)


def _marks(notes: Sequence[str]) -> dict[str, str]:
    """A letter for each note; methods of which the same is to be said share one."""
    letters = chain(ascii_lowercase, map(str, count(1)))
    return {note: next(letters) for note in dict.fromkeys(notes) if note}


def _formatted(value: float | None, spec: str) -> str:
    return "-" if value is None else f"{value:{spec}}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f} s" if value >= 1.0 else f"{1000.0 * value:.2f} ms"


def _error_format(errors: Sequence[float | None]) -> str:
    """Four significant digits for the smallest error, and as many decimals in all rows, so that they line up."""
    smallest = min((error for error in errors if error), default=1.0)
    exponent = math.floor(math.log10(smallest))
    return f".{max(0, 3 - exponent)}f" if MOST_FIXED[0] <= exponent <= MOST_FIXED[1] else ".3e"
