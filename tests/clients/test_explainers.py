"""SHAP and skore read the weights of linear models."""

import numpy as np
import pandas as pd
import pytest

from skarce import RelevanceVectorClassifier, RelevanceVectorRegressor, VBLSRegressor


@pytest.mark.parametrize("model", [VBLSRegressor(), RelevanceVectorRegressor("passthrough")], ids=["vbls", "rvm"])
def test_shap_values_are_weights_times_distances_from_the_mean(linear, model):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, y = linear
    model.fit(X, y)
    background = X[:50]
    values = shap.LinearExplainer(model, background).shap_values(X)
    np.testing.assert_allclose(values, (X - background.mean(axis=0)) * model.coef_, atol=1e-10)
    np.testing.assert_allclose(values.sum(axis=1) + model.predict(background).mean(), model.predict(X), atol=1e-10)


def test_shap_explains_a_classifier(linear):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, y = linear
    model = RelevanceVectorClassifier("passthrough").fit(X, y > 1.0)
    values = np.asarray(shap.LinearExplainer(model, X[:50]).shap_values(X)).reshape(len(X), -1)
    np.testing.assert_allclose(values, (X - X[:50].mean(axis=0)) * model.coef_, atol=1e-8)


def test_skore_reports_the_weights_and_the_intercept(linear):
    skore = pytest.importorskip("skore", reason="skore is not installed")
    X, y = linear
    frame = pd.DataFrame(X, columns=list("abcdef"))
    report = skore.EstimatorReport(VBLSRegressor(), X_train=frame[:150], y_train=y[:150], X_test=frame[150:], y_test=y[150:])
    shown = report.inspection.coefficients().frame().set_index("feature")["coefficient"]
    model = report.estimator_
    assert shown["Intercept"] == pytest.approx(model.intercept_)
    np.testing.assert_allclose(shown[list("abcdef")], model.coef_)
