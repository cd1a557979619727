"""The stop rules of elimination, by hand."""

import numpy as np
import pytest

from skarce.methods.elimination.path import StopRule
from tests.estimators.test_backward_elimination import directions

EXCESS = np.array([9.0, 4.0, 1.5, 0.25, 0.06, 0.02, 0.0])  # of the models of 0 to 6 functions


@pytest.mark.parametrize(("tol", "size"), [(0.0, 6), (0.01, 6), (0.02, 5), (0.05, 5), (0.06, 4), (0.3, 3), (4.0, 1), (50.0, 0)])
@directions
def test_total_rule_by_hand(direction, tol, size):
    assert StopRule("total", tol, direction).size(EXCESS) == size
    assert StopRule("total", tol, direction).size(EXCESS[2:], least=2) == max(size, 2)


@pytest.mark.parametrize(
    ("tol", "size"),
    # Downwards f rises by 0.02 of 1, 0.04 of 1.02, 0.19 of 1.06, 1.25 of 1.25, 2.5 of 2.5, 5 of 5.
    [(0.01, 6), (0.02, 5), (0.0393, 4), (0.17, 4), (0.18, 3), (0.999, 3), (1.0, 0)],
)
def test_step_rule_downwards_by_hand(tol, size):
    assert StopRule("step", tol, "backward").size(EXCESS) == size


@pytest.mark.parametrize(
    ("tol", "size"),
    # Upwards it falls by 5 of 10, 2.5 of 5, 1.25 of 2.5, 0.19 of 1.25, 0.04 of 1.06, 0.02 of 1.02.
    [(0.5, 0), (0.4999, 3), (0.153, 3), (0.151, 4), (0.038, 4), (0.03, 5), (0.01, 6)],
)
def test_step_rule_upwards_by_hand(tol, size):
    rule = StopRule("step", tol, "forward")
    assert rule.size(EXCESS) == size
    seen = [k for k in range(1, 7) if rule.is_met(EXCESS[: k + 1].tolist())]
    assert (seen[0] - 1 if seen else 6) == size


@pytest.mark.parametrize("stop", ["total", "step"])
def test_a_way_up_that_ended_too_early_asks_for_more(stop):
    assert StopRule(stop, 0.001, "forward").size(EXCESS[:4]) == 4  # the models of 0 to 3 functions are known
    assert StopRule(stop, 0.001, "forward").size(EXCESS) == 6


def test_a_hump_ends_elimination_by_steps_but_not_in_total():
    excess = np.array([1.0, 0.5, 0.49, 0.2, 0.0])
    assert StopRule("step", 0.1, "backward").size(excess) == 4
    assert StopRule("total", 0.3, "backward").size(excess) == 3
