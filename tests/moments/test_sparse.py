"""Products of sparse columns: the dense formulas, with all their digits also for columns that hardly vary."""

import numpy as np
import pytest
from scipy import sparse

from skarce.basis.sparse_columns import SparseEvaluation
from skarce.moments import sparse as module
from skarce.moments.sparse import SparseProducts, sparse_sums
from tests.problems import random_sparse

N = 400


@pytest.fixture(scope="module")
def columns():
    """Sparse columns, two far from zero, a constant one, and an empty one."""
    rng = np.random.default_rng(0)
    X = random_sparse((N, 12), 0.1, rng).toarray()
    X[:, 2], X[:, 7] = 1e6 + rng.normal(size=N), -1e6 + X[:, 1] + 0.1 * rng.normal(size=N)
    X[:, 4], X[:, 5] = 3.0, 0.0
    return X


@pytest.fixture(params=["plain", "weighted"])
def weights(request):
    return np.ones(N) if request.param == "plain" else np.random.default_rng(1).integers(0, 4, N).astype(float)


def centered(X, weights):
    return (X - weights @ X / weights.sum()) * np.sqrt(weights)[:, None]


def test_products_about_the_means_keep_their_digits(columns, weights, monkeypatch):
    monkeypatch.setattr(module, "PANEL_BYTES", 8 * N)  # several panels
    products = SparseProducts(SparseEvaluation(sparse.csr_array(columns)), weights, about_mean=True)
    phi = centered(columns, weights)
    phi[:, [4, 5]] = 0.0
    # In longer arithmetic the sizes of columns 2 and 7 have 10 digits: their means are 1e6 times their spread.
    scale = np.maximum(np.linalg.norm(phi, axis=0), 1e-300)
    some, others = np.array([7, 0, 4, 2]), np.array([2, 3, 7, 9, 5])
    np.testing.assert_allclose(products.squares, scale**2 * (scale > 1e-300), rtol=1e-9)
    for found, expected, size in (
        (products.whole(), phi.T @ phi, np.multiply.outer(scale, scale)),
        (products.columns(some), phi[:, some].T @ phi, np.multiply.outer(scale[some], scale)),
        (products.block(some, others), phi[:, some].T @ phi[:, others], np.multiply.outer(scale[some], scale[others])),
    ):
        assert (np.abs(found - expected) <= 1e-9 * size).all()
    np.testing.assert_array_equal(products.whole(), products.whole().T)


def test_products_about_zero(columns, weights):
    products = SparseProducts(SparseEvaluation(sparse.csr_array(columns)), weights, about_mean=False)
    phi = columns * np.sqrt(weights)[:, None]
    np.testing.assert_allclose(products.whole(), phi.T @ phi, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(products.means, np.zeros(12))


def test_sums_of_parts_are_the_sums_of_all_rows(columns, weights):
    targets = np.random.default_rng(2).normal([0.0, 5.0], 1.0, (N, 2))
    parts = [slice(0, 150), slice(150, 151), slice(151, N)]
    total = sum(sparse_sums(SparseEvaluation(sparse.csr_array(columns[p])), targets[p], weights[p]) for p in parts)
    phi, t, root = centered(columns, weights), centered(targets, weights), np.linalg.norm(centered(columns, weights), axis=0)
    assert total.n_samples == weights.sum()
    np.testing.assert_allclose(total.candidate_means, weights @ columns / weights.sum(), rtol=1e-12)
    np.testing.assert_allclose(total.gram, phi.T @ phi, rtol=1e-8, atol=1e-8 * root.max())
    np.testing.assert_allclose(total.projections, phi.T @ t, rtol=1e-8, atol=1e-8 * root.max())
    np.testing.assert_allclose(total.target_energies, np.einsum("ij,ij->j", t, t), rtol=1e-10)


def test_candidates_on_demand(columns):
    evaluation = SparseEvaluation(sparse.coo_array(columns))
    right, weights = np.random.default_rng(3).normal(size=(N, 3)), np.random.default_rng(4).uniform(size=(N, 2))
    out = np.empty((5, 4))
    evaluation.fill(slice(3, 8), slice(1, 5), out)
    np.testing.assert_array_equal(out, columns[3:8, 1:5])
    np.testing.assert_array_equal(evaluation.columns(np.array([7, 1])), columns[:, [7, 1]])
    np.testing.assert_array_equal(evaluation.columns(np.array([7, 1]), slice(2, 9)), columns[2:9, [7, 1]])
    product, squares = evaluation.project(right, weights)
    np.testing.assert_allclose(product, columns.T @ right, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(squares, (columns**2).T @ weights, rtol=1e-12)
    np.testing.assert_allclose(evaluation.combined(np.arange(12.0)), columns @ np.arange(12.0), rtol=1e-12)
