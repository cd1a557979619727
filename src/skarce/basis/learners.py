"""The function that learns kernel widths, and the options that an estimator hands to it.

The function lives in a higher layer, so the package registers it here when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_learner: Callable[..., Any] | None = None
_handed: ContextVar[dict[str, Any] | None] = ContextVar("handed", default=None)


def register_width_learner(learner: Callable[..., Any]) -> None:
    """Register the function that learns widths from targets for every basis."""
    global _learner
    _learner = learner


def learn_widths(*args: Any, **options: Any) -> Any:
    """Call the registered function."""
    if _learner is None:
        raise RuntimeError("no learner of kernel widths is registered: import skarce first.")
    return _learner(*args, **options)


@contextmanager
def handing(options: dict[str, Any]) -> Iterator[None]:
    """Hand options to every basis that is fitted inside, however deep it lies in a pipeline: `fit` of a transformer takes none."""
    token = _handed.set(options)
    try:
        yield
    finally:
        _handed.reset(token)


def handed() -> dict[str, Any]:
    """Return the options that an estimator has handed over; none outside of its fit."""
    return _handed.get() or {}
