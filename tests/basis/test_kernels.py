"""Kernels against their formulas."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise
from sklearn.svm import SVR

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.basis.kernels import DISTANCE_KERNELS, PRODUCT_KERNELS

KERNELS = [*DISTANCE_KERNELS, *PRODUCT_KERNELS]


def reference(name, X, C, gamma):
    """Every kernel by another road: scikit-learn's if it has one, else the formula."""
    s = np.sqrt(2 * gamma) * cdist(X, C)
    return {
        "rbf": lambda: pairwise.rbf_kernel(X, C, gamma=gamma),
        "laplacian": lambda: pairwise.laplacian_kernel(X, C, gamma=gamma),
        "matern32": lambda: (1 + np.sqrt(3) * s) * np.exp(-np.sqrt(3) * s),
        "matern52": lambda: (1 + np.sqrt(5) * s + 5 * s**2 / 3) * np.exp(-np.sqrt(5) * s),
        "polynomial": lambda: pairwise.polynomial_kernel(X, C, degree=3, gamma=gamma, coef0=1.0),
        "linear": lambda: pairwise.linear_kernel(X, C),
        "sigmoid": lambda: pairwise.sigmoid_kernel(X, C, gamma=gamma, coef0=1.0),
        "cosine": lambda: pairwise.cosine_similarity(X, C),
    }[name]()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [5, 1000])
def test_kernels_agree_with_their_formulas(rng, name, n):
    X, C = rng.normal(size=(n, 3)) + 4.0, rng.normal(size=(37, 3)) + 4.0
    basis = KernelBasis(name, gamma=0.3, centers=C).fit(X)
    np.testing.assert_allclose(basis.transform(X), reference(name, X, C, 0.3), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(basis.make_kernel().diagonal(X[:5]), np.diag(reference(name, X[:5], X[:5], 0.3)), rtol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_single_precision_stays_single_in_the_kernel(rng, name):
    X = rng.normal(size=(50, 3)).astype(np.float32)
    basis = KernelBasis(name, gamma=0.3).fit(X)
    evaluation = basis.on(X)
    assert evaluation.dtype == np.float32
    block = np.full((50, 50), np.nan, dtype=np.float32)
    evaluation.fill(slice(0, 50), slice(0, 50), block)
    np.testing.assert_allclose(block, reference(name, X.astype(float), X.astype(float), 0.3), rtol=1e-4, atol=1e-5)
    assert basis.transform(X).dtype == np.float64


def test_poly_is_another_name_of_polynomial(rng):
    X = rng.normal(size=(40, 3))
    short, long = (KernelBasis(name, gamma=0.5, degree=2, coef0=0.3).fit(X) for name in ("poly", "polynomial"))
    assert (short.kernel, short.kernel_) == ("poly", "polynomial")
    np.testing.assert_array_equal(short.transform(X), long.transform(X))
    assert list(short.get_feature_names_out()[:2]) == ["polynomial0", "polynomial1"]
    with pytest.raises(ValueError, match=r"KernelBasis\('poly'\)"):
        RelevanceVectorRegressor("poly").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="every polynomial kernel"):
        KernelBasis("poly", gamma=1e-300, coef0=0.0).fit(X)


def test_auto_gamma_is_one_over_the_number_of_inputs(rng):
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    for kernel in ("rbf", "laplacian", "poly", "sigmoid"):
        basis = KernelBasis(kernel, gamma="auto").fit(7.0 * X)
        assert basis.gamma_ == 1.0 / 5.0
        assert not basis.learns_width
    np.testing.assert_allclose(
        KernelBasis(gamma="auto").fit(X).transform(X), pairwise.rbf_kernel(X, gamma=SVR(gamma="auto").fit(X, y)._gamma)
    )


@pytest.mark.parametrize("name", DISTANCE_KERNELS)
def test_one_gamma_per_input_scales_the_inputs(rng, name):
    X, gammas = rng.normal(size=(20, 3)), np.array([0.0, 0.5, 3.0])
    scales = gammas if name == "laplacian" else np.sqrt(gammas)
    whole = KernelBasis(name, gamma=1.0, centers=X * scales).fit(X * scales).transform(X * scales)
    np.testing.assert_allclose(KernelBasis(name, gamma=gammas, centers=X).fit(X).transform(X), whole, atol=1e-12)


def test_far_from_the_origin_distances_keep_their_digits(rng):
    X = rng.normal(size=(30, 2))
    near, far = KernelBasis(gamma=1.0).fit(X), KernelBasis(gamma=1.0).fit(X + 1e6)
    np.testing.assert_allclose(far.transform(X + 1e6), near.transform(X), atol=1e-8)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.nan, "returned nan; every kernel must be finite"),
        (np.inf, "returned inf; every kernel must be finite"),
        (1j, "must return real numbers, got an array of type complex128"),
        (None, "must return real numbers, got an array of type object"),
    ],
)
def test_a_kernel_function_returns_finite_real_numbers(values, message):
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor(KernelBasis(lambda X, C: np.full((len(X), len(C)), values))).fit(X, y)


def test_a_kernel_function_is_checked_in_predictions_too():
    X, factor = np.arange(12.0)[:, None], [1.0]
    model = RelevanceVectorRegressor(KernelBasis(lambda X, C: factor[0] * np.exp(-0.1 * (X - C.T) ** 2))).fit(X, np.sin(X[:, 0]))
    factor[0] = np.nan
    with pytest.raises(ValueError, match="every kernel must be finite"):
        model.predict(X)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern32", "matern52"])
def test_scale_and_median_do_not_depend_on_units(name):
    X = np.random.default_rng(0).normal(size=(30, 2))
    for gamma in ("scale", "median"):
        first, second = (KernelBasis(name, gamma=gamma, random_state=0).fit_transform(X * factor) for factor in (1.0, 2.0**100))
        np.testing.assert_allclose(first, second, rtol=1e-12)
