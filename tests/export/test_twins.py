"""Twins of scikit-learn have the same mean to rounding error, and hold nothing of skarce."""

from __future__ import annotations

import pickle
import pickletools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler

from skarce import (
    EvidenceRegressor,
    JointFactorRegressor,
    KernelBasis,
    LWPRRegressor,
    PolynomialChaosBasis,
    PrimalSVMClassifier,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.export import to_sklearn

OPTIONS = {"calibrate_std": False}
WIDTHS = [0.3, 0.0, 0.7]


def data(n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)) + 5.0
    signals = np.stack([np.sin(X[:, 0]) + 0.3 * X[:, 2], X[:, 1] - 0.1 * X[:, 2] ** 2], axis=1)
    Y = 7.0 + signals + rng.normal(0, 0.1, signals.shape)
    return X, Y[:, 0] if n_outputs == 1 else Y


def assert_same_mean(twin, model, X):
    expected = model.predict(X)
    found = twin.predict(X)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * expected.std())
    assert expected.std() > 0.1


def queries(seed=1):
    return np.random.default_rng(seed).normal(size=(50, 3)) * 1.5 + 5.0


KERNELS = {
    "rbf": (KernelBasis(gamma=0.3), "SVR"),
    "polynomial": (KernelBasis("polynomial", gamma=0.1, degree=2, coef0=0.5), "SVR"),
    "sigmoid": (KernelBasis("sigmoid", gamma=0.01, coef0=-0.2), "SVR"),
    "linear": (KernelBasis("linear"), "LinearRegression"),
    "rbf with widths": (KernelBasis(gamma=WIDTHS), "GaussianProcessRegressor"),
    "polynomial of degree 1.5": (KernelBasis("polynomial", gamma=0.1, degree=1.5), "GaussianProcessRegressor"),
    "matern32": (KernelBasis("matern32", gamma=0.2), "GaussianProcessRegressor"),
    "matern52 with widths": (KernelBasis("matern52", gamma=WIDTHS), "GaussianProcessRegressor"),
    "laplacian": (KernelBasis("laplacian", gamma=0.2), "GaussianProcessRegressor"),
    "laplacian with widths": (KernelBasis("laplacian", gamma=WIDTHS), "Pipeline"),
    "cosine": (KernelBasis("cosine"), "GaussianProcessRegressor"),
    "inputs": ("passthrough", "LinearRegression"),
    "splines": (SplineTransformer(n_knots=4, extrapolation="linear"), "Pipeline"),
    "process": (ProcessBasis(gamma=0.1), "GaussianProcessRegressor"),
}


@pytest.mark.parametrize(("basis", "kind"), KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_twin_has_the_same_mean(basis, kind, fit_intercept):
    X, y = data()
    estimator = EvidenceRegressor if isinstance(basis, ProcessBasis) else RelevanceVectorRegressor
    model = estimator(basis, fit_intercept=fit_intercept, **OPTIONS).fit(X, y)
    twin = to_sklearn(model)
    assert type(twin).__name__ == kind
    assert_same_mean(twin, model, queries())


@pytest.mark.parametrize("basis", ["passthrough", *(KERNELS[name][0] for name in ("rbf", "linear", "matern32", "polynomial"))])
def test_several_targets(basis):
    X, Y = data(n_outputs=2)
    model = RelevanceVectorRegressor(basis, **OPTIONS).fit(X, Y)
    assert_same_mean(to_sklearn(model), model, queries())


@pytest.mark.parametrize("name", KERNELS)
def test_a_pickle_holds_nothing_of_skarce(name):
    X, y = data()
    model = RelevanceVectorRegressor(KERNELS[name][0], **OPTIONS).fit(X, y)
    twin = to_sklearn(model)
    packed = pickle.dumps(twin)
    words = {str(argument) for _, argument, _ in pickletools.genops(packed) if argument is not None}
    assert not [word for word in words if "skarce" in word]
    np.testing.assert_array_equal(pickle.loads(packed).predict(X), twin.predict(X))


@pytest.mark.parametrize("name", KERNELS)
def test_a_clone_is_unfitted(name):
    X, y = data()
    copy = clone(to_sklearn(RelevanceVectorRegressor(KERNELS[name][0], **OPTIONS).fit(X, y)))
    if type(copy).__name__ != "GaussianProcessRegressor":  # it predicts its prior mean, zero, before it is fitted
        with pytest.raises(NotFittedError):
            copy.predict(X)
    else:
        assert not copy.predict(X).any()


def test_a_twin_of_a_process_has_no_std():
    X, y = data()
    model = RelevanceVectorRegressor(KernelBasis("matern32"), **OPTIONS).fit(X, y)
    mean, std = to_sklearn(model).predict(X, return_std=True)
    np.testing.assert_allclose(mean, model.predict(X), rtol=1e-12)
    assert np.isnan(std).all()


def test_names_of_inputs_are_kept():
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for basis in (KernelBasis(gamma=0.3), KernelBasis("matern32"), "passthrough"):
        model = VBLSRegressor(basis, **OPTIONS).fit(frame, y)
        twin = to_sklearn(model)
        assert_same_mean(twin, model, frame)
        with pytest.raises(ValueError, match="feature names"):
            twin.predict(frame[["b", "a", "c"]])


def test_a_pipeline_stays_one():
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(color=np.where(X[:, 0] > 5, "red", "blue"))
    preprocessing = make_column_transformer((StandardScaler(), ["a", "c"]), (OneHotEncoder(sparse_output=False), ["color"]))
    model = make_pipeline(preprocessing, RelevanceVectorRegressor(KernelBasis(gamma=0.3), **OPTIONS)).fit(frame, y)
    twin = to_sklearn(model)
    assert [type(step).__name__ for _, step in twin.steps] == ["ColumnTransformer", "SVR"]
    assert type(model[-1]).__name__ == "RelevanceVectorRegressor"
    assert_same_mean(twin, model, frame)


@pytest.mark.parametrize(
    ("around", "kind"),
    [
        (lambda model: TransformedTargetRegressor(model, transformer=StandardScaler()), "TransformedTargetRegressor"),
        (lambda model: GridSearchCV(model, {"fit_intercept": [True]}, cv=2), "SVR"),
    ],
)
def test_what_stands_around_a_model(around, kind):
    X, y = data()
    model = around(RelevanceVectorRegressor(KernelBasis(gamma=0.3), **OPTIONS)).fit(X, y)
    twin = to_sklearn(model)
    assert type(twin).__name__ == kind
    assert b"skarce" not in pickle.dumps(twin)
    assert_same_mean(twin, model, queries())


def test_a_constant_target_has_a_twin():
    X, _ = data()
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), **OPTIONS).fit(X, np.full(len(X), 3.0))
    np.testing.assert_allclose(to_sklearn(model).predict(X), np.full(len(X), 3.0), rtol=1e-15)


