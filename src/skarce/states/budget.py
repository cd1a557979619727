"""What a user allows a fit to take."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """When a search stops, and how much it says on the way.

    Parameters
    ----------
    tol : it has converged when no single change gains more than this
    max_steps : at most this many single changes and joint steps
    max_active : at most this many basis functions; None for no cap
    deadline : a value of `time.monotonic()`, or None
    verbose : 0 is silent, 1 prints a line now and then, 2 prints every step
    """

    tol: float = 1e-3
    max_steps: int = 100_000
    max_active: int | None = None
    deadline: float | None = None
    verbose: int = 0

    def room(self, n_active: int) -> int:
        """Return how many more functions may enter."""
        return sys.maxsize if self.max_active is None else max(self.max_active - n_active, 0)
