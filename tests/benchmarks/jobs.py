"""A job that some cases break, and a case with a fault, for the tests of workers and report. This module is quick to import."""

import os
import time
from dataclasses import dataclass

from benchmarks.fuzz.faults import Fault


def die_or_answer(case):
    """The job of a worker that a case can kill."""
    if case == "die":
        os._exit(3)
    while case == "hang":
        pass
    if case == "sleep":
        time.sleep(1e6)
    return [Fault(case, "here")] if case == "fault" else []


@dataclass(frozen=True)
class Faulty:
    """A case that has a fault if its size is above 3."""

    size: int
    part = "estimators"
    title = "faulty"

    def run(self):
        return [Fault("too large", "here", str(self.size))] if self.size > 3 else []

    def snippet(self):
        return f"size = {self.size}"

    def simpler(self):
        yield from (Faulty(size) for size in range(self.size))
