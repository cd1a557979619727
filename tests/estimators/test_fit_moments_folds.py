"""Sums by folds let `fit_moments` calibrate the std, as `fit` does on row blocks."""

import pickle
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from skarce import KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.designs import RowBlocks
from skarce.moments import FoldSums, block_sums
from skarce.moments.folds import N_FOLDS, fold_numbers
from tests.estimator_lists import REGRESSORS

N = 300
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
KERNELS = KernelBasis(gamma=1.0, centers=RNG.normal(size=(30, 2)))
BASES = {"kernels": KERNELS, "passthrough": "passthrough", "transformer": PolynomialFeatures(2, include_bias=False)}


def fitted(basis):
    return basis if isinstance(basis, str) else clone(basis).fit(X)


def parts(basis, targets=Y, weights=None, n_blocks=4):
    places = np.array_split(np.arange(N), n_blocks)
    return [block_sums(basis, X[at], targets[at], None if weights is None else weights[at], folds=True) for at in places]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda estimator: estimator.__name__)
def test_the_std_is_that_of_row_blocks(estimator, name, weights):
    model = estimator(BASES[name], calibrate_std=True)
    expected = clone(model).fit(RowBlocks.from_arrays(X, Y, weights, block_rows=77))
    basis = fitted(BASES[name])
    found = clone(model).fit_moments(basis, sum(parts(basis, weights=weights)))
    assert found.std_scale_ == pytest.approx(expected.std_scale_, rel=1e-6)
    assert found.std_scale_ != 1.0
    for one, other in zip(found.predict(X, return_std=True), expected.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-6 * Y.std())


def test_several_targets_have_a_factor_each():
    targets = np.column_stack([Y, RNG.normal(size=N)])
    model = VBLSRegressor("passthrough", calibrate_std=True)
    found = clone(model).fit_moments("passthrough", sum(parts("passthrough", targets)))
    expected = clone(model).fit(RowBlocks.from_arrays(X, targets, block_rows=77))
    np.testing.assert_allclose(found.std_scale_, expected.std_scale_, rtol=1e-8)


def test_kernels_at_rows_of_a_fold_leave_with_it():
    model = RelevanceVectorRegressor(KernelBasis(gamma=4.0, centers=80, random_state=0), calibrate_std=True)
    expected = clone(model).fit(RowBlocks.from_arrays(X, Y, block_rows=50))
    basis = model.fitted_basis(X, Y)
    assert clone(model).fit_moments(basis, sum(parts(basis))).std_scale_ == pytest.approx(expected.std_scale_, rel=1e-6)
    assert expected.std_scale_ < 2.0  # it would be above 8 if kernels at left-out rows stayed


def test_auto_follows_the_rule_of_the_other_ways_in():
    """Learned widths are calibrated up to 50,000 rows, and given ones are not. The basis of the sums tells."""
    learning = RelevanceVectorRegressor(random_state=0)
    basis = learning.fitted_basis(X, Y)
    expected = clone(learning).fit(RowBlocks.from_arrays(X, Y, block_rows=64)).std_scale_
    for parameter in ("auto", "passthrough"):
        found = RelevanceVectorRegressor(parameter).fit_moments(basis, sum(parts(basis)))
        assert found.std_scale_ == pytest.approx(expected, rel=1e-6)
        assert found.std_scale_ != 1.0
    many = sum(parts(basis, weights=np.full(N, 60_000 / N)))
    assert RelevanceVectorRegressor().fit_moments(basis, many).std_scale_ == 1.0
    assert RelevanceVectorRegressor(calibrate_std=True).fit_moments(basis, many).std_scale_ != 1.0
    assert RelevanceVectorRegressor(calibrate_std=False).fit_moments(basis, sum(parts(basis))).std_scale_ == 1.0
    given = fitted(KERNELS)
    assert RelevanceVectorRegressor().fit_moments(given, sum(parts(given))).std_scale_ == 1.0


def test_folds_add_up_in_any_order_and_are_those_of_the_hashes():
    basis, numbers = fitted(KERNELS), fold_numbers(X)
    whole, blocks = block_sums(basis, X, Y, WEIGHTS, folds=True), parts(basis, weights=WEIGHTS)
    empty = block_sums(basis, X[:0], Y[:0], folds=True)
    for total in (sum(blocks), reduce(add, blocks[::-1]), FoldSums.total([*blocks, empty]), pickle.loads(pickle.dumps(whole))):
        assert total.n_samples == WEIGHTS.sum()
        for fold in range(N_FOLDS):
            rows = numbers == fold
            expected = block_sums(basis, X[rows], Y[rows], WEIGHTS[rows])
            found = total.folds[fold]
            assert (found.n_samples, found.made_with) == (expected.n_samples, expected.made_with)
            np.testing.assert_allclose(found.gram, expected.gram, rtol=0.0, atol=1e-12 * np.abs(expected.gram).max())
    assert repr(whole) == f"FoldSums(5 folds of Sums({WEIGHTS.sum():g} rows, 30 candidates, 1 target))"


def test_rows_of_frames_and_transformers_are_in_the_folds_of_their_inputs():
    table = pd.DataFrame(X, columns=["p", "q"])
    basis = PolynomialFeatures(2).fit(table)
    found = block_sums(basis, table, Y, folds=True)
    expected = [block_sums(basis, table[fold_numbers(X) == fold], Y[fold_numbers(X) == fold]) for fold in range(N_FOLDS)]
    for one, other in zip(found.folds, expected, strict=True):
        np.testing.assert_allclose(one.gram, other.gram, rtol=1e-12, atol=1e-12)


def test_sums_with_and_without_folds_are_not_mixed():
    basis = fitted(KERNELS)
    with_folds, without = block_sums(basis, X, Y, folds=True), block_sums(basis, X, Y)
    for first, second in ((with_folds, without), (without, with_folds)):
        with pytest.raises(TypeError, match="with the same folds= for all blocks"):
            first + second
    with pytest.raises(TypeError, match="unsupported operand"):
        with_folds + 1
    other = fitted(KernelBasis(gamma=2.0, centers=KERNELS.centers))
    with pytest.raises(ValueError, match="made with different kernels or columns"):
        with_folds + block_sums(other, X, Y, folds=True)
    with pytest.raises(ValueError, match="the sums were made with another basis"):
        VBLSRegressor().fit_moments(other, with_folds)
    with pytest.raises(ValueError, match="the sums are over no rows"):
        VBLSRegressor().fit_moments("passthrough", FoldSums.empty(2, 1))
    with pytest.raises(ValueError, match="sums without folds"):
        VBLSRegressor(calibrate_std=True).fit_moments(basis, without)


def test_later_batches_go_on_without_folds():
    """A batch does not say what its folds are, so the std of the sums before it is no longer that of the model."""
    model = VBLSRegressor("passthrough", restarts="always").fit_moments("passthrough", sum(parts("passthrough")[:2]))
    calibrated = clone(model).set_params(calibrate_std=True).fit_moments("passthrough", sum(parts("passthrough")[:2]))
    assert calibrated.std_scale_ != 1.0
    later = calibrated.set_params(calibrate_std=False).partial_fit(X[N // 2 :], Y[N // 2 :])
    np.testing.assert_allclose(later.coef_, model.partial_fit(X[N // 2 :], Y[N // 2 :]).coef_, rtol=1e-9)
    assert later.std_scale_ == 1.0
    with pytest.raises(ValueError, match="sums without folds"):
        later.set_params(calibrate_std=True).partial_fit(X, Y)
