"""Widths that follow from the inputs."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skarce import (
    KernelBasis,
)


def test_scale_and_median_count_weights_as_rows(rng):
    X, weights = rng.normal(size=(12, 2)), rng.integers(0, 4, 12)
    repeated = np.repeat(X, weights, axis=0)
    for rule in ("scale", "median"):
        weighted = KernelBasis(gamma=rule).fit(X, sample_weight=weights)
        plain = KernelBasis(gamma=rule).fit(repeated)
        np.testing.assert_allclose(weighted.gamma_, plain.gamma_)
        np.testing.assert_array_equal(weighted.centers_, plain.centers_)
    np.testing.assert_allclose(KernelBasis().fit(X).gamma_, 1 / (2 * X.var()))
    distances = cdist(X, X, "sqeuclidean")[np.triu_indices(12, 1)]
    assert KernelBasis(gamma="median").fit(X).gamma_ == pytest.approx(1 / np.sort(distances)[(len(distances) - 1) // 2])
