"""What ``skarce compare`` prints: a table that drops columns before it shortens a number, and notes below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from string import ascii_lowercase
from typing import Any

from rich.table import Table

from skarce._text import one_line
from skarce.cli.rendering import MOST_FIXED, fits, plus_minus, titled_table
from skarce.comparison import ALIGNED, SECONDS, Method, MethodResult, Metric
from skarce.comparison.uneven_folds import UnevenFold
from skarce.report.outcome_words import words_of_folds

FIRST_TO_GO = ("predict", "coverage", "fit", "functions", "Brier")  # columns that a narrow terminal does not show
NO_NUMBER = "-"


def comparison_table(results: Sequence[MethodResult], settings: dict[str, Any]) -> list[Table | str]:
    """One row per method, in the given order (the first is the best), and a line for each note that rows refer to."""
    notes = [_notes(result, settings["widths"]) for result in results]
    marks = _marks(notes)
    names = [_marked(result.method.name, [marks[note] for note in own]) for result, own in zip(results, notes, strict=True)]
    lines = [f"({mark}) {_with_methods(note, results, notes)}" for note, mark in marks.items()]
    return [_widest_that_fits(results, names, _title(settings)), *lines]


def uneven_note(fold: UnevenFold, method: Method, value: float, place: str) -> str:
    """What to look at if the error of one fold is far above that of the others: the value of its farthest target, and its place."""
    return (
        f"Note: fold {fold.place + 1} of {fold.n_folds} has an error (RMSE) {fold.factor:.2g} times the median of the other folds "
        f"({method.name}). Look for outliers in the target; the farthest one in this fold is {value:g} in {place}."
    )


def _widest_that_fits(results: Sequence[MethodResult], names: Sequence[str], title: str) -> Table:
    """All columns if there is room; else the first to go are dropped until the others fit."""
    metrics = results[0].method.task.metrics
    for n_gone in range(len(FIRST_TO_GO) + 1):
        shown = [metric for metric in metrics if metric.heading not in FIRST_TO_GO[:n_gone]]
        table = _with_columns(results, names, title, shown)
        if fits(table):
            break
    return table


def _with_columns(results: Sequence[MethodResult], names: Sequence[str], title: str, shown: Sequence[Metric]) -> Table:
    table = titled_table(title)
    table.collapse_padding = True
    table.caption = "; ".join(metric.legend for metric in shown if metric.legend) or None
    table.add_column("method", overflow="fold")
    for metric in shown:
        table.add_column(metric.heading, justify="right", overflow="fold")
    columns = [_column(results, metric, with_spread=place == 0) for place, metric in enumerate(shown)]
    for place, (name, *cells) in enumerate(zip(names, *columns, strict=True)):
        is_best = place == 0 and results[0].error is None
        table.add_row(name, *cells, style="bold green" if is_best else None)
    return table


def _title(settings: dict[str, Any]) -> str:
    title = "{data}: {n_rows} rows, {n_inputs} inputs, {cv} folds".format(**settings)
    title += f", {settings['repeats']} times" if settings["repeats"] > 1 else ""
    return f"{title}, kernel widths: {settings['widths']}" if settings["widths"] else title


def _column(results: Sequence[MethodResult], metric: Metric, *, with_spread: bool) -> list[str]:
    """The cells of one metric, one for each method."""
    means = [result.mean(metric.name) for result in results if result.error is None]
    form = _aligned(means) if metric.form == ALIGNED else metric.form
    return [_cell(result, metric.name, form, with_spread) for result in results]


def _cell(result: MethodResult, name: str, form: str, with_spread: bool) -> str:
    if result.error is not None:
        return NO_NUMBER
    if form == SECONDS:
        return _seconds(result.median(name))
    mean, std = (NO_NUMBER if value is None else f"{value:{form}}" for value in (result.mean(name), result.std(name)))
    return f"{mean} {plus_minus()} {std}" if with_spread else mean


@dataclass(frozen=True)
class _Note:
    """What to know about a method; those with the same note share one."""

    words: str
    is_warning: bool = False


def _notes(result: MethodResult, widths: str | None) -> list[_Note]:
    """What went wrong, and the rule for kernel widths if it is not the one that was asked for."""
    if result.error is not None:
        return [_Note(f"failed: {one_line(result.error)}")]
    rule = result.method.width_rule
    notes = [_Note(f"widths: {rule}")] if widths and result.method.has_kernels and rule != widths else []
    first = [_Note(one_line(words_of_folds(result.warnings[0])), is_warning=True)] if result.warnings else []
    return notes + first


def _marks(notes: Sequence[Sequence[_Note]]) -> dict[_Note, str]:
    """A letter for each note."""
    letters = chain(ascii_lowercase, map(str, count(1)))
    return {note: next(letters) for note in dict.fromkeys(chain.from_iterable(notes))}


def _marked(name: str, marks: Sequence[str]) -> str:
    return f"{name} ({', '.join(marks)})" if marks else name


def _with_methods(note: _Note, results: Sequence[MethodResult], notes: Sequence[Sequence[_Note]]) -> str:
    """The note; a warning has the methods that gave it, and how many warnings each gave."""
    if not note.is_warning:
        return note.words
    warned = [result for result, own in zip(results, notes, strict=True) if note in own]
    fewest, most = (end(len(result.warnings) for result in warned) for end in (min, max))
    counted = f"{most} warning{'' if most == 1 else 's'}" if fewest == most else f"{fewest} to {most} warnings"
    methods = f" each ({', '.join(result.method.name for result in warned)})" if len(warned) > 1 else ""
    return f"{counted}{methods}, the first: {note.words}"


def _seconds(value: float | None) -> str:
    if value is None:
        return NO_NUMBER
    return f"{value:.2f} s" if value >= 1.0 else f"{1000.0 * value:.2f} ms"


def _aligned(values: Sequence[float | None]) -> str:
    """The format with four significant digits for the smallest value, and the same decimals in all rows."""
    smallest = min((value for value in values if value), default=1.0)
    exponent = math.floor(math.log10(smallest))
    return f".{max(0, 3 - exponent)}f" if MOST_FIXED[0] <= exponent <= MOST_FIXED[1] else ".3e"
