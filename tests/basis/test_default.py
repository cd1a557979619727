"""What the names of bases stand for, and what ``gamma="learned"`` learns."""

import numpy as np
import pytest

from skarce import KernelBasis
from skarce.basis import check_basis
from skarce.basis.default import NAMES, basis_for_nested, named_basis, stands_for_kernels
from skarce.basis.widths import FLATNESS, LEARNING_ROWS, MOST_OWN_WIDTHS, scale_gamma
from skarce.model_selection import learn_widths


def same(first, second):
    return repr(first) == repr(second)  # scikit-learn shows every parameter that is not at its default


def test_names():
    assert same(named_basis("auto"), KernelBasis("auto", gamma="learned"))
    assert same(named_basis("rbf"), KernelBasis())
    assert named_basis("passthrough") is None
    assert all(same(check_basis(name), named_basis(name)) for name in NAMES)
    assert [stands_for_kernels(basis) for basis in (*NAMES, "x", None, KernelBasis())] == [True, True, *4 * [False]]


@pytest.mark.parametrize(
    ("name", "nested", "expected"),
    [
        ("auto", {"centers": 20}, KernelBasis("auto", gamma="learned")),
        ("auto", {"gamma": "ard"}, KernelBasis("auto", gamma="learned")),
        ("auto", {"gamma": 0.5}, KernelBasis()),
        ("auto", {"gamma": [0.5, 1.0]}, KernelBasis()),
        ("auto", {"gamma": "scale", "centers": 20}, KernelBasis()),
        ("auto", {"kernel": "matern32"}, KernelBasis("auto", gamma="learned")),
        ("auto", {"kernel": "matern32", "gamma": 0.5}, KernelBasis("auto", gamma="learned")),
        ("rbf", {"centers": 20}, KernelBasis()),
        ("rbf", {"gamma": "ard"}, KernelBasis()),
    ],
)
def test_what_nested_parameters_are_set_on(name, nested, expected):
    assert same(basis_for_nested(name, nested), expected)


@pytest.mark.parametrize(("n_inputs", "rule"), [(2, "ard"), (MOST_OWN_WIDTHS, "ard"), (MOST_OWN_WIDTHS + 1, "evidence")])
def test_each_of_few_inputs_has_its_own_width(n_inputs, rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, n_inputs))
    y = X[:, 0] + 0.1 * rng.normal(size=50)
    basis = KernelBasis("auto", gamma="learned", width_params={"max_iter": 3}).fit(X, y)
    expected = learn_widths(X, y, kernel="auto", gamma=rule, covariance="kernel", max_iter=3, flatness=FLATNESS)
    assert basis.kernel_ == expected.kernel
    np.testing.assert_array_equal(basis.gamma_, expected.gamma)


def test_few_of_many_rows_are_enough():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(LEARNING_ROWS + 1, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))
    options = {"covariance": "kernel", "max_iter": 3, "flatness": FLATNESS}
    learned = KernelBasis(gamma="learned", width_params={"max_iter": 3}).fit(X, y).gamma_
    assert learned == learn_widths(X, y, max_rows=LEARNING_ROWS, **options).gamma
    more = KernelBasis(gamma="learned", width_params={"max_iter": 3, "max_rows": len(X)}).fit(X, y).gamma_
    assert more == learn_widths(X, y, max_rows=len(X), **options).gamma != learned


@pytest.mark.parametrize("kernel", ["polynomial", lambda A, B: A @ B.T])
def test_a_kernel_whose_width_cannot_be_learned_has_that_of_the_rule(kernel):
    X = np.random.default_rng(0).normal(size=(20, 2))
    basis = KernelBasis(kernel, gamma="learned")
    assert not basis.learns_width
    assert basis.fit(X).gamma_ == scale_gamma(X, None)


def test_a_given_prior_of_the_weights_is_kept():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (40, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)
    basis = KernelBasis(gamma="learned").fit_checked(X, None, y, weight_variance=2.0)
    np.testing.assert_array_equal(basis.gamma_, learn_widths(X, y, weight_variance=2.0, flatness=FLATNESS).gamma)
