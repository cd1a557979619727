import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from skarce import KernelBasis
from skarce.basis.kernel_basis import distinct_rows
from skarce.basis.kernels import DISTANCE_KERNELS, PRODUCT_KERNELS
from tests.oracles import rbf

KERNELS = [*DISTANCE_KERNELS, *PRODUCT_KERNELS]


def reference(name, X, C, gamma):
    """Every kernel by another road: scikit-learn's where it has it, the formula where it has not."""
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


def test_integer_and_numpy_gamma(rng):
    X = rng.normal(size=(10, 2))
    expected = rbf(X, X, 2.0)
    for gamma in (2, 2.0, np.float32(2), np.int64(2)):
        np.testing.assert_allclose(KernelBasis(gamma=gamma).fit(X).transform(X), expected)


def test_scale_and_median_count_weights_as_rows(rng):
    X, weights = rng.normal(size=(12, 2)), rng.integers(0, 4, 12)
    repeated = np.repeat(X, weights, axis=0)
    for rule in ("scale", "median"):
        weighted = KernelBasis(gamma=rule).fit(X, sample_weight=weights)
        plain = KernelBasis(gamma=rule).fit(repeated)
        np.testing.assert_allclose(weighted.gamma_, plain.gamma_)
        np.testing.assert_array_equal(weighted.centers_, plain.centers_)
    np.testing.assert_allclose(KernelBasis().fit(X).gamma_, 1 / (2 * X.var()))
    distances = cdist(X, X, "sqeuclidean")[np.triu_indices(12, 1)]
    assert KernelBasis(gamma="median").fit(X).gamma_ == pytest.approx(1 / np.sort(distances)[(len(distances) - 1) // 2])


def test_centers_are_the_distinct_inputs_of_positive_weight():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [3.0, 0.0]])
    basis = KernelBasis().fit(X, sample_weight=[1, 1, 1, 0])
    np.testing.assert_array_equal(basis.centers_, [[1, 0], [2, 0]])
    np.testing.assert_array_equal(basis.center_indices_, [0, 1])


def test_distinct_rows_compares_rows_where_hashes_meet(rng):
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
        ({"gamma": "auto"}, "gamma must be a number"),
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


@pytest.mark.parametrize("transformer", [PolynomialFeatures(2), SplineTransformer()])
def test_any_transformer_can_be_evaluated_in_part(rng, transformer):
    from skarce.basis import fit_basis

    X = rng.uniform(size=(2000, 2))
    candidates = fit_basis(transformer, X, None, None)
    phi = transformer.fit_transform(X)
    right, weights = rng.normal(size=(2000, 3)), rng.uniform(size=2000)
    evaluation = candidates.on(X)
    products, squares = evaluation.project(right, weights)
    np.testing.assert_allclose(products, phi.T @ right, atol=1e-9)
    np.testing.assert_allclose(squares, weights @ phi**2)
    np.testing.assert_allclose(evaluation.columns(np.array([2, 0]), slice(3, 9)), phi[3:9][:, [2, 0]])
    np.testing.assert_allclose(candidates.select([2, 0]).transform(X), phi[:, [2, 0]])
    assert list(candidates.select([2, 0]).get_feature_names_out()) == list(transformer.get_feature_names_out()[[2, 0]])
