"""Plus l, take away r: its order and its counts."""

import numpy as np
import pytest

from skarce.criteria import SharedEvidence
from skarce.searches import PlusTakeAway
from skarce.states.outcome import Outcome
from tests.searches.every_search import PAPER_FORWARD, even_problem, run


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("seed", range(5))
def test_plus_one_is_forward(seed, reestimate):
    phi, t = even_problem(seed, n=80, m=60)
    (one, path), (other, other_path) = (run(s, SharedEvidence(reestimate), phi, t) for s in (PlusTakeAway(1, 0), PAPER_FORWARD))
    np.testing.assert_array_equal(path, other_path)
    np.testing.assert_array_equal(one.active, other.active)
    np.testing.assert_array_equal(one.ridges, other.ridges)


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_the_paper(seed):
    """Errata 3.3: the first function is one addition, and the rule is looked at after a complete step."""
    phi, t = even_problem(seed, n=120, m=100)
    found, trace = run(PlusTakeAway(1, 0), SharedEvidence(), phi, t)
    assert len(trace) == len(found.active) + 15 + 1
    found, trace = run(PlusTakeAway(2, 1), SharedEvidence(), phi, t)
    assert len(trace) == 1 + 3 * (len(found.active) + 15)
    assert np.diff(trace["n_active"]).tolist() == [1, 1, -1] * (len(found.active) + 15)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_larger_the_model_the_longer_the_breath(share):
    phi, t = even_problem(0, n=120, m=100, n_true=30)
    found, trace = run(PlusTakeAway(1, 0, patience=1, share=share), SharedEvidence(), phi, t)
    assert len(found.active) > 8
    assert len(trace) == len(found.active) + round(share * len(found.active)) + 1


def test_n_basis_beyond_what_there_is():
    found, _ = run(PlusTakeAway(2, 1, n_basis=30), SharedEvidence(), *even_problem(0, n=50, m=25))
    assert found.outcome is Outcome.TOO_FEW_CANDIDATES
    assert len(found.active) == 25
    assert "no candidate is left" in found.outcome.value
