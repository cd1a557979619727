"""The function that learns kernel widths. It lives in a high layer, so the package registers it here, and a basis finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_learner: Callable[..., Any] | None = None


def register_width_learner(learner: Callable[..., Any]) -> None:
    """Register the function that learns widths from targets for every basis."""
    global _learner
    _learner = learner


def width_learner() -> Callable[..., Any]:
    """Return the registered function."""
    if _learner is None:
        raise RuntimeError("no learner of kernel widths is registered: import skarce first.")
    return _learner
