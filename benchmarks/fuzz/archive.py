"""Edits of a model file that keep it a proper archive: of its schema, of its arrays, of its parts."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SCHEMA = "schema.json"


def flipped(data: bytes, *places: int) -> bytes:
    """The bytes with one bit changed at each of these places, counted modulo the length."""
    changed = bytearray(data)
    for place in places:
        changed[place % len(changed)] ^= 1 << place % 8
    return bytes(changed)


def with_schema(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """The archive with its schema changed in place, or replaced by what `change` returns."""
    parts = _parts(data)
    schema = json.loads(parts[SCHEMA])
    replaced = change(schema)
    parts[SCHEMA] = json.dumps(schema if replaced is None else replaced).encode()
    return _archive(parts)


def with_value(data: bytes, number: int, value: Any) -> bytes:
    """The archive with the plain value of this number, counted modulo their number, replaced by another one."""
    return with_schema(data, lambda schema: _nth(schema, number, "JsonNode").update(content=json.dumps(value)))


def with_type(data: bytes, number: int, module: str, name: str, loader: str | None = None) -> bytes:
    """The archive with another type for the node of this number."""
    changes = {"__module__": module, "__class__": name, **({"__loader__": loader} if loader else {})}
    return with_schema(data, lambda schema: _nth(schema, number).update(changes))


def with_entry(data: bytes, number: int, key: int, value: Any) -> bytes:
    """The archive with one entry of a node replaced."""

    def change(schema: Any) -> None:
        node = _nth(schema, number)
        node[list(node)[key % len(node)]] = value

    return with_schema(data, change)


def without_entry(data: bytes, number: int, key: int) -> bytes:
    """The archive without one entry of a node."""

    def change(schema: Any) -> None:
        node = _nth(schema, number)
        del node[list(node)[key % len(node)]]

    return with_schema(data, change)


def without_attribute(data: bytes, number: int, key: int) -> bytes:
    """The archive without one entry of a dictionary, such as an attribute of an object, and without the type of its key."""

    def change(schema: Any) -> None:
        node = _nth(schema, number, "DictNode")
        place = key % max(len(node["content"]), 1)
        if node["content"]:
            del node["content"][list(node["content"])[place]]
            del node["key_types"]["content"][place]

    return with_schema(data, change)


def with_copy(data: bytes, source: int, target: int) -> bytes:
    """The archive with one node in the place of another."""

    def change(schema: Any) -> None:
        copied, place = json.loads(json.dumps(_nth(schema, source))), _nth(schema, target)
        place.clear()
        place.update(copied)

    return with_schema(data, change)


def with_array(data: bytes, number: int, change: Callable[[Any], Any]) -> bytes:
    """The archive with one of its arrays of numbers changed. Records and text cannot take every change."""
    parts = _parts(data)
    arrays = {name: np.load(io.BytesIO(part)) for name, part in parts.items() if name.endswith(".npy")}
    names = [name for name, array in arrays.items() if array.dtype.kind in "iuf"]
    name = names[number % len(names)]
    file = io.BytesIO()
    np.save(file, np.asarray(change(arrays[name])), allow_pickle=False)
    return _archive({**parts, name: file.getvalue()})


def with_part(data: bytes, number: int, content: bytes) -> bytes:
    """The archive with the content of one part replaced."""
    parts = _parts(data)
    return _archive({**parts, list(parts)[number % len(parts)]: content})


def with_flipped_part(data: bytes, number: int, *places: int) -> bytes:
    """The archive with bits of one part changed, and a checksum that fits."""
    parts = _parts(data)
    name = list(parts)[number % len(parts)]
    return _archive({**parts, name: flipped(parts[name], *places)})


def with_bomb(data: bytes, megabytes: int) -> bytes:
    """The archive with one more part, of zeros, that is small only while it is packed."""
    return _archive({**_parts(data), "bomb.npy": bytes(megabytes * 2**20)})


def deep(levels: int) -> bytes:
    """An archive with a schema that is nested too deeply for a recursive reader."""
    return _archive({SCHEMA: b'{"content": ' * levels + b"1" + b"}" * levels})


def _nodes(found: Any) -> Iterator[dict[str, Any]]:
    waiting = [found]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if "__loader__" in found:
                yield found
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)


def _nth(schema: Any, number: int, loader: str | None = None) -> dict[str, Any]:
    nodes = [node for node in _nodes(schema) if loader in (None, node["__loader__"])]
    return nodes[number % len(nodes)]


def _parts(data: bytes) -> dict[str, bytes]:
    """The parts in the order in which they were written. Their names are addresses: another order would change with them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()
