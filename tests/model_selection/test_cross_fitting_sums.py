"""Refits from sums of folds, against the same refits from the rows of these folds."""

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from skarce import FastGCVRegressor, KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.designs import InMemoryDesign, RowBlocks, Rows
from skarce.designs.fold_sums import centers_in_fold
from skarce.designs.folds import hashed_splits, parts
from skarce.model_selection.cross_fitting_sums import squared_errors, total_variance
from skarce.moments import FoldSums, block_sums
from skarce.moments.folds import N_FOLDS, fold_numbers

N = 200
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
CENTERS = RNG.normal(size=(30, 2))  # none of them is a row
KERNELS = KernelBasis(gamma=1.0, centers=CENTERS)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_sums_of_folds_are_those_of_their_rows(weights):
    basis = clone(KERNELS).fit(X)
    numbers = fold_numbers(X)
    parts = [
        block_sums(basis, X[rows], Y[rows], None if weights is None else weights[rows], folds=True)
        for rows in (slice(0, 70), slice(70, N))
    ]
    for fold, found in enumerate(FoldSums.total(parts).folds):
        rows = numbers == fold
        expected = block_sums(basis, X[rows], Y[rows], None if weights is None else weights[rows])
        assert found.n_samples == expected.n_samples
        np.testing.assert_allclose(found.gram, expected.gram, atol=1e-12 * np.abs(expected.gram).max())
        np.testing.assert_allclose(found.projections, expected.projections, atol=1e-12 * np.abs(expected.projections).max())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_errors_and_variances_add_up_over_rows(weights, fit_intercept):
    model = RelevanceVectorRegressor(KERNELS, calibrate_std=False, fit_intercept=fit_intercept).fit(X[:100], Y[:100])
    posterior, counts = model.posterior_, np.ones(N) if weights is None else weights
    sums = block_sums(clone(KERNELS).fit(X), X, Y, weights)
    assert squared_errors(posterior, sums, 0) == pytest.approx(counts @ (Y - model.predict(X)) ** 2, rel=1e-9)
    assert total_variance(posterior, sums) == pytest.approx(counts @ model.predict(X, return_std=True)[1] ** 2, rel=1e-9)


def scale_by_hand(model, weights):
    """The root of squared errors of fits to other folds, over variances of the whole model as if it had not seen these rows."""
    numbers, counts = fold_numbers(X), np.ones(N) if weights is None else weights
    whole = clone(model).set_params(calibrate_std=False).fit(X, Y, weights)
    posterior, phi = whole.posterior_, clone(KERNELS).fit(X).transform(X)[:, whole.active_]
    squares = variances = 0.0
    for fold in range(N_FOLDS):
        out, rest = numbers == fold, numbers != fold
        refit = clone(model).set_params(calibrate_std=False).fit(X[rest], Y[rest], counts[rest])
        squares += counts[out] @ (Y[out] - refit.predict(X[out])) ** 2
        total = counts[rest].sum()
        center = counts[rest] @ phi[rest] / total
        inner = (phi[rest] - center).T @ (counts[rest, None] * (phi[rest] - center)) + np.diag(posterior.ridges)
        away = phi[out] - center
        relative = 1.0 + 1.0 / total + np.einsum("ij,jk,ik->i", away, np.linalg.inv(inner), away)
        variances += counts[out] @ (posterior.noise_variance * relative)
    square = squares / variances
    n = counts.sum()
    return np.sqrt(square if square >= 1.0 else (n * square + 10.0) / (n + 10.0))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("estimator", [RelevanceVectorRegressor, VBLSRegressor, FastGCVRegressor])
def test_the_factor_is_that_of_refits_by_hand(estimator, weights):
    model = estimator(KERNELS, moments="whole", calibrate_std=True)
    expected = scale_by_hand(model, weights)
    blocks = RowBlocks.from_arrays(X, Y, weights, block_rows=33)
    lazy = (
        da.from_array(X, chunks=(60, 2)),
        da.from_array(Y, chunks=60),
        None if weights is None else da.from_array(weights, chunks=60),
    )
    for data in ((blocks,), lazy):
        assert clone(model).fit(*data).std_scale_ == pytest.approx(expected, rel=1e-5)


