"""The steps from columns of numbers to the functions of a model, as ONNX operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export.columns import Columns, Lookup, Number
from skarce.export.onnx.graph import Graph
from skarce.export.stages import Chain, Kernels, Mixture, Products, SideBySide, Spline, Splines

FAR = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e15}  # kernels are zero there, and squares do not overflow
LARGEST_EXPONENT = {np.dtype(np.float64): 800.0, np.dtype(np.float32): 200.0}  # its exponential is zero


def add_chain(graph: Graph, chain: Chain, value: str) -> str:
    """Add all stages, and return the result of the last."""
    for stage in chain:
        value = add_stage(stage, graph, value)
    return value


@singledispatch
def add_stage(stage: Any, graph: Graph, value: str) -> str:
    """Add a stage that takes the columns `value`, and return its result."""
    raise TypeError(f"there are no operators for {type(stage).__name__}.")


# Columns of one input each ----------------------------------------------------------------------------------------------------


@add_stage.register
def _(stage: Columns, graph: Graph, value: str) -> str:
    """Numbers come first, then lookups; at last they are put in order."""
    numbers = {place: item for place, item in enumerate(stage.items) if isinstance(item, Number)}
    lookups = {place: item for place, item in enumerate(stage.items) if isinstance(item, Lookup)}
    found = [_numbers(graph, list(numbers.values()), value, stage.n_inputs)] if numbers else []
    found += [_lookups(graph, list(lookups.values()), value, stage.n_inputs)] if lookups else []
    return graph.columns(graph.side_by_side(found), np.argsort([*numbers, *lookups]), stage.n_outputs)


def _numbers(graph: Graph, items: list[Number], value: str, n_inputs: int) -> str:
    sources = graph.columns(value, [item.source for item in items], n_inputs)
    center, factor, lower, upper, missing = (
        np.array([getattr(item, name) for item in items]) for name in ("center", "factor", "lower", "upper", "missing")
    )
    result = sources
    if center.any():
        result = graph.op("Sub", result, center)
    if (factor != 1.0).any():
        result = graph.op("Mul", result, factor)
    is_bounded = np.isfinite(lower).any() or np.isfinite(upper).any()
    if is_bounded:
        result = graph.op("Min", graph.op("Max", result, lower), upper)
    return _with_missing(graph, sources, missing, result) if is_bounded or not np.isnan(missing).all() else result


def _lookups(graph: Graph, items: list[Lookup], value: str, n_inputs: int) -> str:
    """Compare with all keys at once. A matrix adds up what the keys that match change."""
    sources = graph.columns(value, [item.source for item in items], n_inputs)
    entries = [
        (place, item.source, key, result - item.otherwise)
        for place, item in enumerate(items)
        for key, result in zip(item.keys, item.results, strict=True)
        if result != item.otherwise
    ]
    otherwise, missing = (np.array([getattr(item, name) for item in items]) for name in ("otherwise", "missing"))
    changes = np.zeros((len(entries), len(items)))
    for entry, (place, _, _, change) in enumerate(entries):
        changes[entry, place] = change
    if entries:
        compared = graph.op("Gather", value, np.array([source for _, source, _, _ in entries], dtype=np.int64), axis=1)
        matches = graph.as_real(graph.op("Equal", compared, np.array([key for _, _, key, _ in entries], dtype=np.float64)))
        result = graph.op("Gemm", matches, changes, otherwise)
    else:
        result = graph.repeated(otherwise, value)
    return _with_missing(graph, sources, missing, result)


def _with_missing(graph: Graph, sources: str, missing: Floats, result: str) -> str:
    return graph.op("Where", graph.op("IsNaN", sources), missing, result)


# Kernels ------------------------------------------------------------------------------------------------------------------------


@add_stage.register
def _(stage: Kernels, graph: Graph, value: str) -> str:
    return KINDS[stage.kind](graph, stage, value)


def _negative_squares(graph: Graph, stage: Kernels, value: str) -> str:
    """Return -|u - v|^2: in double precision by one matrix product, in single precision by differences, which lose no digits."""
    origin = stage.centers.mean(axis=0)
    far = FAR[graph.dtype] / np.sqrt(max(stage.n_inputs, 1))
    rows = graph.op("Clip", graph.op("Sub", value, origin), -far, far)
    centers = stage.centers - origin
    if graph.dtype == np.float32:
        differences = graph.op("Sub", graph.op("Unsqueeze", rows, np.array([1])), centers)
        return graph.op("Neg", graph.column_sum(differences, kind="ReduceSumSquare", axis=2, keepdims=False))
    squares = graph.column_sum(rows, kind="ReduceSumSquare")
    products = graph.op("Gemm", rows, 2.0 * centers.T, -np.einsum("ij,ij->i", centers, centers))
    return graph.op("Min", graph.op("Sub", products, squares), 0.0)


def _rbf(graph: Graph, stage: Kernels, value: str) -> str:
    return graph.op("Exp", _negative_squares(graph, stage, value))


def _matern(graph: Graph, stage: Kernels, value: str) -> str:
    distance = graph.op("Sqrt", graph.op("Neg", _negative_squares(graph, stage, value)))
    distance = graph.op("Min", distance, LARGEST_EXPONENT[graph.dtype])
    polynomial = graph.op("Add", distance, 1.0)
    if stage.kind == "matern52":
        polynomial = graph.op("Add", polynomial, graph.op("Mul", graph.op("Mul", distance, distance), 1.0 / 3.0))
    return graph.op("Mul", polynomial, graph.op("Exp", graph.op("Neg", distance)))


def _laplacian(graph: Graph, stage: Kernels, value: str) -> str:
    far = FAR[graph.dtype]
    rows = graph.op("Unsqueeze", graph.op("Clip", value, -far, far), np.array([1]))
    distance = graph.column_sum(graph.op("Sub", rows, stage.centers), kind="ReduceL1", axis=2, keepdims=False)
    return graph.op("Exp", graph.op("Neg", distance))


def _product(graph: Graph, stage: Kernels, value: str) -> str:
    product = graph.op("MatMul", value, stage.centers.T)
    if stage.kind in ("polynomial", "sigmoid") and stage.coef0:
        product = graph.op("Add", product, stage.coef0)
    if stage.kind == "polynomial" and stage.degree != 1:
        return graph.op("Pow", product, stage.degree)
    return graph.op("Tanh", product) if stage.kind == "sigmoid" else product


def _cosine(graph: Graph, stage: Kernels, value: str) -> str:
    """Rows are brought near one first: their squares would overflow or underflow."""
    largest = graph.column_sum(graph.op("Abs", value), kind="ReduceMax")
    scaled = graph.op("Div", value, _or_one(graph, largest))
    lengths = graph.op("Sqrt", graph.column_sum(scaled, kind="ReduceSumSquare"))
    return graph.op("MatMul", graph.op("Div", scaled, _or_one(graph, lengths)), stage.centers.T)


def _or_one(graph: Graph, value: str) -> str:
    return graph.op("Where", graph.op("Greater", value, 0.0), value, 1.0)


KINDS: dict[str, Callable[[Graph, Kernels, str], str]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "matern32": _matern,
    "matern52": _matern,
    "polynomial": _product,
    "linear": _product,
    "sigmoid": _product,
    "cosine": _cosine,
}


# Polynomials, splines, sums -------------------------------------------------------------------------------------------------------


@add_stage.register
def _(stage: Products, graph: Graph, value: str) -> str:
    """Each degree of all inputs is one value. A product multiplies the columns of its factors."""
    powers = [graph.repeated(np.ones(stage.n_inputs), value)]
    for n in range(int(stage.largest.max(initial=0))):
        shifted = graph.op("Sub", value, stage.shift[:, n]) if stage.shift[:, n].any() else value
        following = graph.op("Mul", shifted, powers[n]) if n else shifted
        if n and stage.back[:, n].any():
            following = graph.op("Sub", following, graph.op("Mul", powers[n - 1], stage.back[:, n]))
        powers.append(graph.op("Mul", following, stage.gain[:, n]) if (stage.gain[:, n] != 1.0).any() else following)
    return _multiplied(graph, graph.side_by_side(powers), stage)


def _multiplied(graph: Graph, table: str, stage: Products) -> str:
    term, place = np.nonzero(stage.degrees)
    number = np.arange(len(term)) - np.searchsorted(term, term)  # of the factor in its term
    factors = np.zeros((number.max(initial=0) + 1, stage.n_outputs), dtype=np.int64)  # column 0 is the constant
    factors[number, term] = stage.degrees[term, place] * stage.n_inputs + place
    result = graph.op("Gather", table, factors[0], axis=1)
    for columns in factors[1:]:
        result = graph.op("Mul", result, graph.op("Gather", table, columns, axis=1))
    return result


@add_stage.register
def _(stage: Splines, graph: Graph, value: str) -> str:
    return graph.side_by_side([_spline(graph, part, value) for part in stage.parts])


def _spline(graph: Graph, part: Spline, value: str) -> str:
    x = graph.op("Gather", value, np.array([part.source]), axis=1)
    if part.period:
        turns = graph.op("Floor", graph.op("Div", graph.op("Sub", x, part.lower), part.period))
        x = graph.op("Sub", x, graph.op("Mul", turns, part.period))
    if np.isfinite([part.lower, part.upper]).any():
        x = graph.op("Min", graph.op("Max", x, part.lower), part.upper)
    piece = _piece(graph, part, x)
    z = graph.op("Sub", x, graph.op("Unsqueeze", graph.op("Gather", part.origins, piece, axis=0), np.array([1])))
    result = graph.op("Gather", part.coefficients[:, -1], piece, axis=0)
    for degree in range(part.coefficients.shape[1] - 2, -1, -1):
        constant = graph.op("Gather", part.coefficients[:, degree], piece, axis=0)
        result = graph.op("Add", graph.op("Mul", result, z), constant)
    return result


def _piece(graph: Graph, part: Spline, x: str) -> str:
    """Return the number of the piece of each row, shape (n_rows,)."""
    if not len(part.starts):
        never = graph.op("Less", x, -np.inf)
        return graph.op("Squeeze", graph.cast(never, np.int64), np.array([1]))
    begun = graph.cast(graph.op("GreaterOrEqual", x, part.starts), np.int64)
    return graph.column_sum(begun, keepdims=False)


@add_stage.register
def _(stage: Mixture, graph: Graph, value: str) -> str:
    return graph.op("Gemm", value, stage.matrix.T, stage.offset)


@add_stage.register
def _(stage: SideBySide, graph: Graph, value: str) -> str:
    return graph.side_by_side([add_chain(graph, part, value) for part in stage.parts])
