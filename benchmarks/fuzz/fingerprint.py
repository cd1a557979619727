"""A fingerprint of everything in a model, to tell whether a call that failed has changed it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

DEEPEST = 12  # levels of nesting that are looked at


def fingerprints(model: Any) -> dict[str, str]:
    """A fingerprint of every attribute."""
    return {name: _digest(value) for name, value in vars(model).items()}


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The attributes that differ, appeared or are gone."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(_plain(value, 0, set())).encode()).hexdigest()


def _plain(value: Any, depth: int, above: set[int]) -> Any:
    """The value as nested tuples of plain values. Arrays become hashes of their bytes."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if depth > DEEPEST or id(value) in above or isinstance(value, np.random.RandomState):  # a generator moves at each draw
        return type(value).__name__
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    inner = above | {id(value)}
    return type(value).__name__, *(_plain(part, depth + 1, inner) for part in _parts(value))


def _parts(value: Any) -> list[Any]:
    """What an object is made of."""
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        return list(value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in slots if hasattr(value, name)}}
    return [held] if held and not callable(value) and not isinstance(value, type) else []