def test_the_factor_is_near_that_of_single_rows():
    """Mean of squared errors over variances, or mean of squares over mean of variances: nearly the same inside of the data."""
    model = RelevanceVectorRegressor(KernelBasis(gamma=4.0, centers=80, random_state=0), calibrate_std=True)
    in_memory, blocks = clone(model).fit(X, Y), clone(model).fit(RowBlocks.from_arrays(X, Y, block_rows=50))
    assert in_memory.std_scale_ > 1.05
    assert blocks.std_scale_ == pytest.approx(in_memory.std_scale_, rel=0.05)


def test_a_refit_has_no_kernel_at_a_row_that_it_has_not_seen():
    basis = KernelBasis(gamma=1.0, centers=40, random_state=0).fit(X)
    total = block_sums(basis, X, Y)
    found = np.concatenate([centers_in_fold(basis, fold, total) for fold in range(N_FOLDS)])
    np.testing.assert_array_equal(np.sort(found), np.arange(40))
    for fold in range(N_FOLDS):
        places = basis.center_indices_[centers_in_fold(basis, fold, total)]
        assert (fold_numbers(X)[places] == fold).all()
    given = clone(KERNELS).fit(X)
    assert not len(centers_in_fold(given, 0, block_sums(given, X, Y)))  # these centers are no rows


@pytest.mark.parametrize("gamma", [0.1, 0.8, 1e4])
def test_few_kernels_stay_if_they_reach_many_rows(gamma):
    """In memory and in sums: a kernel stays if its squares over all rows are at least ten times that at its center."""
    basis = KernelBasis(gamma=gamma, centers=20, random_state=0).fit(X)
    reach = np.exp(-2.0 * gamma * ((X[:, None] - basis.centers_) ** 2).sum(axis=2)).sum(axis=0)
    stays = reach >= 10.0
    assert stays.sum() == {0.1: 20, 1e4: 0}.get(gamma, stays.sum())
    assert gamma != 0.8 or 0 < stays.sum() < 20
    total = block_sums(basis, X, Y)
    leaving = np.concatenate([centers_in_fold(basis, fold, total) for fold in range(N_FOLDS)])
    np.testing.assert_array_equal(np.sort(leaving), np.flatnonzero(~stays))
    design = InMemoryDesign(basis, Rows(X, Y[:, None]))
    zero = [
        np.flatnonzero(~part.design.candidates.on(X).columns(np.arange(20)).any(axis=0))
        for part in parts(design, hashed_splits(design))
    ]
    np.testing.assert_array_equal(np.sort(np.concatenate(zero)), np.flatnonzero(~stays))


def test_a_few_wide_kernels_are_no_reason_to_doubt_the_std():
    """The same centers as rows and a hair beside them: the model is the same, and so is the factor."""
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-3, 3, (3000, 2))
    targets = 2.0 * np.sin(inputs[:, 0]) + rng.normal(0, 0.2, 3000)
    scales = [
        RelevanceVectorRegressor(KernelBasis(gamma=0.3, centers=inputs[:40] + aside), calibrate_std=True)
        .fit(inputs, targets)
        .std_scale_
        for aside in (0.0, 1e-7)
    ]
    assert scales[0] == pytest.approx(scales[1], rel=1e-3)
    assert scales[0] < 1.03


def test_auto_calibrates_learned_widths_in_blocks_too():
    blocks = RowBlocks.from_arrays(X, Y, block_rows=64)
    assert RelevanceVectorRegressor(random_state=0).fit(blocks).std_scale_ != 1.0
    assert RelevanceVectorRegressor(KERNELS).fit(blocks).std_scale_ == 1.0


def test_rows_that_are_all_equal_have_no_split():
    same = np.ones((50, 2))
    with pytest.warns(UserWarning, match="equal rows are left out together"):
        VBLSRegressor(calibrate_std=True).fit(RowBlocks.from_arrays(same, RNG.normal(size=50)))


def test_sums_without_candidates_of_a_fold_are_whole():
    whole = block_sums(clone(KERNELS).fit(X), X, Y, folds=True).whole()
    np.testing.assert_allclose(whole.gram, block_sums(clone(KERNELS).fit(X), X, Y).gram, atol=1e-10)
