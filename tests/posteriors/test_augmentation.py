"""The std of a model with one more function at the input."""

import numpy as np
import pytest

from skarce import (
    KernelBasis,
    RelevanceVectorRegressor,
)
from tests.oracles import rbf


def test_augmented_std_is_that_of_a_model_with_one_more_function(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3)).fit(X, y)
    new = np.array([[0.3], [4.0], [14.0], [40.0]])
    active = rbf(X, X[model.active_], 0.3)
    signal = ((active - active.mean(axis=0)) @ model.dual_coef_).var()
    expected = []
    for x in new:
        extra = np.vstack([X[model.active_], x])
        design = np.column_stack([rbf(X, extra, 0.3), np.ones(len(X))])
        query = np.append(rbf(x[None], extra, 0.3)[0], 1.0)
        precisions = np.concatenate([model.weight_precision_, [1.0 / signal, 1e-10]])
        covariance = np.linalg.inv(design.T @ design / model.noise_variance_ + np.diag(precisions))
        expected.append(np.sqrt(model.noise_variance_ + query @ covariance @ query))
    mean, std = model.predict(new, return_std=True, std="augmented")
    np.testing.assert_allclose(std, expected, rtol=1e-5)
    np.testing.assert_array_equal(mean, model.predict(new))
    _, plain = model.predict(new, return_std=True)
    assert std[3] > 2 * plain[3]
    assert (std >= plain).all()


def test_augmented_std_of_many_rows_is_close_to_that_of_all(rng):
    X = rng.uniform(-5, 5, (4000, 1))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 4000)
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=100, random_state=0)).fit(X, y)
    assert len(model._augmentation_rows[0]) == 1000
    _, std = model.predict([[0.0], [50.0]], return_std=True, std="augmented")
    assert std[0] == pytest.approx(0.2, rel=0.1)
    assert std[1] == pytest.approx(y.std(), rel=0.1)
