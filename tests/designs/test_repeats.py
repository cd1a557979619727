"""How often an observation is counted."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skarce.designs import Rows
from skarce.designs.repeats import times_counted


def test_how_often_an_observation_is_counted(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=(6, 1))
    assert times_counted(Rows(X, y, None)) == 1.0
    assert times_counted(Rows(X, y, np.full(6, 0.1))) == 1.0
    assert times_counted(Rows(X, y, np.array([3.0, 2, 1, 0, 0, 0]))) == 2.0
    same_inputs, same_targets = np.repeat(X[:1], 6, 0), np.repeat(y[:1], 6, 0)
    assert times_counted(Rows(same_inputs, y, None)) == 1.0
    assert times_counted(Rows(X, same_targets, None)) == 1.0
    assert times_counted(Rows(same_inputs, same_targets, None)) == 6.0
    assert times_counted(Rows(X[[0, 0, 1]], same_targets[:3], np.array([1.0, 1.0, 0.0]))) == 2.0
    words = pd.DataFrame({"color": ["red", "red", "blue", "red"], "size": [1, 1, 1, 2]})
    for inputs in (words, sparse.csr_array(np.array([[0.0, 1], [0, 1], [3, 0], [3, 1]]))):
        assert times_counted(Rows(inputs, np.ones((4, 1)), None)) == pytest.approx(4 / 3)
