"""Learning of kernel widths from targets: the options that an estimator hands over, and a memory of what was learned."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import joblib

from skarce._width_learner import width_learner

_handed: ContextVar[dict[str, Any] | None] = ContextVar("handed", default=None)


@dataclass
class Memory:
    """What was learned from which data with which options, and how long it took."""

    learned: dict[str, tuple[Any, float]] = field(default_factory=dict)
    seconds_saved: float = 0.0

    def ask(self, learner: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Return what the learner returns. It is called once for the same arguments."""
        try:
            key = joblib.hash((args, {name: value for name, value in options.items() if value is not None}))
        except (pickle.PicklingError, AttributeError, TypeError):  # a callback that is a lambda cannot be hashed
            return learner(*args, **options)
        if key in self.learned:
            widths, seconds = self.learned[key]
            self.seconds_saved += seconds
            return widths
        started = time.perf_counter()
        widths = learner(*args, **options)
        self.learned[key] = widths, time.perf_counter() - started
        return widths

    def take_seconds_saved(self) -> float:
        """Return how long learning would have taken since the last call, had nothing been remembered."""
        seconds, self.seconds_saved = self.seconds_saved, 0.0
        return seconds


_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)


def learn_widths(*args: Any, on_learned: Callable[[Any], object] = lambda widths: None, **options: Any) -> Any:
    """Call the registered function, and then `on_learned` with what it returned."""
    memory, learner = _memory.get(), width_learner()
    widths = learner(*args, **options) if memory is None else memory.ask(learner, *args, **options)
    on_learned(widths)
    return widths


@contextmanager
def remembering() -> Iterator[Memory]:
    """Learn widths only once from the same data with the same options, for all fits inside."""
    memory = Memory()
    token = _memory.set(memory)
    try:
        yield memory
    finally:
        _memory.reset(token)


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
