"""Names of a room that are imported when they are asked for, so that a program loads only what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy(room: str, homes: dict[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a room whose names are in these modules of it."""

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(f"{room}.{homes[name]}"), name)
        vars(sys.modules[room])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[room]), *homes})

    return get, names
