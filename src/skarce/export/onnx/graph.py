"""A graph of ONNX operators that is built step by step, without the package onnx."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

REALS: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}


INSIDE = "skarce/"  # how names of values begin that are neither inputs nor outputs


@dataclass(frozen=True)
class Node:
    """One operator: its kind, the names of its inputs and of its output, and its attributes."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


@dataclass
class Graph:
    """Operators in the order in which they run, and constants.

    Values are known by their names. `op` adds an operator and returns the name of its result.
    """

    dtype: np.dtype[Any]
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    _known: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def op(self, kind: str, *inputs: Any, **attributes: Any) -> str:
        """Add an operator. Inputs that are not names are constants, and numbers are in the precision of the graph."""
        names = tuple(one if isinstance(one, str) else self.constant(one) for one in inputs)
        output = f"{INSIDE}{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(Node(kind, names, output, attributes))
        return output

    def constant(self, value: Any) -> str:
        """Return the name of a constant. Equal constants are stored once."""
        array = np.asarray(value)
        array = array.astype(self.dtype) if array.dtype.kind == "f" else array
        key = (array.dtype.str, array.shape, array.tobytes() if array.dtype.kind != "O" else tuple(array.ravel()))
        if key not in self._known:
            self._known[key] = f"{INSIDE}constant_{len(self.constants)}"
            self.constants[self._known[key]] = array
        return self._known[key]

    def column_sum(self, value: str, *, kind: str = "ReduceSum", axis: int = 1, keepdims: bool = True) -> str:
        """Reduce over one axis."""
        return self.op(kind, value, np.array([axis], dtype=np.int64), keepdims=int(keepdims))

    def columns(self, value: str, places: Any, n_columns: int) -> str:
        """Return some columns. If these are all of them in order, nothing is added."""
        places = np.asarray(places, dtype=np.int64)
        if len(places) == n_columns and (places == np.arange(n_columns)).all():
            return value
        return self.op("Gather", value, places, axis=1)

    def side_by_side(self, values: list[str]) -> str:
        """Return columns of several values as one."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=1)

    def repeated(self, row: Any, value: str) -> str:
        """Return the same numbers in every row of `value`, which may be text."""
        first = self.op("Gather", value, np.array([0]), axis=1)
        return self.op("Where", self.op("Equal", first, first), row, row)

    def cast(self, value: str, dtype: Any) -> str:
        """Convert to another type."""
        return self.op("Cast", value, to=element_type(dtype))

    def as_real(self, value: str) -> str:
        """Convert to the precision of the graph."""
        return self.cast(value, self.dtype)


ELEMENT_TYPES = {  # numbers of the types of tensors, fixed by the format
    np.dtype(np.float32): 1,
    np.dtype(np.int64): 7,
    np.dtype(object): 8,
    np.dtype(np.bool_): 9,
    np.dtype(np.float64): 11,
}


def element_type(dtype: Any) -> int:
    """Return the number of a type of tensors."""
    return ELEMENT_TYPES[np.dtype(dtype)]
