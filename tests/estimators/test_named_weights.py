"""Weights under scikit-learn's names, and the tools of scikit-learn that read them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import skarce
from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor, StepwiseRegressor, VBLSRegressor
from skarce.estimators.trusted_types import model_classes

TRUE = np.array([0.0, 2.0, 0.0, -1.5, 0.0, 0.0])
CLASSIFIERS = [cls for cls in model_classes() if cls.__name__.endswith("Classifier")]
COUNTS = [skarce.RelevanceVectorPoissonRegressor]
REGRESSORS = [cls for cls in model_classes() if cls not in (*CLASSIFIERS, *COUNTS)]


@pytest.fixture(scope="module")
def linear():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 6)) + 1.0
    return X, X @ TRUE + 0.7 + 0.3 * rng.normal(size=120)


def target_for(cls, y):
    if cls in CLASSIFIERS:
        return y > np.median(y)
    return np.random.default_rng(0).poisson(np.exp(0.3 * y)) if cls in COUNTS else y


@pytest.mark.parametrize("cls", model_classes())
def test_every_model_on_inputs_is_its_weights(linear, cls):
    X, y = linear
    model = cls("passthrough").fit(X, target_for(cls, y))
    f = model.predict(X) if cls in REGRESSORS else model.latent(X)[0]
    np.testing.assert_allclose(X @ np.ravel(model.coef_) + model.intercept_, f, rtol=1e-9, atol=1e-9)
    assert model.coef_.shape == model.coef_std_.shape == ((1, 6) if cls in CLASSIFIERS else (6,))
    assert np.shape(model.intercept_) == ((1,) if cls in CLASSIFIERS else ())
    out = np.setdiff1d(np.arange(6), model.active_)
    assert not model.coef_[..., out].any()
    assert not model.coef_std_[..., out].any()
    spread = np.sqrt(np.diag(model.posterior_.covariance))
    np.testing.assert_allclose(model.coef_std_[..., model.active_].ravel(), spread, rtol=1e-8)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.parametrize("cls", model_classes())
def test_every_model_on_kernels_has_dual_weights_only(linear, cls):
    X, y = linear
    model = cls(KernelBasis(gamma=0.05)).fit(X, target_for(cls, y))
    f = model.predict(X) if cls in REGRESSORS else model.latent(X)[0]
    phi = model.basis_.transform(X)
    np.testing.assert_allclose(phi @ np.ravel(model.dual_coef_) + model.intercept_, f, rtol=1e-8, atol=1e-8 * np.abs(f).max())
    assert model.dual_coef_.shape == ((1, len(model.active_)) if cls in CLASSIFIERS else (len(model.active_),))
    for name in ("coef_", "coef_std_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"on kernels.*dual_coef_.*passthrough"):
            getattr(model, name)
    assert not hasattr(model, "get_feature_names_out")


def test_several_targets_and_classes_have_rows(linear):
    X, y = linear
    both = VBLSRegressor().fit(X, np.column_stack([y, X[:, 4]]))
    singles = [VBLSRegressor().fit(X, t) for t in (y, X[:, 4])]
    np.testing.assert_allclose(both.coef_, [m.coef_ for m in singles], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(both.coef_std_, [m.coef_std_ for m in singles], rtol=1e-8, atol=1e-12)
    three = RelevanceVectorClassifier("passthrough").fit(X, np.digitize(y, np.quantile(y, [0.33, 0.67])))
    assert three.coef_.shape == three.coef_std_.shape == (3, 6)
    assert three.intercept_.shape == (3,)
    means, _ = three.latent(X)
    np.testing.assert_allclose(X @ three.coef_.T + three.intercept_, means, rtol=1e-8, atol=1e-8)


def test_weights_of_a_transformer_are_those_of_its_columns(linear):
    X, y = linear
    basis = PolynomialFeatures(2, include_bias=False)
    model = RelevanceVectorRegressor(basis).fit(X, y)
    columns = basis.fit_transform(X)
    assert model.coef_.shape == (columns.shape[1],)
    np.testing.assert_allclose(columns @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-9)
    names = basis.get_feature_names_out()
    np.testing.assert_array_equal(model.get_feature_names_out(), names[model.coef_ != 0.0])
    np.testing.assert_array_equal(model.get_support(indices=True), model.active_)


def test_names_of_columns_are_those_of_the_frame(linear):
    X, y = linear
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = StepwiseRegressor(enter=0.001).fit(frame, y)
    assert list(model.get_feature_names_out()) == ["b", "d"]
    nameless = StepwiseRegressor(enter=0.001).fit(X, y)
    assert list(nameless.get_feature_names_out()) == ["x1", "x3"]
    assert list(nameless.get_feature_names_out(list("uvwxyz"))) == ["v", "x"]
    mixed = ColumnTransformer([("scaled", StandardScaler(), ["a", "b", "c"])], remainder="passthrough")
    chosen = VBLSRegressor(mixed).fit(frame, y).get_feature_names_out()
    assert {"scaled__b", "remainder__d"} <= set(chosen)


def test_an_unfitted_model_has_no_weights():
    model = VBLSRegressor()
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "dual_coef_")
    for call in (model.get_support, model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("cls", [*REGRESSORS, *CLASSIFIERS])
def test_selectors_of_scikit_learn_find_the_true_inputs(linear, cls):
    X, y = linear
    target = target_for(cls, y)
    assert list(np.flatnonzero(RFE(cls("passthrough"), n_features_to_select=2).fit(X, target).support_)) == [1, 3]
    assert list(SelectFromModel(cls("passthrough"), max_features=2, threshold=-np.inf).fit(X, target).get_support(True)) == [1, 3]


def test_weights_agree_with_importances_by_permutation(linear):
    X, y = linear
    model = VBLSRegressor().fit(X, y)
    shuffled = permutation_importance(model, X, y, n_repeats=50, random_state=0).importances_mean
    explained = 2.0 * model.coef_**2 * X.var(axis=0) / y.var()  # a shuffled input adds twice the variance of its term
    np.testing.assert_allclose(shuffled, explained, atol=0.1 * explained.max())
    assert list(np.argsort(-np.abs(model.coef_))[:2]) == list(np.argsort(-shuffled)[:2])


@pytest.mark.parametrize("cls", [VBLSRegressor, RelevanceVectorClassifier])
def test_a_model_of_an_older_version_gets_its_names(linear, cls):
    """It had the weights of the active functions under the name `coef_`, and a number as the intercept."""
    X, y = linear
    model = cls("passthrough").fit(X, target_for(cls, y))
    state = model.__getstate__()
    old = {**state, "coef_": state["_weights"], "intercept_": float(np.ravel(state["intercept_"])[0])}
    del old["_weights"]
    again = cls.__new__(cls)
    again.__setstate__(old)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict(X), model.predict(X))


def test_names_of_inputs_are_checked():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "c"])
    model = RelevanceVectorRegressor("passthrough").fit(X, X["a"] - X["c"])
    np.testing.assert_array_equal(model.get_feature_names_out(["a", "b", "c"]), ["a", "c"])
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        model.get_feature_names_out(["c", "b", "a"])
    plain = RelevanceVectorRegressor("passthrough").fit(X.to_numpy(), X["a"] - X["c"])
    np.testing.assert_array_equal(plain.get_feature_names_out(["p", "q", "r"]), ["p", "r"])
    with pytest.raises(ValueError, match="input_features should have length equal to number of features"):
        plain.get_feature_names_out(["p"])


def test_what_a_model_does_not_have_is_explained():
    for name, text in (("partial_fit", "candidates that are fixed in advance"), ("get_feature_names_out", "is on kernels")):
        assert not hasattr(RelevanceVectorRegressor(), name)
        with pytest.raises(AttributeError, match=text):
            getattr(RelevanceVectorRegressor(), name)
