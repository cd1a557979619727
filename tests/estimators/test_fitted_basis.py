"""`fitted_basis` and `fit_moments` with a sample: the parts of a fit, put together, are the fit."""

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from skarce import EvidenceRegressor, KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.moments import block_sums

BASES = [
    "auto",
    "rbf",
    "passthrough",
    KernelBasis(gamma=0.3, centers=20, random_state=1),
    KernelBasis(gamma="ard"),
    PolynomialFeatures(2),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(150, 2))
    # With less noise, the search of the relevance vector machine takes one of two ways, and rounding decides which.
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + rng.normal(0, 0.3, 150)


def from_sums(model, X, y, sample=None):
    basis = model.fitted_basis(X, y)
    sums = sum(block_sums(basis, X[rows], y[rows]) for rows in np.array_split(np.arange(len(X)), 4))
    return model.fit_moments(basis, sums, sample)


@pytest.mark.parametrize("basis", BASES, ids=str)
@pytest.mark.parametrize("kind", [RelevanceVectorRegressor, EvidenceRegressor, VBLSRegressor])
def test_a_fit_in_parts_is_the_fit(kind, basis, data):
    X, y = data
    whole, parts = kind(basis).fit(X, y), from_sums(kind(basis), X, y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-8)
    assert str(parts.basis) == str(basis)


def test_the_basis_learns_as_in_a_fit(data):
    X, y = data
    basis = RelevanceVectorRegressor().fitted_basis(X, y)
    fitted = RelevanceVectorRegressor().fit(X, y).basis_
    np.testing.assert_array_equal(basis.gamma_, fitted.gamma_)
    assert basis.kernel_ == fitted.kernel_


def test_the_estimator_does_not_change(data):
    model = RelevanceVectorRegressor()
    before = dict(vars(model))
    model.fitted_basis(*data)
    assert vars(model) == before


def test_a_sample_gives_the_augmented_std(data):
    X, y = data
    queries = np.linspace(-30, 30, 40).reshape(20, 2)
    whole = RelevanceVectorRegressor(KernelBasis(gamma=0.3), calibrate_std=False).fit(X, y)
    parts = from_sums(RelevanceVectorRegressor(KernelBasis(gamma=0.3)), X, y, X)
    _, wanted = whole.predict(queries, return_std=True, std="augmented")
    _, found = parts.predict(queries, return_std=True, std="augmented")
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    half = from_sums(RelevanceVectorRegressor(KernelBasis(gamma=0.3)), X, y, X[::2])
    assert half._augmentation_rows[1].sum() == pytest.approx(len(X))
    with pytest.raises(ValueError, match="augmented"):
        from_sums(RelevanceVectorRegressor(KernelBasis(gamma=0.3)), X, y).predict(queries, return_std=True, std="augmented")


def test_rows_that_are_not_counts_are_refused(data):
    with pytest.raises(ValueError, match="weights"):
        RelevanceVectorRegressor(weights="relative").fitted_basis(*data)
