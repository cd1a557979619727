"""The calibration of a search: one model of many is calibrated, and as a fit of its own would be."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import CriterionSearch, FastGCVRegressor, KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor
from skarce.estimators.waiting import calibration_waits

GRID = {"basis__gamma": [0.1, 3.0], "tol": [1e-3, 1e-2]}
N_CALIBRATED = "calibration: std scale"


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_best_model_is_calibrated_as_by_a_fit_of_its_own(sinc, n_jobs):
    search = CriterionSearch(FastGCVRegressor("rbf", calibrate_std=True), GRID, n_jobs=n_jobs).fit(*sinc)
    alone = FastGCVRegressor("rbf", calibrate_std=True).set_params(**search.best_params_).fit(*sinc)
    assert alone.std_scale_ != 1.0
    assert search.best_estimator_.std_scale_ == pytest.approx(alone.std_scale_, rel=1e-9)


def test_no_other_model_is_calibrated(sinc, capsys):
    CriterionSearch(FastGCVRegressor("rbf", calibrate_std=True, verbose=1), GRID).fit(*sinc)
    assert capsys.readouterr().err.count(N_CALIBRATED) == 1


def test_calibration_leaves_the_rest_of_the_model_alone(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(centers=20), calibrate_std=True)  # a refit has other landmarks
    with calibration_waits(model) as waiting:
        model.fit(X, y)
    mean, std = model.predict(X, return_std=True)
    waiting.finish()
    np.testing.assert_array_equal(model.predict(X), mean)
    assert model.std_scale_ != 1.0
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], model.std_scale_ * std, rtol=1e-12)


def test_the_last_step_of_a_pipeline_waits_too(sinc, capsys):
    pipeline = make_pipeline(StandardScaler(), FastGCVRegressor("rbf", calibrate_std=True, verbose=1))
    search = CriterionSearch(pipeline, {"fastgcvregressor__tol": [1e-3, 1e-2]}).fit(*sinc)
    assert capsys.readouterr().err.count(N_CALIBRATED) == 1
    assert search.best_estimator_[-1].std_scale_ != 1.0


def test_probabilities_wait_too(rng):
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0.0
    model = RelevanceVectorClassifier("rbf", calibrate_proba=True)
    search = CriterionSearch(model, {"basis__gamma": [0.1, 1.0]}).fit(X, y)
    alone = model.set_params(**search.best_params_).fit(X, y)
    assert alone.temperature_ != 1.0
    assert search.best_estimator_.temperature_ == alone.temperature_


def test_what_calibration_has_to_say_reaches_the_user():
    X, y = np.ones((12, 1)), np.arange(12.0)  # all rows are equal, so none can be left out
    search = CriterionSearch(FastGCVRegressor("rbf", calibrate_std=True), {"tol": [1e-3, 1e-2]})
    with pytest.warns(ConvergenceWarning, match="equal rows are left out together") as caught:
        search.fit(X, y)
    assert len([one for one in caught if "not calibrated" in str(one.message)]) == 1


def test_the_wait_does_not_count_as_time_of_the_fit(sinc):
    model = FastGCVRegressor("rbf", calibrate_std=True, max_time=30.0)
    with calibration_waits(model) as waiting:
        model.fit(*sinc)
    assert model.std_scale_ == 1.0
    waiting._budget = replace(waiting._budget, deadline=0.0)  # as if other fits had taken until now
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert waiting.finish() == []
    assert model.std_scale_ != 1.0


def test_only_the_named_estimator_waits(sinc):
    model, other = (FastGCVRegressor("rbf", calibrate_std=True) for _ in range(2))
    with calibration_waits(other) as waiting:
        model.fit(*sinc)
    assert model.std_scale_ != 1.0
    assert waiting.finish() == []
