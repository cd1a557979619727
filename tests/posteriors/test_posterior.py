"""The posterior of a fit against dense matrices."""

import numpy as np
import pytest

from skarce import (
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from tests.oracles import latent_mode, rbf


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


# The constant --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("basis", [KernelBasis(gamma=0.3), "passthrough"], ids=str)
@pytest.mark.parametrize("cls", [RelevanceVectorRegressor, VBLSRegressor])
def test_std_of_the_constant_is_that_of_the_dense_joint_covariance(sinc, cls, basis):
    X, y = sinc
    weights = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    X, y = X + 2.0, y + 0.2 * X[:, 0]
    model = cls(basis).fit(X, y, sample_weight=weights)
    assert len(model.active_) > 0
    columns = X if basis == "passthrough" else rbf(X, X, 0.3)
    design = np.column_stack([np.ones(len(y)), columns[:, model.active_]])
    precisions = np.append(0.0, model.weight_precision_)
    covariance = np.linalg.inv((design.T * weights) @ design / model.noise_variance_ + np.diag(precisions))
    np.testing.assert_allclose(model.posterior_.intercept_std, np.sqrt(covariance[0, 0]), rtol=1e-6)
    np.testing.assert_allclose(model.posterior_.coefficient_std, np.sqrt(covariance.diagonal()[1:]), rtol=1e-6)


def test_std_of_the_constant_of_a_latent_function_is_that_of_the_dense_inverse_hessian():
    rng = np.random.default_rng(2)
    X = rng.normal(1.0, 1.0, (80, 3))
    y = (X[:, 0] - 0.5 * X[:, 1] + rng.logistic(size=80) > 0.5).astype(float)
    weights = rng.uniform(0.5, 3.0, 80)
    model = RelevanceVectorClassifier("passthrough").fit(X, y, sample_weight=weights)
    columns = X[:, model.active_]
    assert columns.shape[1] > 0
    center = weights @ columns / weights.sum()
    design = np.column_stack([np.ones(80), columns - center])  # the level at the center has the prior N(0, 10^2)
    _, _, hessian = latent_mode(design, y, weights, np.append(0.01, model.weight_precision_))
    constant = np.append(1.0, -center)
    np.testing.assert_allclose(model.posterior_.intercept_std, np.sqrt(constant @ np.linalg.solve(hessian, constant)), rtol=1e-5)


def test_without_a_constant_its_std_is_zero(sinc):
    X, y = sinc
    assert RelevanceVectorRegressor("rbf", fit_intercept=False).fit(X, y).posterior_.intercept_std == 0.0
    assert RelevanceVectorClassifier("rbf", fit_intercept=False).fit(X, y > 0.3).posterior_.intercept_std == 0.0
