"""Three ways to solve a ridge system."""

import numpy as np
import pytest
from sklearn import config_context

from skarce.basis.transformers import PassthroughCandidates
from skarce.designs import InMemoryDesign, RowBlocks, RowBlocksDesign, Rows
from skarce.methods.variational.ridge_solves import ByBlock, ByConjugateGradients, ByRows, ridge_system


def design_of(X, y, weights):
    return InMemoryDesign(PassthroughCandidates(X.shape[1]), Rows(X, y[:, None], weights))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(40, 12), (15, 60)])
def test_the_three_ways_to_solve_agree_with_the_dense_one(shape, weighted, rng):
    n, m = shape
    X, y = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-2, 2, m) + 5, rng.normal(size=n) + 3
    weights = rng.integers(0, 4, n).astype(float) if weighted else None
    (moments,) = design_of(X, y, weights).moments("columns")
    counts = np.ones(n) if weights is None else weights
    phi, t = (A - np.average(A, axis=0, weights=counts) for A in (X, y))
    candidates = rng.permutation(m)[: m - 3]
    phi = phi[:, candidates]
    ridges = (counts @ phi**2) * 10.0 ** rng.uniform(-3, 1, len(candidates))
    dense = np.linalg.solve(phi.T @ (counts[:, None] * phi) + np.diag(ridges), phi.T @ (counts * t))
    residual = counts @ (t - phi @ dense) ** 2
    start = np.zeros(len(candidates))
    block = moments.gram.block(candidates, candidates)
    for system in (
        ByBlock(moments, candidates, block),
        ByRows.of(moments, candidates),
        ByConjugateGradients(moments, candidates, 1e-13, 2000),
    ):
        weights_found, energy = system.solve(ridges, start)
        np.testing.assert_allclose(weights_found, dense, rtol=1e-6, atol=1e-9 * np.abs(dense).max())
        assert energy == pytest.approx(residual, rel=1e-8)
        kept = np.arange(0, len(candidates), 2)
        smaller, _ = system.restricted_to(kept).solve(ridges[kept], start[kept])
        some = phi[:, kept]
        expected = np.linalg.solve(some.T @ (counts[:, None] * some) + np.diag(ridges[kept]), some.T @ (counts * t))
        np.testing.assert_allclose(smaller, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_conjugate_gradients_read_the_rows_if_phi_does_not_fit(rng):
    X, y = rng.normal(size=(80, 70)) + 2, rng.normal(size=80)
    blocks = RowBlocksDesign(PassthroughCandidates(70), RowBlocks.from_arrays(X, y, block_rows=33), Rows(X, y[:, None]), 80)
    with config_context(working_memory=0.1):
        (moments,) = blocks.moments("columns")
        system = ByConjugateGradients(moments, np.arange(70), 1e-12, 2000)
        assert system._phi is None
        assert isinstance(ridge_system(moments, np.arange(70)), ByConjugateGradients)
        weights, _ = system.solve(np.full(70, 3.0), np.zeros(70))
    phi, t = X - X.mean(axis=0), y - y.mean()
    np.testing.assert_allclose(weights, np.linalg.solve(phi.T @ phi + 3 * np.eye(70), phi.T @ t), rtol=1e-7, atol=1e-10)


def test_rows_are_counted_and_not_their_weights(rng):
    """Rows that weigh little are still many, and a system of their size would be slow."""
    moments = design_of(rng.normal(size=(300, 20)), rng.normal(size=300), np.full(300, 0.01)).moments()[0]
    assert moments.n_samples < 20
    assert isinstance(ridge_system(moments, np.arange(20)), ByBlock)


def test_the_smallest_system_is_chosen(rng):
    X, y = rng.normal(size=(30, 200)), rng.normal(size=30)
    (moments,) = design_of(X, y, None).moments("columns")
    assert isinstance(ridge_system(moments, np.arange(200)), ByRows)
    assert isinstance(ridge_system(moments, np.arange(20)), ByBlock)
    assert isinstance(ridge_system(moments.without_rows(), np.arange(200)), ByBlock)
    assert isinstance(ByRows.of(moments, np.arange(200)).restricted_to(np.arange(25)), ByBlock)
