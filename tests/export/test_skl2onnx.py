"""skl2onnx converts pipelines of scikit-learn with our models in them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

import skarce
from skarce import (
    KernelBasis,
    PolynomialChaosBasis,
    PrimalSVMClassifier,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
)
from skarce.export import ExportError, register_skl2onnx
from skarce.export.onnx.assembly import runner
from skarce.export.onnx.converters import _estimators
from tests.estimator_lists import WITHOUT_BASIS
from tests.export.models import kernels, numbers, targets

skl2onnx = pytest.importorskip("skl2onnx", reason='converters need skl2onnx: pip install "skarce[export-test]"')
pytest.importorskip("onnxruntime", reason='converted models run by onnxruntime: pip install "skarce[export-test]"')

X = numbers()
Y = targets(X)
SIZE = Y.std()


@pytest.fixture(autouse=True, scope="module")
def _registered():
    register_skl2onnx()


def run(model, rows, **options):
    converted = skl2onnx.to_onnx(model, rows[:1], **options)
    return [np.asarray(values) for values in runner(converted)({"X": rows})]


def test_a_pipeline_with_a_step_that_we_do_not_know():
    model = make_pipeline(Normalizer(), RelevanceVectorRegressor(KernelBasis(gamma=1.0))).fit(X, Y)
    mean, std = run(model, X, options={"relevancevectorregressor__return_std": True})
    expected = model.predict(X, return_std=True)
    for own, theirs in zip((mean, std), expected, strict=True):
        np.testing.assert_allclose(own[:, 0], theirs, rtol=0, atol=1e-9 * SIZE)


def test_the_mean_alone_in_single_precision():
    model = make_pipeline(StandardScaler(), RelevanceVectorRegressor(KernelBasis(gamma=0.3))).fit(X, Y)
    (mean,) = run(model, X.astype(np.float32))
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean[:, 0], model.predict(X.astype(np.float32)), rtol=0, atol=1e-4 * SIZE)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("names", [("b", "a", "c"), (3, 7, 5)])
def test_classes(n_classes, names):
    labels = np.array(names)[np.searchsorted(np.quantile(Y, np.arange(1, n_classes) / n_classes), Y)]
    model = make_pipeline(StandardScaler(), RelevanceVectorClassifier(kernels("rbf"), calibrate_proba=True)).fit(X, labels)
    found, probabilities = run(model, X, options={"zipmap": False})
    np.testing.assert_array_equal(found, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-9)


def test_a_model_inside_of_another():
    model = StackingRegressor([("rvm", RelevanceVectorRegressor(kernels("rbf"))), ("ridge", Ridge())], cv=2).fit(X, Y)
    (mean,) = run(model, X)
    np.testing.assert_allclose(mean[:, 0], model.predict(X), rtol=0, atol=1e-9 * SIZE)


@pytest.mark.parametrize(
    "basis",
    [KernelBasis("matern32", gamma=0.3, centers=10), ProcessBasis(gamma=0.3), PolynomialChaosBasis(2, distributions="normal")],
    ids=lambda basis: type(basis).__name__,
)
def test_a_basis_as_a_step(basis):
    model = make_pipeline(StandardScaler(), basis, Ridge(alpha=1.0)).fit(X, Y)
    (mean,) = run(model, X)
    np.testing.assert_allclose(mean[:, 0], model.predict(X), rtol=0, atol=1e-9 * SIZE)


def test_a_table():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(color=np.where(X[:, 0] > 0, "red", "blue"))
    before = ColumnTransformer(
        [("numbers", StandardScaler(), ["a", "c"]), ("texts", OneHotEncoder(), ["color"])], sparse_threshold=0
    )
    model = make_pipeline(before, RelevanceVectorRegressor(KernelBasis(gamma=0.3))).fit(frame, Y)
    converted = skl2onnx.to_onnx(model, frame[:1])
    asked = {one.name for one in converted.graph.input}
    (mean,) = runner(converted)({name: frame[[name]].to_numpy() for name in frame if name in asked})
    np.testing.assert_allclose(mean[:, 0], model.predict(frame), rtol=0, atol=1e-9 * SIZE)


def test_every_estimator_is_registered():
    names = {name for name in skarce.__all__ if name.endswith(("Regressor", "Classifier"))}
    names -= {cls.__name__ for cls in WITHOUT_BASIS}
    assert {kind.__name__ for kind in _estimators()} == names


def test_margins_without_probabilities_are_refused():
    model = PrimalSVMClassifier(kernels("rbf"), calibrate_proba=False).fit(X, Y > 0.5)
    with pytest.raises(ExportError, match="calibrate_proba=True"):
        skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
