"""When a search stops."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """When a search stops.

    Parameters
    ----------
    tol : it has converged when no single change gains more than this
    max_steps : single changes and joint steps at most
    max_active : basis functions at most, None for no cap
    deadline : a value of `time.monotonic()`, or None
    """

    tol: float = 1e-3
    max_steps: int = 100_000
    max_active: int | None = None
    deadline: float | None = None

    def room(self, n_active: int) -> int:
        """How many more functions may enter."""
        return sys.maxsize if self.max_active is None else max(self.max_active - n_active, 0)
