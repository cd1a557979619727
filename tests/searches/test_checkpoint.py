"""What failed is taken back."""

import numpy as np
import pytest

from skarce.criteria import GCV
from skarce.searches.checkpoint import Checkpoint
from skarce.states.active_set import ActiveSet
from skarce.states.journal import Journal
from tests.oracles import random_problem
from tests.problems import moments_of


@pytest.mark.parametrize("factor", [100.0, 0.9])
def test_a_checkpoint_takes_back_what_failed_and_nothing_else(factor):
    """From ridges that are too large, larger ones are worse and smaller ones better."""
    phi, t = random_problem(0, n=40, m=8)
    ridges = 50.0 * (phi[:, :3] ** 2).sum(axis=0)
    state, journal = ActiveSet(moments_of(phi, t), np.arange(3), ridges, squares=True), Journal()
    journal.note("add", 0, 1.0, 3)
    before = Checkpoint(GCV(), state, journal)
    state.keep(np.arange(3), factor * ridges)
    journal.note("change", 0, 2.0, 3)
    state.is_ill_conditioned = True
    failed = factor > 1.0
    assert before.take_back_what_failed() == failed
    np.testing.assert_allclose(state.ridges, ridges if failed else factor * ridges)
    assert len(journal.trace()) == (1 if failed else 2)
