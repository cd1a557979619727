"""The functions of a model as a chart and a table: what both kinds of page show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from skarce._text import LONGEST_NAME, one_line
from skarce.report.charts import MOST_ROWS, NORMAL_95, inputs_chart, weights_chart
from skarce.report.markup import Markup, joined, tag
from skarce.report.model_view import ModelView
from skarce.report.numbers import aligned, apart, plural, rounded
from skarce.report.page import Column, charts, figure, table

MOST_LISTED = 200  # functions in a table
MOST_COLUMNS = 8  # inputs with columns of their own; more are written into one
MOST_JOINED = 20  # inputs in that one
ABOUT_WEIGHTS = ("weight", "std error", "curvature std", "lower", "upper", "p value", "relevance")
NOT_OF_THE_CENTER = ("candidate", "function", "for class", *ABOUT_WEIGHTS)


NUMBERED = (
    " Kernels are named by the row of the fit that is their center, or by the number of the center. Rows and lines are counted "
    "from 1, candidates from 0 as in Python. The table of functions has the centers."
)
ONE_BY_ONE = "A function whose interval holds zero may be one that the model can do without."
TOGETHER = (
    "Most intervals hold zero, because functions that resemble each other share the work: single weights are uncertain, and their "
    "sum is not. That is no reason to leave such functions out."
)
WITHOUT = "There are no intervals: the weights have no standard errors."
MOST = 0.5  # share of intervals that hold zero from which on functions share the work


def functions_part(model: ModelView) -> Markup:
    """Charts of weights and inputs, then the table of all functions."""
    if not len(model.functions):
        return tag("p", "The model has no functions: it predicts the same for all rows.")
    n_functions = len(model.functions)
    which = f"The {MOST_ROWS} most relevant of " if n_functions > MOST_ROWS else ""
    weights = figure(
        weights_chart("weights", _names(model.functions, model.kernel_names), *_weights(model.functions)),
        "Functions and their weights",
        f"{which}{plural(n_functions, 'function')}. {_words_on_intervals(model.functions)}"
        f"{NUMBERED if 'function' not in model.functions else ''}",
    )
    return joined(charts(weights, _inputs_figure(model)), _table(model))


def _inputs_figure(model: ModelView) -> Markup | None:
    if not model.inputs:
        return None
    more = f" The first {MOST_ROWS} of {len(model.inputs)}." if len(model.inputs) > MOST_ROWS else ""
    chart = inputs_chart("inputs", model.inputs, model.inputs_label, model.inputs_title)
    return figure(chart, model.inputs_title, f"{model.inputs_words}{more}")


def _names(functions: Any, kernels: Mapping[int, str]) -> list[str]:
    """Names of columns, or of kernels by their centers."""
    if "function" in functions:
        places = functions["function"]
    else:
        places = [kernels.get(int(number), f"kernel {number}") for number in functions["candidate"]]
    labels = functions["for class"] if "for class" in functions else [None] * len(functions)
    return [str(place) if label is None else f"{place} ({label})" for place, label in zip(places, labels, strict=True)]


def _words_on_intervals(functions: Any) -> str:
    if "std error" not in functions:
        return WITHOUT
    return TOGETHER if _share_with_zero(functions) > MOST else ONE_BY_ONE


def _share_with_zero(functions: Any) -> float:
    """The share of the functions whose interval holds zero."""
    weights, stds = _weights(functions)
    return float(np.mean(np.abs(weights) <= NORMAL_95 * np.nan_to_num(stds)))


def _weights(functions: Any) -> tuple[Any, Any]:
    stds = functions["std error"] if "std error" in functions else np.zeros(len(functions))
    return np.asarray(functions["weight"], np.float64), np.asarray(stds, np.float64)


def functions_columns(model: ModelView) -> list[Column]:
    """The most relevant functions, one row for each."""
    shown, centers = model.functions.head(MOST_LISTED), _centers(model)
    columns = [Column("function", _names(shown, model.kernel_names)), _column("candidate", shown["candidate"])]
    columns += [_column(name, shown[name]) for name in shown.columns if name in ABOUT_WEIGHTS]
    if len(centers) > MOST_COLUMNS:
        columns.append(Column("center", _joined_centers(shown[centers]), is_long=True))
    else:
        columns += [_column(name, shown[name]) for name in centers]
    return columns


def functions_caption(model: ModelView) -> str:
    """Which functions are listed, and in which order."""
    n_functions = len(model.functions)
    which = "All functions" if n_functions <= MOST_LISTED else f"The {MOST_LISTED} most relevant functions"
    units = "; centers are in the units of the data" if _centers(model) else ""
    return f"{which} of {model.name}, the most relevant first{units}"


def records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a data frame, ready for JSON: None for numbers that are not known."""
    plain = frame.astype(object)
    return plain.where(frame.notna(), None).to_dict("records")


def _centers(model: ModelView) -> list[str]:
    return [name for name in model.functions.columns if name not in NOT_OF_THE_CENTER]


def _table(model: ModelView) -> Markup:
    columns = functions_columns(model)
    listed = table("functions", columns, functions_caption(model), is_sortable=True)
    return tag("details", tag("summary", f"Table of {plural(len(columns[0].texts), 'function')}"), listed)


def _joined_centers(centers: Any) -> list[str]:
    """The first inputs of each center in one text."""
    columns = [_joined(name, centers[name]) for name in centers.columns[:MOST_JOINED]]
    more = f"; and {centers.shape[1] - MOST_JOINED} more inputs" if centers.shape[1] > MOST_JOINED else ""
    return ["; ".join(parts) + more for parts in zip(*columns, strict=True)]


def _joined(name: str, values: Any) -> list[str]:
    """The values of an input with its name, as short as they can be."""
    column = _column(name, values)
    texts = column.texts if column.values is None else [rounded(value) for value in column.values]
    return [f"{column.heading} {text}" for text in texts]


def steps_columns(steps: Any) -> list[Column]:
    """The columns of the last steps; the criterion has as many digits as its changes need."""
    columns = frame_columns(steps)
    return [replace(column, texts=apart(column.values or [])) if column.heading == "criterion" else column for column in columns]


def frame_columns(frame: Any) -> list[Column]:
    """The columns of a data frame, with numbers in a common form."""
    return [_column(name, frame[name]) for name in frame.columns]


def _column(name: str, values: Any) -> Column:
    if values.dtype.kind not in "fiu":
        return Column(str(name), [one_line(value, LONGEST_NAME) for value in values])
    numbers = [None if np.isnan(value) else float(value) for value in values]
    return Column(str(name), aligned(numbers, 4) if values.dtype.kind == "f" else [str(value) for value in values], numbers)
