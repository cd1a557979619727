"""Make a case as simple as it can be, while its fault stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def shrink(case: Any, still_fails: Callable[[Any], bool], most_attempts: int = 150) -> Any:
    """Return a case of which no simpler one has the same fault, or the simplest one after that many attempts.

    A case has a method `simpler` that gives cases with a little less in them. The first that still fails is taken, and so on.
    """
    left = most_attempts
    while True:
        for simpler in case.simpler():
            if left == 0:
                return case
            left -= 1
            if still_fails(simpler):
                case = simpler
                break
        else:
            return case
