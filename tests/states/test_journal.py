"""Limits of a search: which step is allowed, and how time is shared."""

import time

import numpy as np

from skarce.states.budget import LEAST_GAIN, Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_limit_that_forbade_a_long_step_is_the_outcome_at_the_end(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    journal = Journal(Budget(deadline=10.0))
    assert journal.exhausted(ahead=9.0) is None
    assert journal.exhausted(ahead=11.0) is Outcome.TIME_LIMIT
    assert journal.exhausted() is Outcome.TIME_LIMIT


def test_a_stopwatch_expects_that_the_next_step_takes_as_long_as_the_last(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    watch = Journal(Budget(deadline=10.0)).stopwatch(first=2.0)
    assert watch.exhausted(steps=4.0) is None  # 8 of 10 seconds
    clock.now = 4.0
    assert watch.exhausted() is None  # another 4 seconds end at 8
    clock.now = 8.0
    assert watch.exhausted() is Outcome.TIME_LIMIT  # at 12


def test_a_limit_of_either_branch_is_kept():
    for limited in (0, 1):
        journal = Journal(Budget(max_steps=3))
        branches = [journal.branch(), journal.branch()]
        for _ in range(3):
            branches[limited].note("add", 0, 0.0, 1)
        assert branches[limited].exhausted() is Outcome.STEP_LIMIT
        journal.take(*branches)
        assert journal.exhausted() is Outcome.STEP_LIMIT


def test_fits_share_the_time_that_is_left(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    budget = Budget(deadline=12.0)
    deadlines = []
    for place in range(3):
        deadlines.append(budget.share(3 - place).deadline)
        clock.now = deadlines[-1] - (2.0 if place == 0 else 0.0)  # the first fit needs only half of its part
    np.testing.assert_allclose(deadlines, [4.0, 7.0, 12.0])
    assert Budget().share(3) == Budget()


def test_a_gain_that_is_rounding_does_not_count():
    assert Budget(tol=0.0).least_gain == LEAST_GAIN
    assert Budget(tol=0.1).least_gain == 0.1
