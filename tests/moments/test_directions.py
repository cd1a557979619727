"""The eigenvectors of the Gram matrix."""

import numpy as np
import pytest

from skarce import EvidenceRegressor, KernelBasis
from skarce.moments.directions import Directions
from tests.oracles import profiled_log_evidence, random_problem


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (20, 20)])
def test_directions_are_the_eigenvectors_of_the_gram(shape):
    phi, t = random_problem(0, *shape)
    gram = phi.T @ phi
    directions = Directions.of(gram)
    expected, vectors = np.linalg.eigh(gram)
    rank = min(shape)
    assert len(directions.eigenvalues) == rank
    np.testing.assert_allclose(directions.eigenvalues, expected[-rank:], rtol=1e-6)
    np.testing.assert_allclose(np.abs(directions.project(phi.T @ t)), np.abs(vectors.T @ phi.T @ t)[-rank:], rtol=1e-6)


@pytest.mark.parametrize("seed", [4, 21])
def test_directions_that_are_rounding_do_not_count(seed):
    """Wide kernels have eigenvalues of 1e-17 beside 1e4: what their directions seem to explain was taken for signal."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 260))
    X, gamma = rng.uniform(-1, 1, (n, 4)), np.exp(rng.uniform(-9, 0, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.3, n)
    model = EvidenceRegressor(KernelBasis(gamma=gamma), fit_intercept=False).fit(X, y)
    phi = KernelBasis(gamma=gamma).fit_transform(X)
    ridges = np.geomspace(1e-6, 1e4, 100)
    best = max(profiled_log_evidence(phi, y, np.full(n, ridge)) for ridge in ridges)
    np.testing.assert_allclose(model.criterion_, best, atol=0.1)
