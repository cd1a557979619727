"""Limits of a search, and the record of what it did."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from skarce._typing import Floats, Indices
from skarce.posterior import Outcome


@dataclass(frozen=True)
class Limits:
    """When a search stops.

    Parameters
    ----------
    tol : it has converged when no single change gains more than this
    max_steps : single changes and joint steps at most
    max_active : basis functions at most, None for no cap
    deadline : a value of `time.monotonic()`, or None
    """

    tol: float = 1e-3
    max_steps: int = 10_000
    max_active: int | None = None
    deadline: float | None = None

    def room(self, n_active: int) -> int:
        """How many more functions may enter."""
        return sys.maxsize if self.max_active is None else max(self.max_active - n_active, 0)


class Found(NamedTuple):
    """Where a search ended: the candidates and ridges, and why there."""

    active: Indices
    ridges: Floats
    outcome: Outcome


@dataclass
class Journal:
    """The steps of a search in order, and whether it may go on."""

    limits: Limits = field(default_factory=Limits)
    verbose: int = 0
    steps: list[tuple[str, int, float, int]] = field(default_factory=list)

    def note(self, action: str, index: int, score: float, n_active: int) -> None:
        """Record a step: what was done to which candidate, the score after it, and the size of the model."""
        self.steps.append((action, index, score, n_active))
        if self.verbose and (self.verbose > 1 or len(self.steps) % 100 == 0):
            print(f"step {len(self.steps):6d}  {action:>8s}  score {score: .6e}  active {n_active:5d}", file=sys.stderr)

    def exhausted(self) -> Outcome | None:
        """The limit that forbids another step, or None."""
        if len(self.steps) >= self.limits.max_steps:
            return Outcome.STEP_LIMIT
        if self.limits.deadline is not None and time.monotonic() >= self.limits.deadline:
            return Outcome.TIME_LIMIT
        return None

    @property
    def score(self) -> float:
        """The score after the last step."""
        return self.steps[-1][2] if self.steps else -np.inf
