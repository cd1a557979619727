"""The inputs of an ONNX model: one array of numbers, or one input for each column of a table.

Text is compared with its categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skarce._text import quoted
from skarce._typing import Floats
from skarce.export.description import Described
from skarce.export.inputs import UNSEEN, Input, is_missing
from skarce.export.onnx.assembly import Port
from skarce.export.onnx.graph import Graph
from skarce.export.transformers import UNSEEN_TEXT, ExportError

ARRAY = "X"
MISSING_TEXT = ""  # stands for missing text, because ONNX has no other


def ports_of(described: Described, dtype: np.dtype[Any], taken: Sequence[str]) -> list[Port]:
    """Return the inputs. A column with the name of an output, in `taken`, gets underscores until its name is free.

    ONNX has no empty names, so a column without a name has that of its place, such as x2.
    """
    if _is_array(described):
        return [Port(ARRAY, dtype, len(described.inputs))]
    kinds = [dtype if one.categories is None else np.dtype(object) for one in described.inputs]
    names = [one.name for one in described.inputs]
    free = [_name(name, place, taken, names) for place, name in enumerate(names)]
    return [Port(name, kind, 1) for name, kind in zip(free, kinds, strict=True)]


def _name(name: str, place: int, taken: Sequence[str], names: Sequence[str]) -> str:
    if not name:
        return _free(f"x{place}", {*taken, *names})
    return _free(name, {*taken, *names}) if name in taken else name


def _free(name: str, known: set[str]) -> str:
    while name in known:
        name += "_"
    return name


def add_entry(graph: Graph, described: Described, ports: Sequence[Port]) -> str:
    """Return the columns that the first stage takes, as numbers."""
    if _is_array(described):
        return graph.columns(ARRAY, described.used, len(described.inputs))
    columns = [_coded(graph, described.inputs[place], ports[place].name) for place in described.used]
    return graph.side_by_side(columns)


def fed(ports: Sequence[Port], described: Described, rows: Floats) -> dict[str, NDArray[Any]]:
    """Return coded rows as the inputs of the model by their names."""
    if _is_array(described):
        return {ARRAY: rows.astype(ports[0].dtype)}
    columns = zip(ports, described.inputs, rows.T, strict=True)
    return {
        port.name: (codes.astype(port.dtype) if one.categories is None else _texts(one, codes))[:, None]
        for port, one, codes in columns
    }


def _texts(column: Input, codes: Floats) -> NDArray[Any]:
    """Return the text of each code."""
    texts = {code: text for text, code in _codes(column).items()}
    return np.array([texts.get(code, UNSEEN_TEXT) for code in codes.tolist()], dtype=object)


def _is_array(described: Described) -> bool:
    return not any(one.is_named or one.categories is not None for one in described.inputs)


def _coded(graph: Graph, column: Input, name: str) -> str:
    """Return a column of numbers as it is, or the codes of text."""
    if column.categories is None:
        return name
    codes = _codes(column)
    if not codes:
        return graph.op("Where", graph.op("Equal", name, name), UNSEEN, UNSEEN)
    matches = graph.as_real(graph.op("Equal", name, np.array(list(codes), dtype=object)))
    steps = np.array([[code - UNSEEN] for code in codes.values()])
    return graph.op("Gemm", matches, steps, np.array([UNSEEN]))


def _codes(column: Input) -> dict[str, float]:
    """Return the code of each text. The empty text stands for missing text, if the model knows such."""
    missing, texts = column.gaps.code, column.categories or ()
    categories = [(code, text) for code, text in enumerate(texts) if code != missing or isinstance(text, str)]
    others = [text for _, text in categories if not isinstance(text, str)]
    if any(is_missing(text) for text in others):
        raise ExportError(
            f"column {quoted(column.name)} has NaN and None as two categories, and in ONNX the empty string stands for both. Make "
            "them one of the two, and fit again."
        )
    if others:
        raise ExportError(
            f"column {quoted(column.name)} has categories that are no text, such as {quoted(others[0])}. Convert the column to "
            "text, or encode it as numbers, and fit again."
        )
    codes = {text: float(code) for code, text in categories}
    if missing is not None and MISSING_TEXT in codes and is_missing(texts[missing]):
        raise ExportError(
            f"column {quoted(column.name)} has the empty string and missing text as two categories, and in ONNX the empty string "
            "stands for missing text. Make them one of the two, and fit again."
        )
    return codes if missing is None else {MISSING_TEXT: float(missing), **codes}
