"""Kernels about their means, held in memory or computed again for each pass."""

import numpy as np
import pytest

from skarce import KernelBasis
from skarce.basis.candidates import ColumnsEvaluation
from skarce.designs import centered as room
from skarce.designs.centered import CenteredEvaluation, centered


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", ["rbf", "matern32", "polynomial"])
def test_held_kernels_are_those_that_are_computed_again(kernel, dtype, monkeypatch):
    monkeypatch.setattr(room, "PANEL_BYTES", 2**12)  # several panels
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).astype(dtype)
    weights = rng.uniform(0.5, 2.0, 90)
    basis = KernelBasis(kernel, gamma=0.4, centers=np.vstack([X[:40], np.full((1, 3), 0.0 if kernel == "polynomial" else 100.0)]))
    evaluation = basis.fit(X).on(X)
    held, means = centered(evaluation, weights, most_held=90 * 41)
    again, same_means = centered(evaluation, weights, most_held=90 * 41 - 1)
    assert isinstance(held, ColumnsEvaluation)
    assert held.is_by_column
    assert isinstance(again, CenteredEvaluation)
    np.testing.assert_allclose(means, same_means, rtol=1e-11)
    values, expected = (one.columns(np.arange(41)) for one in (held, again))
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())
    assert not values[:, 40].any()  # it is constant, or too far away


def test_nothing_is_held_beyond_the_memory_budget():
    import sklearn

    X = np.random.default_rng(0).normal(size=(400, 2))
    evaluation = KernelBasis(gamma=0.4).fit(X).on(X)
    with sklearn.config_context(working_memory=1):
        assert isinstance(centered(evaluation, np.ones(400), 10**9)[0], CenteredEvaluation)
