"""Floating search."""

import numpy as np
import pytest

from skarce.criteria import SharedEvidence
from skarce.searches import Floating
from tests.searches.every_search import PAPER_FORWARD, TOL, even_problem, run


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("seed", range(8))
def test_floating_is_forward_until_a_removal_stands_and_never_falls_behind_itself(seed, reestimate):
    phi, t = even_problem(seed, n=60, m=40, n_true=12)
    found, trace = run(Floating(), SharedEvidence(reestimate), phi, t)
    _, forward = run(PAPER_FORWARD, SharedEvidence(reestimate), phi, t)
    stands, records = [], {0: -np.inf, 1: -np.inf}
    for row, step in enumerate(trace):
        is_undone = row + 1 < len(trace) and trace["action"][row + 1] == "undo"
        if step["action"] == "delete" and not is_undone:
            assert step["criterion"] > records[step["n_active"]] + TOL
            stands.append(row)
        if step["action"] == "delete" and is_undone:
            assert step["criterion"] <= records[step["n_active"]] + TOL
        records[step["n_active"]] = max(step["criterion"], records.get(step["n_active"], -np.inf))
    first = stands[0] if stands else len(trace)
    added = trace["index"][:first][trace["action"][:first] == "add"]
    np.testing.assert_array_equal(added, forward["index"][: len(added)])
    assert len(found.active) >= 2


def test_floating_takes_functions_back():
    """On these problems greedy choices are regretted, and the test above is about something."""
    stands = 0
    for seed in range(8):
        _, trace = run(Floating(), SharedEvidence(), *even_problem(seed, n=60, m=40, n_true=12))
        stands += (trace["action"] == "delete").sum() - (trace["action"] == "undo").sum()
    assert stands > 8
