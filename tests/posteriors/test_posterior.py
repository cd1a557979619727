"""The posterior of a fit against dense matrices."""

import numpy as np
import pytest

from skarce import (
    KernelBasis,
    RelevanceVectorRegressor,
)
from tests.oracles import rbf


def test_relevance_is_one_minus_alpha_sigma(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    expected = 1.0 - model.weight_precision_ * np.diag(model.posterior_.covariance)
    np.testing.assert_allclose(model.relevance_[model.active_], expected, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_std_is_that_of_the_dense_posterior_predictive(sinc, fit_intercept):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), fit_intercept=fit_intercept).fit(X, y)
    new = np.array([[0.3], [4.0], [30.0]])
    design, query = (rbf(A, X[model.active_], 0.3) for A in (X, new))
    precisions = model.weight_precision_
    if fit_intercept:  # the constant as one more column with (next to) no prior
        design, query = (np.column_stack([A, np.ones(len(A))]) for A in (design, query))
        precisions = np.append(precisions, 1e-9)
    covariance = np.linalg.inv(design.T @ design / model.noise_variance_ + np.diag(precisions))
    expected = np.sqrt(model.noise_variance_ + np.einsum("ni,ij,nj->n", query, covariance, query))
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(std, expected, rtol=1e-6)
    np.testing.assert_allclose(mean, query @ covariance @ design.T @ y / model.noise_variance_, rtol=1e-6, atol=1e-9)
    if fit_intercept:
        assert std[2] > np.sqrt(model.noise_variance_) * (1 + 1e-4)


@pytest.mark.parametrize("n_rows", [120, 300])
def test_intervals_cover(n_rows):
    """95 % intervals on fresh data over many draws."""
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-6, 6, (n_rows + 200, 1))
        y = np.sin(X[:, 0]) + rng.normal(0, 0.3, n_rows + 200)
        model = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X[:n_rows], y[:n_rows])
        mean, std = model.predict(X[n_rows:], return_std=True)
        inside.append(np.abs(y[n_rows:] - mean) < 1.96 * std)
    assert 0.93 < np.mean(inside) < 0.97
