"""The original iteration, where rounding would keep it going."""

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from skarce import Outcome, RelevanceVectorRegressor


def test_dependent_columns_do_not_keep_the_iteration_going():
    """With every column twice, rounding moves the score up and down by more than the tolerance, without end."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 3)), 2, axis=0)
    X = np.hstack([X, X])
    y = np.sin(2.0 * X[:, 0]) + X[:, 2] + 0.01 * rng.normal(size=40)
    model = RelevanceVectorRegressor(PolynomialFeatures(3), solver="em", tol=1e-8, max_iter=20_000).fit(X, y)
    assert model.outcome_ is not Outcome.STEP_LIMIT
    assert model.n_iter_ < 5_000
    assert model.score(X, y) > 0.9
