"""How long a step takes, so that a stretch of steps ends in time."""

from __future__ import annotations

import time

from skarce.states.journal import Journal

FIRST_STEPS = 32  # in the first stretch under a time limit, if nothing is known about their duration
AMPLE_SECONDS = 600.0  # enough for any first stretch, so that an ample time limit does not change where stretches end
SLOWDOWN = 2.0  # later steps are slower, because the model grows: a step is taken to last this many times as long as the last ones


class Pace:
    """The duration of the latest steps of a search.

    Parameters
    ----------
    journal : Journal
        The record of the search, with its time limit.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seconds: float | None = None
        self._started, self._n_steps = 0.0, 0

    def begin(self, most: int) -> int:
        """Begin a stretch. Return how many steps it may have: `most`, or as many as end in time, but at least one."""
        self._started, self._n_steps = time.monotonic(), self._journal.n_steps
        deadline = self._journal.budget.deadline
        if deadline is None:
            return most
        left = max(deadline - self._started, 0.0)
        if self._seconds is None:
            return most if left >= AMPLE_SECONDS else min(most, FIRST_STEPS)
        return most if left >= SLOWDOWN * self._seconds * most else max(int(left / (SLOWDOWN * self._seconds)), 1)

    def end(self) -> None:
        """End the stretch, and measure it."""
        n_steps = self._journal.n_steps - self._n_steps
        if n_steps:
            self._seconds = (time.monotonic() - self._started) / n_steps
