import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from skarce import (
    KernelBasis,
)
from skarce.basis.centers import distinct_rows
from tests.oracles import rbf


def test_integer_and_numpy_gamma(rng):
    X = rng.normal(size=(10, 2))
    expected = rbf(X, X, 2.0)
    for gamma in (2, 2.0, np.float32(2), np.int64(2)):
        np.testing.assert_allclose(KernelBasis(gamma=gamma).fit(X).transform(X), expected)


def test_centers_are_the_distinct_inputs_of_positive_weight():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [3.0, 0.0]])
    basis = KernelBasis().fit(X, sample_weight=[1, 1, 1, 0])
    np.testing.assert_array_equal(basis.centers_, [[1, 0], [2, 0]])
    np.testing.assert_array_equal(basis.center_indices_, [0, 1])


def test_distinct_rows_compares_rows_if_their_hashes_are_equal(rng):
    X = rng.integers(0, 3, size=(200, 3)).astype(float)
    first = distinct_rows(X)
    assert len(first) == len(np.unique(X, axis=0))
    for row in first:
        assert not (X[:row] == X[row]).all(axis=1).any()


def test_landmarks_are_rows_and_seeded(rng):
    X = rng.normal(size=(300, 2))
    basis = KernelBasis(centers=20, random_state=1).fit(X)
    again = KernelBasis(centers=20, random_state=1).fit(X)
    np.testing.assert_array_equal(basis.centers_, again.centers_)
    np.testing.assert_array_equal(basis.centers_, X[basis.center_indices_])
    assert len(np.unique(basis.centers_, axis=0)) == 20
    assert KernelBasis(centers=1000).fit(X).centers_.shape == (300, 2)


def test_select_keeps_members_and_names(rng):
    X = rng.normal(size=(20, 3))
    basis = KernelBasis(gamma=0.2).fit(X)
    some = basis.select([7, 3])
    np.testing.assert_allclose(some.transform(X), basis.transform(X)[:, [7, 3]], rtol=1e-13)
    assert list(some.get_feature_names_out()) == ["rbf7", "rbf3"]
    assert list(some.select([1]).get_feature_names_out()) == ["rbf3"]
    assert some.centers_.base is None or not np.shares_memory(some.centers_, basis.centers_)
    clone(some)


def test_callable_kernel_with_parameters(rng):
    X = rng.normal(size=(10, 2))
    basis = KernelBasis(lambda A, B, power: (A @ B.T) ** power, kernel_params={"power": 2}).fit(X)
    np.testing.assert_allclose(basis.transform(X[:3]), (X[:3] @ X.T) ** 2)
    with pytest.raises(ValueError, match=r"must return shape \(4, 10\)"):
        KernelBasis(lambda A, B: np.zeros((1, 1))).fit(X).transform(X[:4])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbv"}, "kernel must be one of"),
        ({"gamma": "wide"}, "gamma must be a number"),
        ({"gamma": -1.0}, "positive and finite"),
        ({"gamma": True}, "gamma"),
        ({"gamma": [1.0, 2.0, 3.0]}, "one entry for each of the 2 inputs"),
        ({"gamma": [1.0, -2.0]}, "must not be negative"),
        ({"gamma": [1.0, 2.0], "kernel": "polynomial"}, "one gamma per input is for"),
        ({"centers": 0}, "at least 1"),
        ({"centers": np.zeros((3, 5))}, "centers must have 2 columns"),
        ({"kernel": "precomputed"}, "square kernel matrix"),
    ],
)
def test_wrong_parameters_are_named(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelBasis(**parameters).fit(rng.normal(size=(10, 2)))


def basis_checks_that_cannot_hold(basis):
    reason = "columns follow the order of the rows, and the check shuffles the rows"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks([KernelBasis(), KernelBasis(gamma="ard")], expected_failed_checks=basis_checks_that_cannot_hold)
def test_scikit_learn_checks_of_the_basis(estimator, check):
    check(estimator)


@pytest.mark.parametrize("far", [1e154, -1e300])
def test_kernels_of_products_say_where_they_overflow(far):
    basis = KernelBasis("polynomial").fit(np.ones((2, 1)))
    with np.errstate(all="raise"), pytest.raises(ValueError, match="row 1 of X are too large"):
        basis.transform([[1.0], [far]])
