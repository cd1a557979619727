"""Whether a type tells categories apart that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._text import quoted
from skarce._typing import Floats
from skarce.export.c.fixed_point import fixed_point
from skarce.export.c.tables import REALS
from skarce.export.description import Described
from skarce.export.transformers import ExportError, ImpreciseError

BETTER = {"float": ("double", "q31"), "q15": ("q31", "float", "double"), "q31": ("float", "double")}


def check_levels(described: Described, rows: Floats, real: str, std: Any) -> None:
    """Raise if two categories of an input that the model uses are the same number in this type."""
    for place in described.used:
        one = described.inputs[place]
        if one.keys and not _are_apart(described, place, rows, real, std):
            others = [f'real="{other}"' for other in BETTER.get(real, ()) if _would_be_apart(described, place, rows, other, std)]
            raise ImpreciseError(
                f"{len(one.keys)} numbers are the categories of {quoted(one.name)}, and {real} cannot tell all of them apart",
                f"Use {' or '.join([*others, 'a column of text or of small numbers'])}.",
            )


def _are_apart(described: Described, place: int, rows: Floats, real: str, std: Any) -> bool:
    keys = np.array([key for key in described.inputs[place].keys if not np.isnan(key)])
    seen = keys.astype(REALS[real].dtype) if real in REALS else _whole(described, place, keys, rows, real, std)
    return len(np.unique(seen)) == len(keys)


def _would_be_apart(described: Described, place: int, rows: Floats, real: str, std: Any) -> bool:
    try:
        return _are_apart(described, place, rows, real, std)
    except ExportError:  # a type that does not take such models
        return False


def _whole(described: Described, place: int, keys: Floats, rows: Floats, real: str, std: Any) -> Any:
    """Return values of an input as whole numbers."""
    at = np.zeros((len(keys), len(described.inputs)))
    at[:, place] = keys
    return fixed_point(described, rows, real, std).inputs(at)[:, place]
