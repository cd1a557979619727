"""Which rows are left out together, and the moments of the rows that stay."""

import struct
from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skarce import KernelBasis
from skarce.basis.transformers import PassthroughCandidates
from skarce.designs import InMemoryDesign, Rows
from skarce.designs.folds import hashed_splits, parts, parts_of_whole_moments
from skarce.likelihoods import Gaussian
from skarce.methods.method import IN_BATCHES
from skarce.moments import folds
from skarce.moments.folds import N_FOLDS, fold_numbers

X = np.random.default_rng(0).normal(size=(200, 3))


def design_of(basis=None, weights=None, fit_intercept=True, n=60):
    rng = np.random.default_rng(1)
    rows = Rows(X[:n], rng.normal(size=(n, 2)), weights, is_one_output=False)
    candidates = PassthroughCandidates(3) if basis is None else basis.fit(X[:n])
    return InMemoryDesign(candidates, rows, fit_intercept=fit_intercept)


def test_the_fold_is_a_hash_of_the_bytes_of_the_inputs():
    by_hand = [blake2b(struct.pack("<3d", *row), digest_size=8).digest() for row in X]
    np.testing.assert_array_equal(fold_numbers(X), [int.from_bytes(digest, "little") % 5 for digest in by_hand])


def test_folds_have_about_the_same_size():
    assert np.bincount(fold_numbers(np.random.default_rng(2).normal(size=(5000, 1))), minlength=N_FOLDS).min() > 900


def test_the_sign_of_zero_and_the_type_of_numbers_do_not_matter():
    whole = np.round(3.0 * X)
    expected = fold_numbers(whole)
    for same in (np.where(whole == 0.0, -0.0, whole), whole.astype(np.float32), whole.astype(int), np.asfortranarray(whole)):
        np.testing.assert_array_equal(fold_numbers(same), expected)
    np.testing.assert_array_equal(fold_numbers(pd.DataFrame(whole)), expected)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows_are_in_the_folds_of_dense_ones(make, monkeypatch):
    whole = np.round(3.0 * X)
    np.testing.assert_array_equal(fold_numbers(make(whole)), fold_numbers(whole))
    monkeypatch.setattr(folds, "DENSE_BYTES", 8 * 7 * whole.shape[1])
    np.testing.assert_array_equal(fold_numbers(make(whole)), fold_numbers(whole))


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, sparse.csr_array, lambda x: pd.DataFrame(x).astype(str)])
def test_the_order_of_rows_does_not_matter_and_equal_rows_are_together(make):
    values, order = np.round(X), np.random.default_rng(3).permutation(200)
    numbers = fold_numbers(make(values))
    np.testing.assert_array_equal(fold_numbers(make(values[order])), numbers[order])
    _, groups = np.unique(values + 0.0, axis=0, return_inverse=True)
    for group in np.unique(groups):
        assert len(set(numbers[groups.ravel() == group])) == 1


def test_tables_of_text_and_numbers():
    table = pd.DataFrame({"a": ["x", "y", "x", None], "b": [1, 2, 1, 2]})
    numbers = fold_numbers(table)
    assert numbers[0] == numbers[2]
    assert fold_numbers(np.array([["a", "bc"], ["ab", "c"]], dtype=object)).shape == (2,)


def test_a_precomputed_kernel_does_not_depend_on_the_order_of_rows():
    kernel, order = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)), np.random.default_rng(3).permutation(200)
    basis = KernelBasis("precomputed").fit(kernel)
    np.testing.assert_array_equal(fold_numbers(kernel[order][:, order], basis), fold_numbers(kernel, basis)[order])


def test_splits_leave_out_each_row_of_positive_weight_once():
    weights = np.where(np.arange(60) % 7 == 0, 0.0, 1.0)
    splits = hashed_splits(design_of(weights=weights))
    left_out = np.concatenate([left for _, left in splits])
    np.testing.assert_array_equal(np.sort(left_out), np.flatnonzero(weights))
    for fitted, left in splits:
        assert not set(fitted) & set(left)
        np.testing.assert_array_equal(np.sort([*fitted, *left]), np.flatnonzero(weights))


def test_no_split_of_equal_rows():
    design = InMemoryDesign(PassthroughCandidates(3), Rows(np.ones((8, 3)), np.arange(8.0)[:, None]))
    assert hashed_splits(design) == []


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, np.random.default_rng(4).uniform(0.0, 3.0, 60), np.where(np.arange(60) == 7, 1e12, 1.0)])
@pytest.mark.parametrize("gamma", [None, 0.3, 1e4])
def test_moments_that_are_added_up_are_those_of_the_rows(gamma, weights, fit_intercept):
    """Also for kernels that are zero at all rows but one, and for a row that outweighs all others."""
    design = design_of(None if gamma is None else KernelBasis(gamma=gamma), weights, fit_intercept)
    splits = hashed_splits(design)
    for by_rows, added in zip(parts(design, splits), parts_of_whole_moments(design, splits), strict=True):
        expected = by_rows.problems(Gaussian(), "whole", IN_BATCHES)
        for one, other in zip(expected, added.problems(Gaussian(), "whole", IN_BATCHES), strict=True):
            a, b = one.moments, other.moments
            size = np.sqrt(a.gram.diagonal)
            np.testing.assert_allclose(b.gram.matrix, a.gram.matrix, rtol=0, atol=1e-12 * size.max() ** 2)
            np.testing.assert_allclose(b.gram.diagonal, a.gram.diagonal, rtol=1e-9)
            np.testing.assert_allclose(b.projections, a.projections, atol=1e-12 * size.max() * np.sqrt(a.target_energy))
            np.testing.assert_allclose([b.target_energy, b.n_samples], [a.target_energy, a.n_samples], rtol=1e-12)
            np.testing.assert_allclose(other.design.means(np.arange(3)), one.design.means(np.arange(3)), rtol=1e-10, atol=1e-13)
        np.testing.assert_array_equal(by_rows.left_out.targets, added.left_out.targets)


@pytest.mark.parametrize("basis", [KernelBasis(gamma=0.3), KernelBasis("precomputed")])
def test_refits_have_no_kernel_at_left_out_rows(basis):
    kernel = np.exp(-0.3 * ((X[:60, None] - X[None, :60]) ** 2).sum(axis=2))
    inputs = kernel if basis.kernel == "precomputed" else X[:60]
    design = InMemoryDesign(basis.fit(inputs), Rows(inputs, X[:60, :1]))
    splits = hashed_splits(design)
    for (fitted, left_out), part in zip(splits, parts(design, splits), strict=True):
        evaluation = part.design.candidates.on(inputs)
        every = np.arange(60)
        np.testing.assert_array_equal(evaluation.columns(left_out), 0.0)
        np.testing.assert_allclose(evaluation.columns(fitted), kernel[:, fitted])
        filled = np.empty((60, 60))
        evaluation.fill(slice(0, 60), slice(0, 60), filled)
        np.testing.assert_allclose(filled, evaluation.columns(every))
        product, squares = evaluation.project(X[:60], np.ones(60))
        np.testing.assert_allclose(product, filled.T @ X[:60], atol=1e-12)
        np.testing.assert_allclose(squares, (filled**2).sum(axis=0))


def test_centers_that_are_no_rows_stay():
    basis = KernelBasis(gamma=0.3, centers=np.zeros((4, 3)) + np.arange(4.0)[:, None])
    design = design_of(basis)
    for part in parts(design, hashed_splits(design)):
        assert part.design.candidates is design.candidates
