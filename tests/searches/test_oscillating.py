"""Oscillating search."""

import pytest

from skarce.criteria import GCV
from skarce.searches import Oscillating
from skarce.states.active_set import ActiveSet
from tests.problems import moments_of
from tests.searches.every_search import PAPER_FORWARD, even_problem, every_criterion, run


@every_criterion
@pytest.mark.parametrize("seed", range(3))
def test_oscillating_ends_no_worse_than_forward_and_as_large(seed, criterion):
    phi, t = even_problem(seed, n=60, m=40, n_true=12)
    (forward, _), (found, trace) = (run(s, criterion, phi, t) for s in (PAPER_FORWARD, Oscillating(4)))
    assert len(found.active) == len(forward.active)
    assert scored(criterion, phi, t, found) >= scored(criterion, phi, t, forward) - 1e-9
    if len(forward.active) > 4 and criterion.needs_squares and not isinstance(criterion, GCV):
        closing = trace["action"][-(4 * (1 + 2 + 3 + 4) + 4) :]  # failed swings, each undone
        assert (closing == "undo").sum() >= 4


def scored(criterion, phi, t, found):
    state = ActiveSet(moments_of(phi, t), found.active, found.ridges, squares=True)
    state.noise = found.noise
    return criterion.worth(state) if hasattr(criterion, "worth") else criterion.score(state, len(t))
