"""Rows, one after another, into a set of receptive fields that grows and shrinks."""

from __future__ import annotations

import numpy as np

from skarce._progress import QUIET, Quiet
from skarce._typing import Floats
from skarce.methods.lwpr import _lwpr
from skarce.methods.lwpr.field import Field, activation, is_settled, left_out_error, start, update
from skarce.methods.lwpr.layout import Layout, Settings

NEGLIGIBLE = 1e-3  # fields with a smaller activation do not learn from a row
ROWS_AT_ONCE = 2048  # in one call of compiled code, which no signal interrupts
SMALLEST_ROOM = 8  # fields


def learn(
    state: Floats, layout: Layout, X: Floats, y: Floats, settings: Settings, *, compiled: bool = True, part: Quiet = QUIET
) -> Floats:
    """Learn rows in their order, table 4 of the paper.

    Parameters
    ----------
    state : array of shape (n_fields, layout.size)
        One row for each field. It is not changed.
    layout : Layout
        What the numbers of a field mean.
    X, y : arrays of shape (n_samples, n_inputs) and (n_samples,)
        Inputs and targets in units in which their variance is about one.
    settings : Settings
        What steers learning.
    compiled : bool
        Whether compiled code does it. NumPy does the same, up to rounding, and is some hundred times slower.
    part : Quiet
        What is told how many rows are learned.

    Returns
    -------
    state : array of shape (n_fields, layout.size)
        The fields after these rows.
    """
    n_fields, n_done = len(state), 0
    room = _with_room(state, n_fields)
    take = _learn_compiled if compiled else _learn_rows
    while n_done < len(X):
        stop = min(n_done + ROWS_AT_ONCE, len(X))
        n_taken, n_fields = take(room, n_fields, layout, X[n_done:stop], y[n_done:stop], settings)
        n_done += n_taken
        part.step(n_taken)
        if n_done < stop:  # there is no room for another field
            room = _with_room(room, n_fields)
    return room[:n_fields].copy()


def _with_room(state: Floats, n_fields: int) -> Floats:
    """Return a copy of the fields with room for as many more."""
    room = np.zeros((max(2 * n_fields, SMALLEST_ROOM), state.shape[1]))
    room[:n_fields] = state[:n_fields]
    return room


def _learn_compiled(room: Floats, n_fields: int, layout: Layout, X: Floats, y: Floats, settings: Settings) -> tuple[int, int]:
    return _lwpr.learn(room, X, y, np.array(settings.numbers()), n_fields, layout.max_projections, layout.is_full, NEGLIGIBLE)


def _learn_rows(room: Floats, n_fields: int, layout: Layout, X: Floats, y: Floats, settings: Settings) -> tuple[int, int]:
    """Return how many rows were learned, and how many fields there are. It ends early if a field has no room."""
    for i, x in enumerate(X):
        fields = [Field(row, layout) for row in room[:n_fields]]
        active = np.array([activation(field, x) for field in fields])
        is_new = (active < settings.add_below).all() and n_fields < settings.max_fields
        if is_new and n_fields == len(room):
            return i, n_fields
        for field, w in zip(fields, active, strict=True):
            if w > NEGLIGIBLE:
                update(field, x, float(y[i]), float(w), settings)
        if is_new:
            new = Field(room[n_fields], layout)
            start(new, x, settings)
            update(new, x, float(y[i]), 1.0, settings)
            n_fields += 1
        elif np.sum(active > settings.prune_above) > 1:
            n_fields = _prune(room, fields, active, settings)
    return len(X), n_fields


def _prune(room: Floats, fields: list[Field], active: Floats, settings: Settings) -> int:
    """Remove the worse one of the two most active fields: the one that is not settled, or has the larger error."""
    first = int(np.argmax(active))
    second = int(np.argmax(np.where(np.arange(len(active)) == first, -1.0, active)))
    worse = second if _is_worse(fields[second], fields[first], settings) else first
    room[worse] = room[len(fields) - 1]
    return len(fields) - 1


def _is_worse(field: Field, other: Field, settings: Settings) -> bool:
    settled, other_settled = is_settled(field, settings), is_settled(other, settings)
    return other_settled if settled != other_settled else left_out_error(field) >= left_out_error(other)
