"""Results as lined-up tables: on a terminal with colours and at its width, elsewhere plain."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skarce.comparison import MethodResult
from skarce.tables import CLASSIFICATION
from skarce.width_rules import NO_KERNEL

HEADINGS = ("RMSE", "R2", "functions", "fit", "predict", "coverage")
CLASS_HEADINGS = ("accuracy", "log loss", "Brier", "functions", "fit", "predict")
PLAIN_WIDTH = 100  # where there is no terminal to ask
MOST_INPUT_COLUMNS = 6  # centres with more inputs are written into one column
LONGEST_NOTE = 70
MOST_FIXED = (-4, 6)  # powers of ten between which numbers are written without an exponent


def show(*results: Table | str) -> None:
    """Print tables and lines to standard output; lines, and tables that are made of lines, are not broken."""
    for result in results:
        _console(stderr=False).print(result, soft_wrap=isinstance(result, str))


def messages() -> Console:
    """Standard error: progress and remarks."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


def comparison_table(results: list[MethodResult], settings: dict[str, Any]) -> Table:
    """One row per method, in the order given; the first is the best."""
    title = "{data}: {n_rows} rows, {n_inputs} inputs, {cv} folds".format(**settings)
    title += f", {settings['repeats']} times" if settings["repeats"] > 1 else ""
    widths = settings.get("widths")
    table = _table(f"{title}, kernel widths: {widths}" if widths else title)
    is_classes = settings.get("task") == CLASSIFICATION
    coverage = "; coverage: share of targets in the 95 % interval"
    table.caption = "times: median over folds" + ("" if is_classes else coverage)
    table.add_column("method", no_wrap=True, min_width=6)
    for heading in CLASS_HEADINGS if is_classes else HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    has_notes = any(_note(result, widths) for result in results)
    if has_notes:
        table.add_column("note", overflow="fold")
    row_of = _class_row if is_classes else _comparison_row
    spec = ".2%" if is_classes else _error_format([result.mean("rmse") for result in results if result.error is None])
    for place, result in enumerate(results):
        cells = row_of(result, spec) + [_note(result, widths)] * has_notes
        table.add_row(*cells, style="bold green" if place == 0 and result.error is None else None)
    return table


def _class_row(result: MethodResult, spec: str) -> list[str]:
    if result.error is not None:
        return [result.method.name, *["-"] * len(CLASS_HEADINGS)]
    return [
        result.method.name,
        f"{result.mean('accuracy'):{spec}} ± {result.std('accuracy'):{spec}}",
        _formatted(result.mean("log_loss"), ".4f"),
        _formatted(result.mean("brier"), ".4f"),
        _formatted(result.mean("n_functions"), ".1f"),
        _seconds(result.median("fit_seconds")),
        _seconds(result.median("predict_seconds")),
    ]


def _comparison_row(result: MethodResult, spec: str) -> list[str]:
    if result.error is not None:
        return [result.method.name, *["-"] * len(HEADINGS)]
    rmse, spread = result.mean("rmse"), result.std("rmse")
    return [
        result.method.name,
        f"{rmse:{spec}} ± {spread:{spec}}",
        _formatted(result.mean("r2"), ".3f"),
        _formatted(result.mean("n_functions"), ".1f"),
        _seconds(result.median("fit_seconds")),
        _seconds(result.median("predict_seconds")),
        _formatted(result.mean("coverage"), ".1%"),
    ]


def _note(result: MethodResult, widths: str | None) -> str:
    """What went wrong, and by which rule kernel widths were chosen where not by the one that was asked for."""
    if result.error is not None:
        short = " ".join(result.error.split())
        return "failed: " + (short if len(short) <= LONGEST_NOTE else short[:LONGEST_NOTE] + "...")
    rule = result.method.width_rule
    other = [f"widths: {rule}"] if widths and rule not in (widths, NO_KERNEL) else []
    return ", ".join(other + ([_count(result.warnings, "warning")] if result.warnings else []))


def warning_lines(results: list[MethodResult]) -> list[str]:
    """A footnote for every method that warned: how often, and the first warning."""
    warned = [result for result in results if result.warnings]
    return [f"{result.method.name}: {_count(result.warnings, 'warning')}, the first: {result.warnings[0]}" for result in warned]


def text_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Texts under headings, the first column to the left and the others to the right."""
    table = _table(title)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def facts_table(facts: dict[str, str]) -> Table:
    """Names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(Text(name, style="bold"), value)
    return table


def functions_table(functions: Any, inputs: list[str], n_hidden: int) -> Table:
    """The active functions; `n_hidden` says how many more there are."""
    if set(inputs) <= set(functions.columns) and len(inputs) > MOST_INPUT_COLUMNS:
        functions = _with_inputs_joined(functions, inputs)
    table = _frame_table("Active functions, most relevant first", functions)
    if n_hidden:
        table.caption = f"{n_hidden} more: --all shows them"
    return table


def steps_table(steps: Any) -> Table:
    """The last steps of the search."""
    return _frame_table("Last steps of the search", steps)


def _with_inputs_joined(functions: Any, inputs: list[str]) -> Any:
    """Many inputs as one column of ``name=value`` texts."""
    rows = functions[inputs].to_dict("records")
    rest = functions.drop(columns=inputs)
    rest.insert(1, "centre", [", ".join(f"{name}={_short(value)}" for name, value in row.items()) for row in rows])
    return rest


def _frame_table(title: str, frame: Any) -> Table:
    table = _table(title)
    columns = [frame[name].tolist() for name in frame.columns]
    for name, values in zip(frame.columns, columns, strict=True):
        table.add_column(name, justify="left" if any(isinstance(v, str) for v in values) else "right", overflow="fold")
    for cells in zip(*(_cells(values) for values in columns), strict=True):
        table.add_row(*cells)
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, title_style="bold")


def _count(things: list[str], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _formatted(value: float | None, spec: str) -> str:
    return "-" if value is None else f"{value:{spec}}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f} s" if value >= 1.0 else f"{1000.0 * value:.2f} ms"


def _error_format(errors: list[float | None]) -> str:
    """Four significant digits for the smallest error, and as many decimals in all rows, so that they line up."""
    smallest = min((error for error in errors if error), default=1.0)
    exponent = math.floor(math.log10(smallest))
    return f".{max(0, 3 - exponent)}f" if MOST_FIXED[0] <= exponent <= MOST_FIXED[1] else ".3e"


def _cells(values: list[Any]) -> list[str]:
    """A column as texts: numbers with the same decimals, six significant digits at most and none for show."""
    if not all(isinstance(value, float) for value in values):
        return [str(value) for value in values]
    largest = max((abs(value) for value in values), default=0.0) or 1.0
    exponent = math.floor(math.log10(largest))
    if not MOST_FIXED[0] <= exponent <= MOST_FIXED[1]:
        return [f"{value:.5e}" for value in values]
    most = max(0, 5 - exponent)
    decimals = next((n for n in range(most) if all(abs(round(v, n) - v) < 1e-6 * largest for v in values)), most)
    return [f"{value:.{decimals}f}" for value in values]
