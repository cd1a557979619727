"""The limits that a user sets for a fit."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

# A smaller gain in a score is rounding: scores are sums of n logarithms, with quantities that were updated many times.
LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class Budget:
    """When a search stops, and how much it prints.

    Parameters
    ----------
    tol : float, default=1e-3
        The search has converged if no single change gains more than this.
    max_steps : int, default=100000
        Largest number of steps. A single change is one step, and so is a joint step.
    max_active : int, default=None
        Largest number of basis functions. None sets no limit.
    deadline : float, default=None
        When to stop, as a value of `time.monotonic`. None sets no limit.
    verbose : int, default=0
        2 prints a line for every step of the search. Progress is shown elsewhere; see `Journal.shown`.
    """

    tol: float = 1e-3
    max_steps: int = 100_000
    max_active: int | None = None
    deadline: float | None = None
    verbose: int = 0

    @property
    def least_gain(self) -> float:
        """The smallest gain in a score that counts: the tolerance, or what rounding leaves if the tolerance is smaller."""
        return max(self.tol, LEAST_GAIN)

    def share(self, n_fits: int) -> Budget:
        """Return the budget of the next of `n_fits` fits that share one deadline: an equal part of the time that is left."""
        if self.deadline is None:
            return self
        now = time.monotonic()
        return replace(self, deadline=now + (self.deadline - now) / n_fits)

    def room(self, n_active: int) -> int:
        """Return how many more functions may enter."""
        return sys.maxsize if self.max_active is None else max(self.max_active - n_active, 0)
