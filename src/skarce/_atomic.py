"""A fit is whole or it did not happen: it works on a twin, and one assignment makes the estimator what the twin has become.

Signals, such as Ctrl-C, and threads come between two instructions of Python. Attributes set one after another can therefore be
half set. The assignment of `__dict__` is one instruction: before it the estimator is the old model, after it the new one.
"""

from __future__ import annotations

from typing import Any, TypeVar

Estimator = TypeVar("Estimator")
RECORD = "_set_by_fit"  # the names of all attributes that the last fit has set


def _twin(estimator: Estimator, state: dict[str, Any]) -> Estimator:
    twin = object.__new__(type(estimator))
    twin.__dict__ = state
    return twin


def unfitted_twin(estimator: Estimator) -> Estimator:
    """Return a twin without what the last fit has set. Everything else stays, also what a user or a subclass has set."""
    state = vars(estimator).copy()
    for name in (*state.get(RECORD, ()), RECORD):
        state.pop(name, None)
    return _twin(estimator, state)


def snapshot(estimator: Estimator) -> Estimator:
    """Return a twin that stays the same model if another thread fits the estimator again. Nothing is copied."""
    return _twin(estimator, vars(estimator))


def copied(estimator: Estimator) -> Estimator:
    """Return a twin that has the same attributes. `copy.copy` returns the same, and takes ten times as long."""
    return _twin(estimator, vars(estimator).copy())


def become(estimator: Estimator, twin: Any) -> Estimator:
    """Make the estimator what its fitted twin is, in one step. This must be the last step of a fit."""
    before = vars(unfitted_twin(estimator))
    state = {**vars(twin), RECORD: tuple(name for name in vars(twin) if name not in before and name != RECORD)}
    estimator.__dict__ = state
    return estimator
