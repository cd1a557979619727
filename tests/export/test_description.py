"""The plain description of a model predicts what the model predicts, for every estimator, kernel and pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, QuantileTransformer

from skarce import KernelBasis, LWPRRegressor, RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError, describe
from skarce.export.description import CLASSES, COUNTS, MARGINS
from skarce.export.heads import Head
from skarce.export.to_c import c_source
from tests.export.models import OTHERS, REGRESSORS, fitted, kernels, numbers, targets

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def predicted(model, X, **options):
    """Mean and std of any wrapper, in the units of the data."""
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, TransformedTargetRegressor):
        return model.predict(X, return_std=True, **options)
    scaler = model.transformer_
    mean, std = model.regressor_.predict(X, return_std=True, **options)
    return mean * scaler.scale_ + scaler.mean_, std * scaler.scale_


@pytest.mark.parametrize("name", REGRESSORS)
def test_means_and_stds_of_numbers(name):
    case = fitted(name)
    described = describe(case.model)
    mean, std = predicted(case.model, case.X)
    own_mean, own_std = described.predict(described.coded(case.X))
    np.testing.assert_allclose(own_mean, np.reshape(mean, own_mean.shape), **CLOSE)
    np.testing.assert_allclose(own_std, np.reshape(std, own_std.shape), **CLOSE)
    assert described.is_one == (np.ndim(mean) == 1)


@pytest.mark.parametrize("name", OTHERS)
def test_classes_and_counts(name):
    case = fitted(name)
    described = describe(case.model)
    rows = described.coded(case.X)
    if described.target == CLASSES:
        np.testing.assert_allclose(described.probabilities(rows), case.model.predict_proba(case.X), **CLOSE)
        assert list(described.classes) == list(case.model.classes_)
    elif described.target == MARGINS:
        margins = case.model.decision_function(case.X)
        np.testing.assert_allclose(described.latent(rows)[0], margins.reshape(len(rows), -1), **CLOSE)
        assert list(described.classes) == list(case.model.classes_)
    else:
        assert described.target == COUNTS
        for own, expected in zip(described.predict(rows), case.model.predict(case.X, return_std=True), strict=True):
            np.testing.assert_allclose(own[:, 0], expected, **CLOSE)


@pytest.mark.parametrize(
    "name", ["rvm-rbf", "rvm-matern52", "rvm-polynomial", "rvm-cosine", "no-intercept", "two-targets", "target-scaled"]
)
def test_augmented_stds(name):
    case = fitted(name)
    described = describe(case.model)
    _, std = predicted(case.model, case.X, std="augmented")
    _, own = described.predict(described.coded(case.X), is_augmented=True)
    np.testing.assert_allclose(own, np.reshape(std, own.shape), rtol=1e-9)


def test_decoded_rows_are_what_python_takes():
    case = fitted("table")
    described = describe(case.model)
    rows = described.coded(case.X)
    np.testing.assert_array_equal(case.model.predict(described.decoded(rows)), case.model.predict(case.X))
    assert described.inputs[1].categories == ("green", "light blue", "red")


def test_text_that_was_not_seen_is_predicted_as_python_does():
    case = fitted("table")
    described = describe(case.model)
    X = case.X.assign(color="purple")
    np.testing.assert_allclose(described.predict(described.coded(X))[0][:, 0], case.model.predict(X), **CLOSE)


def test_inputs_that_do_not_matter_are_left_out():
    assert describe(fitted("unused-input").model).used == (0, 2)


@pytest.mark.parametrize(
    ("model", "mention"),
    [
        (make_pipeline(Normalizer(), VBLSRegressor()), "Normalizer"),
        (make_pipeline(FunctionTransformer(np.cbrt), VBLSRegressor()), "formula is not known"),
        (RelevanceVectorRegressor(KernelBasis(kernel=lambda a, b: np.exp(-np.abs(a @ b.T)))), "the kernel function"),
        (RelevanceVectorRegressor(kernels("polynomial", degree=2.5, gamma=0.001)), "degree 2.5"),
        (TransformedTargetRegressor(VBLSRegressor(), transformer=QuantileTransformer(n_quantiles=10)), "QuantileTransformer"),
    ],
)
def test_what_cannot_be_exported_is_named(model, mention):
    X = numbers()
    with pytest.raises(ExportError, match=mention):
        describe(model.fit(X, targets(X)))


def test_models_without_a_basis_are_refused():
    X = numbers()
    with pytest.raises(TypeError, match=r"with a basis.*LWPRRegressor"):
        describe(LWPRRegressor().fit(X, targets(X)))


def test_models_of_others_are_refused():
    X = numbers()
    with pytest.raises(TypeError, match="LinearRegression"):
        describe(LinearRegression().fit(X, targets(X)))


@pytest.mark.parametrize("model", [LWPRRegressor(), LinearRegression()])
def test_all_refusals_are_of_one_class(model):
    with pytest.raises(ExportError, match=type(model).__name__):
        describe(model.fit(numbers(), targets(numbers())))


def refusal(*steps, **basis):
    X = numbers()
    with pytest.raises(ExportError) as caught:
        describe(make_pipeline(*steps, VBLSRegressor(**basis)).fit(X, targets(X)))
    return str(caught.value)


def test_what_a_refused_transformer_can_be_replaced_with():
    message = refusal(QuantileTransformer(n_quantiles=5))
    assert "Transform the columns before the pipeline" in message
    assert "SelectorMixin" not in message
    assert "selectors such as SelectKBest" in message
    assert "FunctionTransformer without a function" in message


def test_refused_functions_have_no_addresses():
    steps = FunctionTransformer(lambda X: X + 1.0)
    assert "FunctionTransformer(<lambda>) cannot" in refusal(steps)
    assert "0x" not in refusal(QuantileTransformer(n_quantiles=5, random_state=np.random.RandomState(0)))
    kernel = KernelBasis(lambda X, Y: np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1)))
    assert "the kernel function <lambda> cannot" in refusal(basis=kernel)


@pytest.mark.parametrize("name", ["rvm-rbf", "counts", "svm-classes"])
def test_no_variance_is_evaluated_if_no_std_is_asked_for(name, monkeypatch):
    """It takes far longer than the mean if there are many functions."""

    def refuse(*_):
        raise AssertionError("the variance is not needed")

    monkeypatch.setattr(Head, "variance", refuse)
    assert c_source(fitted(name).model, std=False).error < 1e-4


@pytest.mark.parametrize(
    "options",
    [{"func": np.exp, "inverse_func": np.log}, {"transformer": PCA()}, {"transformer": QuantileTransformer(n_quantiles=5)}],
)
def test_a_target_that_is_not_shifted_and_scaled_has_advice_of_its_own(options):
    X = numbers()
    model = TransformedTargetRegressor(VBLSRegressor(), check_inverse=False, **options).fit(X, targets(X))
    with pytest.raises(ExportError, match="a transformer that shifts and scales, or export the regressor inside") as caught:
        describe(model)
    assert "before the pipeline" not in str(caught.value)
