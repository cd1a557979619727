"""What fits say about outliers and about models that are too sure of themselves."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    FastGCVRegressor,
    KernelBasis,
    RelevanceVectorRegressor,
    VBLSRegressor,
)


def waves(rng, n_rows=150):
    X = rng.uniform(-3, 3, (n_rows, 2))
    return X, 3.0 * np.sin(X[:, 0]) + rng.normal(0, 0.2, n_rows)


def named(*models):
    return pytest.mark.parametrize("model", models, ids=lambda model: type(model).__name__)


@named(RelevanceVectorRegressor(), FastGCVRegressor(), EvidenceRegressor())
def test_an_outlier_is_named_and_does_not_widen_the_intervals_of_others(rng, model):
    X, y = waves(rng)
    y[23] += 20.0
    with pytest.warns(ConvergenceWarning, match=r"times the usual error: rows 23 \(the first row is 0\)"):
        model.fit(X, y)
    X_new, y_new = waves(rng, 1000)
    lower, upper = model.predict_interval(X_new)
    assert 0.85 < np.mean((lower <= y_new) & (y_new <= upper)) < 0.99


def test_weight_zero_ends_the_warning(rng):
    X, y = waves(rng)
    y[23] += 100.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RelevanceVectorRegressor().fit(X, y, sample_weight=np.arange(150) != 23)


def test_student_noise_has_its_own_way_with_outliers(rng):
    X = rng.normal(size=(150, 2))
    y = X[:, 0] + rng.normal(0, 0.2, 150)
    y[23] += 100.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VBLSRegressor("passthrough", noise="student-t", calibrate_std=True).fit(X, y)


@named(EvidenceRegressor(), BackwardEliminationRegressor())
def test_a_model_that_interpolates_says_so(rng, model):
    X = rng.normal(size=(60, 300))
    y = 2.0 * X[:, 0] - X[:, 1] + rng.normal(0, 0.3, 60)
    with pytest.warns(ConvergenceWarning, match="fits its own rows much better than new ones"):
        model.fit(X, y)


def test_a_target_without_noise_is_fine():
    X = np.linspace(-3, 3, 80)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RelevanceVectorRegressor(KernelBasis(gamma=0.5), calibrate_std=True).fit(X, np.sin(X[:, 0]))
    assert model.std_scale_ != 1.0
