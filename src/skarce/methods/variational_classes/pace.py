"""How long steps take, so that the last one ends before the deadline."""

from __future__ import annotations

import time

from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

STEPS_AHEAD = 2.0  # the next step, and what turns its model into a posterior, which costs less than a step


class Pace:
    """Asks the limits of a journal before every step, and expects the next step to take as long as the last one."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self._latest = journal, time.monotonic()

    def limit(self) -> Outcome | None:
        """Return the limit that forbids another step, or None. Called once before each step."""
        now = time.monotonic()
        seconds, self._latest = now - self._latest, now
        return self._journal.exhausted(ahead=STEPS_AHEAD * seconds)
