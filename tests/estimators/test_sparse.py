"""The regressor that takes any criterion and any search."""

import numpy as np
import pytest

from skarce import (
    RelevanceVectorRegressor,
    SparseRegressor,
)
from skarce.criteria import IndividualEvidence, SharedGCV
from skarce.searches import GreedyBatches


def test_generic_regressor_composes(sinc):
    X, y = sinc
    fast = SparseRegressor("rbf", IndividualEvidence(), GreedyBatches()).fit(X, y)
    named = RelevanceVectorRegressor("rbf").fit(X, y)
    np.testing.assert_array_equal(fast.active_, named.active_)
    np.testing.assert_allclose(fast.predict(X), named.predict(X))
    SparseRegressor("rbf", IndividualEvidence(noise_variance=0.01)).fit(X, y)


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_a_model_of_the_default_search_has_the_size_it_is_asked_for():
    X = np.random.default_rng(0).normal(size=(3, 1))
    model = SparseRegressor("rbf", criterion=SharedGCV()).fit(X, np.sin(X[:, 0]) + X[:, 0])
    assert len(model.with_n_basis(len(model.active_)).active_) == len(model.active_)
