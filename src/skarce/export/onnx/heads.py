"""From the functions of a model to its predictions, as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce.export.description import CLASSES, COUNTS, MARGINS, Described
from skarce.export.heads import Head
from skarce.export.onnx.assembly import Port
from skarce.export.onnx.graph import Graph
from skarce.export.onnx.moderation import add_moderated_log_odds

MEAN, STD, LABEL, PROBABILITIES, OF_MARGINS = "mean", "std", "label", "probabilities", "margins"


def output_names(described: Described, *, std: bool) -> tuple[str, ...]:
    """Return the names of the outputs."""
    if described.target == CLASSES:
        return LABEL, PROBABILITIES
    if described.target == MARGINS:
        return LABEL, OF_MARGINS
    return (MEAN, STD) if std else (MEAN,)


def add_predictions(graph: Graph, described: Described, phi: str | None, first: str, *, std: bool) -> dict[Port, str]:
    """Return the outputs and their values.

    Parameters
    ----------
    graph : the graph that gets the operators
    described : the model
    phi : the functions of the model, or None if it has none
    first : any columns of numbers, one row for each row of the predictions
    std : whether the standard deviation is one of the outputs
    """
    means = [_mean(graph, head, phi, first, described.n_functions) for head in described.heads]
    mean = graph.side_by_side(means)
    if described.target == MARGINS:
        return _margins(graph, described, mean)
    if described.target == CLASSES and not described.is_moderated:
        return _classes(graph, described, mean)
    if described.target != CLASSES and not std:
        return _ports(graph, described, {MEAN: graph.op("Exp", mean) if described.target == COUNTS else mean})
    variance = graph.side_by_side([_variance(graph, head, phi, first, described.n_functions) for head in described.heads])
    if described.target == CLASSES:
        return _classes(graph, described, add_moderated_log_odds(graph, mean, graph.op("Sqrt", variance)))
    if described.target == COUNTS:
        mean = graph.op("Exp", mean)
        variance = graph.op("Add", mean, graph.op("Mul", graph.op("Mul", mean, mean), variance))
        variance = _times(graph, variance, described.temperature)
    return _ports(graph, described, {MEAN: mean, STD: graph.op("Sqrt", variance)})


def _times(graph: Graph, value: str, factor: float) -> str:
    """Return a product as value + (factor - 1) value: onnxruntime leaves out factors that differ from 1 by 1e-8."""
    return value if factor == 1.0 else graph.op("Add", value, graph.op("Mul", value, factor - 1.0))


def _ports(graph: Graph, described: Described, values: dict[str, str]) -> dict[Port, str]:
    """Return outputs in the shapes of `predict`."""
    if not described.is_one:
        return {Port(name, graph.dtype, len(described.heads)): value for name, value in values.items()}
    return {Port(name, graph.dtype, None): _flat(graph, value) for name, value in values.items()}


def _flat(graph: Graph, value: str) -> str:
    return graph.op("Squeeze", value, np.array([1]))


def _steps(graph: Graph, head: Head, phi: str, n_functions: int) -> str:
    """Return the functions of a head, less their means over the data: predictions keep more digits so."""
    own = graph.columns(phi, head.places, n_functions)
    return graph.op("Sub", own, head.center) if head.center.any() else own


def _mean(graph: Graph, head: Head, phi: str | None, first: str, n_functions: int) -> str:
    if phi is None or not len(head.places):
        return graph.repeated(np.array([head.level]), first)
    return graph.op("Gemm", _steps(graph, head, phi, n_functions), head.weights[:, None], np.array([head.level]))


def _variance(graph: Graph, head: Head, phi: str | None, first: str, n_functions: int) -> str:
    if phi is None or not len(head.root):
        return graph.repeated(np.array([head.base]), first)
    parts = graph.op("Gemm", _steps(graph, head, phi, n_functions), head.root.T, head.offset)
    return graph.op("Add", graph.column_sum(parts, kind="ReduceSumSquare"), head.base)


def _classes(graph: Graph, described: Described, log_odds: str) -> dict[Port, str]:
    if described.temperature != 1.0:
        assert described.class_log_odds is not None
        distance = graph.op("Sub", log_odds, described.class_log_odds)
        log_odds = graph.op("Add", _times(graph, distance, 1.0 / described.temperature), described.class_log_odds)
    if len(described.heads) == 1:
        largest = log_odds
        probabilities = graph.op("Sigmoid", graph.op("Mul", log_odds, np.array([-1.0, 1.0])))
    else:
        largest = _log_sigmoid(graph, log_odds)
        probabilities = graph.op("Softmax", largest, axis=1)
    return {**_label(graph, described, largest), Port(PROBABILITIES, graph.dtype, len(described.classes)): probabilities}


def _margins(graph: Graph, described: Described, margins: str) -> dict[Port, str]:
    """Return the class of the largest margin, and the margins in the shape of `decision_function`."""
    is_one = len(described.heads) == 1
    port = Port(OF_MARGINS, graph.dtype, None if is_one else len(described.heads))
    return {**_label(graph, described, margins), port: _flat(graph, margins) if is_one else margins}


def _label(graph: Graph, described: Described, values: str) -> dict[Port, str]:
    """Return the class of the largest value; of a single column, the second class if its value is positive."""
    if len(described.heads) == 1:
        number = _flat(graph, graph.cast(graph.op("Greater", values, 0.0), np.int64))
    else:
        number = graph.op("ArgMax", values, axis=1, keepdims=0)
    labels = _labels(described.classes)
    dtype = graph.dtype if labels.dtype.kind == "f" else labels.dtype
    return {Port(LABEL, dtype, None): graph.op("Gather", labels, number, axis=0)}


def _log_sigmoid(graph: Graph, log_odds: str) -> str:
    """Return min(f, 0) - log(1 + exp(-|f|)). onnxruntime has Softplus in single precision only."""
    decay = graph.op("Exp", graph.op("Neg", graph.op("Abs", log_odds)))
    return graph.op("Sub", graph.op("Min", log_odds, 0.0), graph.op("Log", graph.op("Add", decay, 1.0)))


def _labels(classes: tuple[Any, ...]) -> Any:
    """Return labels as an array of text, booleans, whole numbers or numbers."""
    if all(isinstance(label, str) for label in classes):
        return np.array(classes, dtype=object)
    labels = np.array(classes)
    return labels.astype(np.int64) if labels.dtype.kind in "iu" else labels
