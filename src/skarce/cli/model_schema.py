"""The description of a saved model, checked before anything is constructed: only known types, plain values and whole arrays."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skarce.cli.archive import MOST_BYTES, RefusedError, megabytes
from skarce.estimators.trusted_types import trusted_types

SCHEMA = "schema.json"
MOST_SCHEMA_BYTES = 32 * 2**20  # a description takes about ten times its size in memory
BYTES_PER_BRACKET = 10  # a description has far fewer brackets than this; an empty list takes 3 bytes of it, and 64 in memory
MOST_NODES_DEEP = 60  # models nest about twenty deep; skops recurses
LARGEST_INTEGER = 2**63
LAST_CHARACTER, FIRST_SURROGATE, LAST_SURROGATE = 0x10FFFF, 0xD800, 0xDFFF  # of Unicode; NumPy checks neither
ARRAY_KINDS = "biufU"  # booleans, numbers and text, also as fields of a structured array

# What `skarce fit` puts around a model, and the lists and numbers in all of them, by the kind of their node.
FOREIGN = {
    "DictNode": {"builtins.dict"},
    "ListNode": {"builtins.list"},
    "TupleNode": {"builtins.tuple"},
    "SliceNode": {"builtins.slice"},
    "JsonNode": {"builtins.str"},
    "DTypeNode": {"numpy.dtype"},  # of the numbers that a filling step has seen
    "TypeNode": {"builtins.str", "builtins.int", "builtins.float", "builtins.bool", "numpy.float64"},
    "NdArrayNode": {
        "numpy.ndarray",
        *(f"numpy.{name}" for name in ("float64", "float32", "int64", "int32", "intp", "bool_", "bool", "str_")),
    },
    "ObjectNode": {
        "sklearn.pipeline.Pipeline",
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.compose._column_transformer._RemainderColsList",  # scikit-learn 1.6 keeps it in a fitted ColumnTransformer
        "sklearn.impute._base.SimpleImputer",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
    },
}


def allowed_types() -> dict[str, frozenset[str]]:
    """The types that a saved model may hold, by the kind of node that describes them."""
    ours = {"ObjectNode": frozenset(trusted_types())}
    return {kind: frozenset(names) | ours.get(kind, frozenset()) for kind, names in FOREIGN.items()}


def checked_parts(parts: Mapping[str, bytes]) -> dict[str, bytes]:
    """The parts that a model needs, after every type, value and array in them was checked.

    Nodes lose their numbers, by which one node can stand for another: a few lines could otherwise describe an endless model.
    """
    if SCHEMA not in parts:
        raise RefusedError("is not a model written by skarce fit.")
    text = parts[SCHEMA]
    if len(text) > MOST_SCHEMA_BYTES:
        raise RefusedError(f"is refused, because its description has {megabytes(len(text))}.")
    if BYTES_PER_BRACKET * (text.count(b"[") + text.count(b"{")) > len(text):
        raise RefusedError("is damaged: its description has hardly anything but brackets.")
    schema = json.loads(text)
    audit = _Audit(parts)
    audit.check(schema)
    if audit.untrusted:
        names = ", ".join(sorted(audit.untrusted)[:3])
        raise RefusedError(f"is refused, because it holds {names}, which skarce does not trust.")
    return {SCHEMA: json.dumps(schema).encode(), **{name: parts[name] for name in audit.files}}


class _Audit:
    """A walk over all nodes that notes untrusted types and the arrays in use, and raises if a node is not in order."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self.untrusted: set[str] = set()
        self.files: set[str] = set()
        self._parts, self._allowed, self._n_bytes = parts, allowed_types(), 0

    def check(self, root: Any) -> None:
        waiting = [(root, 0)]
        while waiting:
            node, depth = waiting.pop()
            if depth > MOST_NODES_DEEP:
                raise RefusedError("is damaged: its description is nested too deeply.")
            waiting.extend((child, depth + 1) for child in self._children(node))

    def _children(self, node: Any) -> list[Any]:
        """Check one node, and give the nodes in it."""
        kind, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
        if name not in self._allowed.get(kind, ()):
            self.untrusted.add(_brief(name))
            return []
        node.pop("__id__", None)
        if kind == "DictNode":
            if len(node["key_types"]["content"]) != len(node["content"]):
                raise ValueError("a dictionary has keys without a type")
            return [node["key_types"], *node["content"].values()]
        if kind in ("ListNode", "TupleNode"):
            return list(node["content"])
        if kind in ("ObjectNode", "DTypeNode"):
            return [node["content"]]
        if kind == "JsonNode":
            _check_value(json.loads(node["content"]))
        elif kind == "SliceNode":
            for place in ("start", "stop", "step"):
                _check_place(node["content"][place])
        elif kind == "NdArrayNode":
            return self._array_children(node)
        return []

    def _array_children(self, node: Any) -> list[Any]:
        if node["type"] == "json":
            return [*node["content"], node["shape"]]
        file = node["file"]
        self._n_bytes += len(self._parts[file])  # counted each time, because each use is a copy
        if self._n_bytes > MOST_BYTES:
            raise RefusedError(f"is refused, because its arrays have more than {megabytes(MOST_BYTES)}.")
        if file not in self.files:
            _check_array(self._parts[file])
            self.files.add(file)
        return []


def _brief(name: str) -> str:
    """A name of a file that may hold anything, fit to be printed in one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)[:100]


def _check_value(value: Any) -> None:
    if isinstance(value, str):
        value.encode()  # a lone surrogate cannot be printed
    elif isinstance(value, int):
        if not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
            raise ValueError("a whole number has more than 64 bits")
    elif not (value is None or isinstance(value, float)):
        raise ValueError("a value is neither text nor a number")


def _check_place(place: Any) -> None:
    if not (place is None or (isinstance(place, int) and -LARGEST_INTEGER <= place < LARGEST_INTEGER)):
        raise ValueError("a slice has an end that is not a whole number")


def _check_array(content: bytes) -> None:
    """An array in NumPy's format, whose data are as long as its shape says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError("an array has an unknown format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    fields = [dtype[name] for name in dtype.names] if dtype.names else [dtype]
    if any(field.kind not in ARRAY_KINDS or field.itemsize == 0 or field.subdtype or not field.isnative for field in fields):
        raise ValueError("an array has an unknown type of numbers")
    if any(length < 0 for length in shape) or prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array is not as long as its shape says")
    if any(field.kind == "U" for field in fields):
        _check_texts(np.load(io.BytesIO(content), allow_pickle=False))


def _check_texts(array: NDArray[Any]) -> None:
    """Raise if a text holds what is not a character, such as a lone surrogate."""
    for column in [array[name] for name in array.dtype.names] if array.dtype.names else [array]:
        if column.dtype.kind == "U":
            codes = np.ascontiguousarray(column).ravel().view(np.uint32)
            if ((codes > LAST_CHARACTER) | ((codes >= FIRST_SURROGATE) & (codes <= LAST_SURROGATE))).any():
                raise ValueError("a text holds what is not a character")
