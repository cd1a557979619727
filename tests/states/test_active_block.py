"""A block of changed members beside the state and dense matrices."""

import numpy as np

from skarce.states.active_block import ActiveBlock
from skarce.states.active_set import ActiveSet
from skarce.states.state import RESOLUTION
from tests.oracles import random_problem
from tests.problems import moments_of


def test_block_equals_state_and_dense():
    phi, t = random_problem(4)
    moments = moments_of(phi, t)
    active, ridges = np.array([0, 3, 8]), np.array([0.5, 20.0, 3.0])
    block = ActiveBlock(moments.gram.block(active, active), moments.projections[active], t @ t * (1 + RESOLUTION), ridges)
    state = ActiveSet(moments, active, ridges)
    np.testing.assert_allclose(block.weights, state.weights)
    np.testing.assert_allclose(block.spread(), state.spread())
    np.testing.assert_allclose(block.energy, state.energy)
    np.testing.assert_allclose(block.log_determinant, state.log_determinant)
    np.testing.assert_allclose(block.inverse @ (block.gram + np.diag(ridges)), np.eye(3), atol=1e-9)


def test_a_block_without_functions_is_silent(capfd):
    """LAPACK prints to the terminal if it is asked for an empty solution."""
    block = ActiveBlock(np.empty((0, 0)), np.empty(0), 7.0, np.empty(0))
    assert len(block.weights) == len(block.spread()) == 0
    assert (block.energy, block.log_determinant) == (7.0, 0.0)
    assert capfd.readouterr() == ("", "")
