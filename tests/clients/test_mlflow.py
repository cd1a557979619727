"""mlflow saves and loads models in its default format, which is that of skops."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import skarce

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install mlflow skops")
    pytest.importorskip("mlflow.sklearn", reason="this mlflow cannot save models of scikit-learn")
    pytest.importorskip("skops", reason="skops, the format of mlflow, is not installed: pip install skops")

# Warnings of mlflow are not ours. Requirements that are given need not be found out in a process of their own.
pytestmark = pytest.mark.filterwarnings("ignore")
REQUIREMENTS = {"pip_requirements": ["skarce"]}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
NUMBERS = X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=40)
LABELS = np.where(X[:, 0] + 0.3 * RNG.normal(size=40) > 0.0, "yes", "no")
MODELS = {
    "kernels": (skarce.RelevanceVectorRegressor(), NUMBERS),
    "inputs": (skarce.VBLSRegressor(noise="student-t"), NUMBERS),
    "transformer": (skarce.FastGCVRegressor(PolynomialFeatures(3, include_bias=False)), NUMBERS),
    "classes": (skarce.RelevanceVectorClassifier(), LABELS),
    "pipeline": (make_pipeline(StandardScaler(), skarce.EvidenceRegressor(skarce.ProcessBasis())), NUMBERS),
    "search": (skarce.CriterionSearch(skarce.FastGCVRegressor(), {"basis__gamma": [0.1, 1.0]}), NUMBERS),
}


def save(model, path, **more):
    mlflow.sklearn.save_model(model, path, skops_trusted_types=skarce.trusted_types(), **REQUIREMENTS, **more)


@pytest.mark.parametrize("name", MODELS)
def test_models_come_back_as_they_were(name, tmp_path):
    estimator, y = MODELS[name]
    model = estimator.fit(X, y)
    save(model, tmp_path / "model")
    again = mlflow.sklearn.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if name == "classes":
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    else:
        np.testing.assert_array_equal(again.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(served.predict(X), model.predict(X))


def test_the_default_format_runs_no_code(tmp_path):
    save(skarce.RelevanceVectorRegressor("rbf").fit(X, NUMBERS), tmp_path / "model")
    flavor = mlflow.models.Model.load(str(tmp_path / "model")).flavors["sklearn"]
    assert flavor["serialization_format"] == "skops"
    assert not list(tmp_path.rglob("*.pkl"))


def test_without_the_list_mlflow_names_the_types(tmp_path):
    model = skarce.RelevanceVectorRegressor("rbf").fit(X, NUMBERS)
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"skarce\.posteriors\.posterior\.Posterior"):
        mlflow.sklearn.save_model(model, tmp_path / "model", **REQUIREMENTS)


def test_a_model_is_logged_with_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    try:
        model = skarce.RelevanceVectorRegressor("rbf").fit(X, NUMBERS)
        with mlflow.start_run():
            trusted = {"skops_trusted_types": skarce.trusted_types()}
            logged = mlflow.sklearn.log_model(model, name="sparse", **trusted, **REQUIREMENTS)
        again = mlflow.sklearn.load_model(logged.model_uri)
    finally:
        mlflow.set_tracking_uri(before)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