@pytest.mark.parametrize("basis", ["passthrough", KernelBasis("linear"), PolynomialFeatures(2, include_bias=False)])
def test_counts_on_inputs(basis):
    X, _ = data()
    counts = np.random.default_rng(2).poisson(np.exp(0.5 * (X[:, 0] - 4)))
    model = RelevanceVectorPoissonRegressor(basis, calibrate_proba=False).fit(X, counts)
    assert_same_mean(to_sklearn(model), model, X)


def a_classifier(X, y):
    return RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(X, y > y.mean())


def a_classifier_by_margins(X, y):
    return PrimalSVMClassifier("passthrough", calibrate_proba=False).fit(X, y > y.mean())


def counts_on_kernels(X, y):
    counts = np.random.default_rng(2).poisson(np.exp(np.sin(X[:, 0]) + 1))
    return RelevanceVectorPoissonRegressor(KernelBasis(gamma=0.3), calibrate_proba=False).fit(X, counts)


def own_kernel(X, y):
    return RelevanceVectorRegressor(KernelBasis(lambda A, B: np.minimum(A @ B.T, 1e6)), **OPTIONS).fit(X, y)


def chaos(X, y):
    basis = make_pipeline(StandardScaler(), PolynomialChaosBasis(2, distributions="normal"))
    return RelevanceVectorRegressor(basis, **OPTIONS).fit(X, y)


def in_a_pipeline(X, y):
    return make_pipeline(KernelBasis(gamma=0.3, centers=10), RelevanceVectorRegressor("passthrough")).fit(X, y)


def local_models(X, y):
    return LWPRRegressor().fit(X, y)


REFUSED = {
    "blends many local models": local_models,
    "probabilities are averages over the uncertainty": a_classifier,
    "probabilities are margins": a_classifier_by_margins,
    "predict the log rate": counts_on_kernels,
    "holds its kernel and its centers": own_kernel,
    "the basis is PolynomialChaosBasis": chaos,
    "a step of the pipeline is KernelBasis": in_a_pipeline,
}


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_factors_are_linear_where_nothing_is_missing(n_outputs):
    model = JointFactorRegressor(2).fit(*data(n_outputs))
    twin = to_sklearn(model)
    assert type(twin).__name__ == "LinearRegression"
    assert_same_mean(pickle.loads(pickle.dumps(twin)), model, queries())
    frame = pd.DataFrame(data()[0], columns=["a", "b", "c"])
    assert to_sklearn(JointFactorRegressor(1).fit(frame, data()[1])).feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(("reason", "make"), REFUSED.items(), ids=[make.__name__ for make in REFUSED.values()])
def test_without_an_exact_twin_the_reason_is_given(reason, make):
    with pytest.raises(ValueError, match=reason):
        to_sklearn(make(*data()))


def test_only_our_fitted_models_have_twins():
    with pytest.raises(TypeError, match="got Ridge"):
        to_sklearn(Ridge().fit(*make_regression(20, 3, random_state=0)))
    with pytest.raises(NotFittedError):
        to_sklearn(RelevanceVectorRegressor())
