"""Sparse matrices as X of linear models: the same models as dense ones, without a dense copy."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

import skarce
from skarce import (
    CriterionSearch,
    EvidenceRegressor,
    FastGCVRegressor,
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from tests.estimator_lists import LATENT, REGRESSORS
from tests.problems import random_sparse

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sparse_problem(seed=0, n=120, m=15):
    """Sparse columns, a dense one with a large mean, and a constant one."""
    rng = np.random.default_rng(seed)
    X = random_sparse((n, m), 0.2, rng).toarray()
    X[:, 3] = 1000.0 + rng.normal(size=n)
    X[:, 5] = 2.0
    latent = 2.0 * X[:, 0] - 3.0 * X[:, 1] + 0.5 * (X[:, 3] - 1000.0)
    return X, latent, rng


def targets_of(estimator, latent, rng):
    noisy = latent + 0.1 * rng.normal(size=len(latent))
    if isinstance(estimator, RelevanceVectorPoissonRegressor):
        return rng.poisson(np.exp(latent)).astype(float)
    if is_classifier(estimator):
        return (latent + rng.normal(size=len(latent)) > 0.0).astype(int)
    return noisy


LINEAR = [estimator("passthrough") for estimator in (*REGRESSORS, *LATENT)] + [
    RelevanceVectorRegressor("passthrough", moments="columns"),
    RelevanceVectorRegressor("passthrough", moments="columns", fit_intercept=False),
    RelevanceVectorRegressor("passthrough", moments="whole", fit_intercept=False, calibrate_std=True),
    EvidenceRegressor("passthrough", moments="columns"),
    FastGCVRegressor("passthrough", moments="columns", calibrate_std=True),
    VBLSRegressor("passthrough", noise="student-t"),
    VBLSRegressor("passthrough", solver="em", moments="columns"),
    VBLSRegressor("passthrough", prior="shared", moments="columns"),
    RelevanceVectorClassifier("passthrough", solver="em"),
    RelevanceVectorClassifier("passthrough", fit_intercept=False, calibrate_proba=True),
    RelevanceVectorPoissonRegressor("passthrough", solver="em", calibrate_proba=True),
]


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(one.active_, other.active_)
    scale = np.abs(other.coef_).max(initial=1e-300)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-7 * scale)
    np.testing.assert_allclose(one.coef_std_, other.coef_std_, rtol=1e-6, atol=1e-9 * scale)
    for name in ("std_scale_", "temperature_"):
        assert getattr(one, name, 1.0) == pytest.approx(getattr(other, name, 1.0), rel=1e-6)
    for asked in ("predict", "predict_proba", "latent", "predict_interval", "decision_function"):
        if hasattr(other, asked):
            np.testing.assert_allclose(getattr(one, asked)(sparse.csr_array(X)), getattr(other, asked)(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("estimator", LINEAR, ids=str)
def test_sparse_inputs_give_the_model_of_dense_ones(estimator, is_weighted):
    X, latent, rng = sparse_problem()
    y = targets_of(estimator, latent, rng)
    weights = rng.integers(0, 4, len(y)).astype(float) if is_weighted else None
    dense = skarce_clone(estimator).fit(X, y, sample_weight=weights)
    for make in (sparse.csr_array, sparse.coo_matrix):
        assert_same_model(skarce_clone(estimator).fit(make(X), y, sample_weight=weights), dense, X)


def skarce_clone(estimator):
    return type(estimator)(**estimator.get_params(deep=False))


@pytest.mark.parametrize("estimator", [type(e) for e in LINEAR[: len(REGRESSORS)]])
def test_std_of_sparse_rows_is_that_of_dense_ones(estimator):
    X, latent, rng = sparse_problem()
    y = np.column_stack([latent, -latent]) + 0.1 * rng.normal(size=(len(X), 2))
    one, other = estimator("passthrough").fit(sparse.csc_array(X), y), estimator("passthrough").fit(X, y)
    for left, right in zip(one.predict(sparse.csr_matrix(X), return_std=True), other.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-7)


def test_duplicates_and_stored_zeros_of_a_sparse_matrix_do_not_matter():
    X, latent, _ = sparse_problem()
    rows, columns = np.indices(X.shape).reshape(2, -1)
    halves = 0.5 * X[rows, columns]
    indices, data = np.tile(columns.reshape(X.shape), 2), np.tile(halves.reshape(X.shape), 2)
    twice = sparse.csr_array((data.ravel(), indices.ravel(), np.arange(0, data.size + 1, 2 * X.shape[1])), shape=X.shape)
    assert twice.nnz == 2 * X.size
    one, other = RelevanceVectorRegressor("passthrough").fit(twice, latent), RelevanceVectorRegressor("passthrough").fit(X, latent)
    assert_same_model(one, other, X)
    np.testing.assert_allclose(one.predict(twice), other.predict(X), rtol=1e-6, atol=1e-7)


def test_a_sparse_matrix_stays_as_it_was():
    X, latent, _ = sparse_problem()
    # Columns of each row in descending order: valid, but not canonical.
    given = sparse.csr_array(X)[:, ::-1]
    given = sparse.csr_array((given.data, X.shape[1] - 1 - given.indices, given.indptr), shape=X.shape)
    data, indices = given.data.copy(), given.indices.copy()
    RelevanceVectorRegressor("passthrough").fit(given, latent).predict(given, return_std=True)
    np.testing.assert_array_equal(given.data, data)
    np.testing.assert_array_equal(given.indices, indices)


def test_batches_of_sparse_rows_give_the_model_of_all_rows():
    X, latent, rng = sparse_problem()
    y = latent + 0.1 * rng.normal(size=len(X))
    stream = RelevanceVectorRegressor("passthrough")
    for part in (slice(0, 50), slice(50, 51), slice(51, None)):
        stream.partial_fit(sparse.csr_array(X[part]), y[part])
    whole = RelevanceVectorRegressor("passthrough", calibrate_std=False).fit(X, y)
    np.testing.assert_array_equal(stream.active_, whole.active_)
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-2, atol=1e-4)


def test_a_criterion_search_takes_sparse_inputs():
    X, latent, rng = sparse_problem()
    y = latent + 0.1 * rng.normal(size=len(X))
    search = CriterionSearch(FastGCVRegressor("passthrough"), {"tol": [1e-3, 1e-1]})
    assert search.fit(sparse.csr_array(X), y).best_params_ == search.fit(X, y).best_params_


@pytest.mark.parametrize("estimator", [*REGRESSORS, *LATENT])
def test_only_inputs_as_candidates_may_be_sparse(estimator):
    assert estimator("passthrough").__sklearn_tags__().input_tags.sparse
    assert not estimator("rbf").__sklearn_tags__().input_tags.sparse
    assert not estimator(KernelBasis()).__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match=r"sparse matrix, but kernels need dense inputs.*toarray.*TruncatedSVD.*passthrough"):
        estimator("rbf").fit(sparse.eye_array(5, format="csr"), np.arange(5) % 2)


def test_a_basis_of_kernels_refuses_sparse_inputs():
    with pytest.raises(TypeError, match="TruncatedSVD"):
        KernelBasis().fit(sparse.eye_array(5, format="csr"))


def wide_problem(n, m, density):
    rng = np.random.default_rng(0)
    X = random_sparse((n, m), density, rng)
    latent = 10.0 * (X[:, [7]].toarray() - X[:, [11]].toarray())[:, 0]
    return X, latent, rng


def peak_of(work):
    """Return the most bytes that were allocated at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["RelevanceVectorRegressor", "RelevanceVectorPoissonRegressor"])
def test_a_wide_sparse_matrix_is_never_made_dense(name):
    X, latent, rng = wide_problem(20_000, 5_000, 1e-3)
    is_count = name == "RelevanceVectorPoissonRegressor"
    y = rng.poisson(np.exp(0.3 * np.abs(latent))).astype(float) if is_count else latent + 0.1 * rng.normal(size=len(latent))
    model = getattr(skarce, name)("passthrough", max_active=20)

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        model.predict(X, return_std=True)

    dense = 8 * X.shape[0] * X.shape[1]
    assert peak_of(work) < dense / 8
    assert {7, 11} <= set(model.active_)
