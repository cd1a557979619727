"""Calibration that waits. A search over parameters fits many models, and only the one that it keeps needs to be calibrated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from skarce._parallel import blas_threads
from skarce.states.budget import Budget

_waiting: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


@dataclass
class Waiting:
    """The calibration of one estimator.

    Attributes
    ----------
    estimator : the estimator whose calibration waits; all others are calibrated as they are fitted
    """

    estimator: Any
    _step: Callable[[Budget], list[str]] | None = None
    _budget: Budget | None = None
    _seconds_left: float = 0.0

    def put_off(self, step: Callable[..., list[str]], *what: Any, budget: Budget) -> None:
        """Keep the step of `fit` that calibrates, with what it needs, and the time that is left for it."""
        self._step, self._budget = partial(step, *what), budget
        self._seconds_left = 0.0 if budget.deadline is None else budget.deadline - time.monotonic()

    def finish(self) -> list[str]:
        """Calibrate the fitted estimator, and return warnings for the user."""
        if self._step is None or self._budget is None:
            return []
        deadline = None if self._budget.deadline is None else time.monotonic() + self._seconds_left
        with blas_threads(1):
            return self._step(replace(self._budget, deadline=deadline))


@contextmanager
def calibration_waits(estimator: Any) -> Iterator[Waiting]:
    """Fit this estimator without its calibration, which `Waiting.finish` makes up for. Nothing else about the fit changes."""
    waiting = Waiting(estimator)
    token = _waiting.set(waiting)
    try:
        yield waiting
    finally:
        _waiting.reset(token)


def waiting_for(estimator: Any) -> Waiting | None:
    """Return where the calibration of this estimator waits, or None if it does not."""
    waiting = _waiting.get()
    return waiting if waiting is not None and waiting.estimator is estimator else None
