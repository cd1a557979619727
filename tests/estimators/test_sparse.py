"""The regressor that takes any criterion and any search."""

import numpy as np

from skarce import (
    RelevanceVectorRegressor,
    SparseRegressor,
)
from skarce.criteria import IndividualEvidence
from skarce.searches import GreedyBatches


def test_generic_regressor_composes(sinc):
    X, y = sinc
    fast = SparseRegressor("rbf", IndividualEvidence(), GreedyBatches()).fit(X, y)
    named = RelevanceVectorRegressor().fit(X, y)
    np.testing.assert_array_equal(fast.active_, named.active_)
    np.testing.assert_allclose(fast.predict(X), named.predict(X))
    SparseRegressor("rbf", IndividualEvidence(noise_variance=0.01)).fit(X, y)
