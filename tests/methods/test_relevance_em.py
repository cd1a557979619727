"""The original iteration, where rounding would keep it going."""

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from skarce import Outcome, RelevanceVectorRegressor


@pytest.mark.parametrize("seed", range(3))
def test_dependent_columns_do_not_keep_the_iteration_going(seed):
    """With every column twice, rounding moves the score up and down by more than the tolerance, without end."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(16, 5)), 2, axis=0)[:31]
    X = np.hstack([X, X])
    y = np.repeat(np.sin(2.0 * X[::2, 0]) + X[::2, 4] + 0.01 * rng.normal(size=16), 2)[:31]
    model = RelevanceVectorRegressor(PolynomialFeatures(2), solver="em", tol=1e-8, max_iter=3_000).fit(X, y)
    assert model.outcome_ is not Outcome.STEP_LIMIT
    assert model.score(X, y) > 0.9
