"""Who learns the widths of kernels. Learning stands above the basis, so the learner is handed down when the package is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_learner: Callable[..., Any] | None = None


def register_width_learner(learner: Callable[..., Any]) -> None:
    """Let `learner` learn the widths that a basis leaves to the targets."""
    global _learner
    _learner = learner


def learn_widths(*args: Any, **options: Any) -> Any:
    """Call the registered learner."""
    if _learner is None:
        raise RuntimeError("no learner of kernel widths is registered: import skarce first.")
    return _learner(*args, **options)
