"""Models whose tables in C fit into a number of bytes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import KernelBasis, OrthogonalLeastSquaresRegressor, RelevanceVectorClassifier, RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError, fit_within, table_bytes, to_c, within
from tests.export.models import numbers, targets

GAMMA = KernelBasis(gamma=0.1)


@pytest.mark.parametrize(
    "estimator",
    [
        OrthogonalLeastSquaresRegressor(GAMMA),
        make_pipeline(StandardScaler(), OrthogonalLeastSquaresRegressor(GAMMA)),
        RelevanceVectorRegressor(GAMMA),
    ],
)
def test_the_largest_model_that_fits_is_kept(estimator):
    X = numbers()
    y = targets(X)
    found = fit_within(estimator, X, y, max_bytes=300)
    assert found.n_bytes == table_bytes(found.model) <= 300 < found.largest_bytes
    assert found.n_functions < found.largest_functions
    assert found.error == pytest.approx(np.sqrt(np.mean((found.model.predict(X) - y) ** 2)))
    assert found.error > found.largest_error
    assert f"{found.n_bytes} bytes of at most 300" in str(found)


def test_no_nested_model_with_one_more_function_fits():
    X = numbers()
    estimator = OrthogonalLeastSquaresRegressor(GAMMA)
    found = fit_within(estimator, X, targets(X), max_bytes=300)
    larger = estimator.fit(X, targets(X)).with_n_basis(found.n_functions + 1)
    assert table_bytes(larger) > 300


def test_a_model_that_fits_stays_as_it_is():
    X = numbers()
    found = fit_within(VBLSRegressor(), X, targets(X), max_bytes=4096)
    assert found.n_bytes == found.largest_bytes
    assert "nothing was left out" in str(found)


def test_classes_have_a_share_of_errors():
    X = numbers(120)
    found = fit_within(RelevanceVectorClassifier(GAMMA), X, targets(X) > 1.0, max_bytes=4096)
    assert found.error == pytest.approx(np.mean(found.model.predict(X) != (targets(X) > 1.0)))


def scaled_target(estimator):
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), estimator), transformer=StandardScaler())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        GridSearchCV(OrthogonalLeastSquaresRegressor(GAMMA), {"fit_intercept": [True]}, cv=2),
        scaled_target(OrthogonalLeastSquaresRegressor(GAMMA)),
        scaled_target(RelevanceVectorRegressor(GAMMA)),
        GridSearchCV(scaled_target(OrthogonalLeastSquaresRegressor(GAMMA)), {"check_inverse": [True]}, cv=2),
    ],
)
def test_searches_and_scaled_targets_are_opened(estimator, tmp_path):
    X = numbers()
    y = 50.0 + 100.0 * targets(X)
    found = fit_within(estimator, X, y, max_bytes=200)
    assert found.n_bytes == table_bytes(found.model) <= 200 < found.largest_bytes
    assert found.error == pytest.approx(np.sqrt(np.mean((found.model.predict(X) - y) ** 2)))
    assert found.error > found.largest_error
    assert to_c(found.model, tmp_path / "model.h", X=X).size.table_bytes == found.n_bytes
    assert len(clone(estimator).fit(X, y).predict(X)) == len(X)  # the estimator itself stays as it was


def test_a_limit_that_is_too_small():
    X = numbers()
    with pytest.raises(ExportError, match="one function takes"):
        fit_within(RelevanceVectorRegressor(GAMMA), X, targets(X), max_bytes=8)


def test_models_of_others_are_refused():
    with pytest.raises(TypeError, match="StandardScaler"):
        fit_within(StandardScaler(), numbers(), targets(numbers()), max_bytes=100)


def test_a_limit_by_accuracy_is_said_with_what_would_do():
    """Wide kernels without a compact arithmetic: far more functions would fit into the bytes than float can hold."""
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=150)
    estimator = OrthogonalLeastSquaresRegressor(KernelBasis("matern52", gamma=0.001))
    found = fit_within(estimator, X, y, max_bytes=3000)
    assert found.n_functions < found.largest_functions
    assert "in float arithmetic this model differs from Python by" in found.limit_of_accuracy
    assert 'real="double"' in found.remedies
    assert str(found).endswith(f"{found.limit_of_accuracy}. Use {' or '.join(found.remedies)}")
    assert "Accuracy is the limit, and not bytes" in str(found)
    in_double = fit_within(estimator, X, y, max_bytes=3000, real="double")
    assert in_double.n_functions > found.n_functions
    assert in_double.error < found.error


def test_a_limit_by_bytes_says_nothing_of_accuracy():
    X = numbers()
    found = fit_within(OrthogonalLeastSquaresRegressor(GAMMA), X, targets(X), max_bytes=300)
    assert (found.limit_of_accuracy, found.remedies) == ("", ())
    assert "Accuracy" not in str(found)


@pytest.mark.parametrize("max_bytes", [600, 820])
def test_classes_that_share_kernels_use_the_bytes(max_bytes):
    """Each class has its own functions. Fits on few kernels, which classes share, may be the only ones that are small enough."""
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, class_sep=0.6, random_state=0)
    pipeline = make_pipeline(StandardScaler(), RelevanceVectorClassifier(calibrate_proba=False))
    found = fit_within(pipeline, X, y, max_bytes=max_bytes)
    model, rows = pipeline.fit(X, y)[-1], pipeline[0].transform(X)
    for n_functions in range(1, 12):
        for other in within._sized(model, n_functions, rows, y):
            other_pipeline = make_pipeline(pipeline[0], other)
            if table_bytes(other_pipeline, "float", True) <= max_bytes:
                assert found.error <= 1.0 - other.score(rows, y) + 0.02
