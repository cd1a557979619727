"""Rows in memory: digits, memory, and columns that are computed once."""

import tracemalloc

import numpy as np
import pytest
from sklearn import config_context
from sklearn.preprocessing import PolynomialFeatures

from skarce import KernelBasis
from skarce.basis.transformers import TransformerCandidates
from skarce.designs import InMemoryDesign, Rows
from skarce.designs.choice import ONE_BY_ONE


@pytest.mark.parametrize("n_rows", [12, 54, 500])
def test_single_precision_gives_the_gram_of_one_matrix(rng, n_rows):
    """Kernels in single precision are not symmetric to the last digit: columns once belonged to another Phi than the diagonal."""
    X = rng.normal(size=(n_rows, 2)).astype(np.float32)
    gram = InMemoryDesign(KernelBasis("matern52", gamma=0.1).fit(X), Rows(X, X[:, :1])).moments("columns", ONE_BY_ONE)[0].gram
    matrix = np.array([gram.column(j) for j in range(n_rows)])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * matrix.max())
    np.testing.assert_allclose(matrix.diagonal(), gram.diagonal, rtol=1e-12)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * matrix.max()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [1e-8, 1e-5, 1e-2, 1.0])
def test_wide_symmetric_kernels_keep_their_digits(rng, gamma, weighted):
    """Columns of Phi'Phi that come one by one are those of explicitly centered columns, relative to their lengths."""
    X = rng.normal(size=(300, 2))
    weights = rng.uniform(0.5, 1e6, 300) if weighted else None
    basis = KernelBasis(gamma=gamma).fit(X)
    gram = InMemoryDesign(basis, Rows(X, X[:, :1], weights)).moments("columns", ONE_BY_ONE)[0].gram
    weights = np.ones(300) if weights is None else weights
    phi = basis.transform(X)
    phi -= weights @ phi / weights.sum()
    phi *= np.sqrt(weights)[:, None]
    lengths = np.linalg.norm(phi, axis=0)
    for j in (0, 17, 200):
        error = np.abs(gram.column(j) - phi.T @ phi[:, j]) / (lengths * lengths[j])
        assert error.max() < 1e-12
        assert gram.column(j)[j] == pytest.approx(gram.diagonal[j], rel=1e-12)


def test_streaming_never_holds_the_design_matrix(rng):
    n = 3000
    X = rng.normal(size=(n, 3))
    basis = KernelBasis(gamma=0.5, centers=None).fit(X)
    with config_context(working_memory=8):
        tracemalloc.start()
        moments = InMemoryDesign(basis, Rows(X, X[:, :1])).moments()[0]
        moments.gram.columns(np.arange(5))
        moments.restricted_to(np.arange(0, n, 60))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 0.4 * 8 * n * n


def test_columns_are_computed_once(rng):
    X = rng.normal(size=(600, 2))
    moments = InMemoryDesign(KernelBasis().fit(X), Rows(X, X[:, :1])).moments("columns")[0]
    moments.gram.columns(np.array([4, 9]))
    first = moments.gram.column(4)
    moments.gram.columns(np.array([4, 11]))
    assert moments.gram.n_kept == 3
    assert moments.gram.column(4) is first


class Counted(PolynomialFeatures):
    """Counts the rows that it has transformed."""

    def transform(self, X):
        self.n_transformed = getattr(self, "n_transformed", 0) + len(X)
        return super().transform(X)


def test_a_transformer_sees_each_row_once(rng):
    """Columns come in panels, but a transformer computes all of them at once."""
    X = rng.normal(size=(9, 400))
    transformer = Counted(2).fit(X)
    candidates = TransformerCandidates.at(transformer, X)
    moments = InMemoryDesign(candidates, Rows(X, X[:, :1]), fit_intercept=False).moments("columns")[0]
    assert transformer.n_transformed == 1 + len(X)  # one row tells the number of columns
    phi = PolynomialFeatures(2).fit_transform(X)
    np.testing.assert_allclose(moments.gram.diagonal, (phi**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.projections, phi.T @ X[:, 0], atol=1e-12 * np.abs(phi).max() ** 2)
