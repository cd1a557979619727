"""Weights of both signs that nearly cancel: kernels and weights in pairs of floats."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import (
    EvidenceRegressor,
    KernelBasis,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
)
from skarce.export import ExportError, fit_within, table_bytes, to_c
from skarce.export.careful import exponential, product_of, sum_of
from skarce.export.description import describe
from skarce.export.reference import predicted
from skarce.export.to_c import c_source
from tests.export.compiled import SANITIZERS, Program, compiled, has, need, outputs, written
from tests.export.test_c import IS_FULL

pytestmark = pytest.mark.filterwarnings("ignore:.*nearly dependent:sklearn.exceptions.ConvergenceWarning")
needs_gcc = pytest.mark.skipif(not has("gcc"), reason="needs gcc")
CONTRACTED = ("-O2", "-ffp-contract=fast", "-march=native")  # with fused multiplications, if this machine has them


def rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (200, 2)) * [1, 100]
    return X, np.sin(X[:, 0]) + 0.001 * X[:, 1] + rng.normal(0, 0.1, 200)


def overlapping(estimator, seed=0, change=lambda y: y):
    X, y = rows(seed)
    return make_pipeline(StandardScaler(), estimator).fit(X, change(y)), X


@cache
def case(kind):
    if kind == "numbers":
        return overlapping(LocalRidgeRegressor(), 1)
    return overlapping(OrthogonalLeastSquaresRegressor(), 0, lambda y: np.column_stack([y, y**2]))


@pytest.mark.parametrize("estimator", [OrthogonalLeastSquaresRegressor(), LocalRidgeRegressor()])
@pytest.mark.parametrize("seed", range(8))
def test_what_fits_can_be_exported(estimator, seed, tmp_path):
    X, y = rows(seed)
    found = fit_within(make_pipeline(StandardScaler(), estimator), X, y, max_bytes=4096)
    exported = to_c(found.model, tmp_path / "model.h", X=X)
    assert exported.size.table_bytes == found.n_bytes <= 4096
    assert exported.error <= 1e-4
    assert "nothing was left out" in str(found)


@needs_gcc
@pytest.mark.parametrize("compiler", ["gcc", "clang"] if IS_FULL else ["gcc"])
@pytest.mark.parametrize("options", [SANITIZERS, CONTRACTED, ("-O3",)], ids=["sanitized", "contracted", "fast"])
@pytest.mark.parametrize("kind", ["numbers", "targets"])
@pytest.mark.parametrize("std", [True, False])
def test_compiled_pairs_predict_what_python_predicts(kind, std, options, compiler, tmp_path):
    need(compiler, options)
    model, X = case(kind)
    described = describe(model)
    exported = c_source(model, X=X, std=std)
    assert "in pairs" in exported.text
    at = np.vstack([X, X[:5] * 100.0, X[:5] - 1e30])
    expected = predicted(model, at, described, std)
    program = Program("model", exported.text, at, expected.shape[1], has_std=std)
    values, selftest = outputs(compiled(written([program], tmp_path), compiler, "c", *options), [program])["model"]
    units = np.tile([head.unit for head in described.heads], expected.shape[1] // len(described.heads))
    assert np.max(np.abs(values - expected) / units) <= 1e-4
    assert selftest <= 1e-4 * max(units)


@needs_gcc
@pytest.mark.parametrize("language", ["c", "c++"])
def test_missing_numbers_give_nan(language, tmp_path):
    model, X = case("numbers")
    at = np.array([[np.nan, 1e30], [1e30, np.nan], [np.nan, np.nan]])
    program = Program("model", c_source(model, X=X).text, at, 2)
    assert np.isnan(outputs(compiled(written([program], tmp_path), "gcc", language, "-O1"), [program])["model"][0]).all()


def test_tables_have_the_bytes_of_pairs():
    model, X = case("numbers")
    assert table_bytes(model) == c_source(model, X=X).size.table_bytes


def test_only_models_that_need_pairs_have_them():
    X, y = rows(2)
    assert "in pairs" not in c_source(make_pipeline(StandardScaler(), OrthogonalLeastSquaresRegressor()).fit(X, y), X=X).text


def test_pairs_are_exact():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(0, 1, 1000) * 10.0 ** rng.uniform(-8, 8, 1000) for _ in range(2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    for (high, low), exact in ((sum_of(a, b), a.astype(float) + b), (product_of(a, b), a.astype(float) * b)):
        np.testing.assert_allclose(high.astype(float) + low, exact, rtol=1e-10)


def test_exponential_in_pairs():
    x = -np.concatenate([np.random.default_rng(0).uniform(0, 100, 1000), [0.0, 103.0]]).astype(np.float32)
    high, low = exponential(x, np.zeros_like(x))
    np.testing.assert_allclose(high.astype(float) + low, np.exp(x.astype(float)), rtol=4e-9, atol=1e-42)


def test_the_message_names_what_would_do(tmp_path):
    """The std of these models needs more digits than tables of floats have; their mean does not."""
    X = np.linspace(0, 1, 40)[:, None]
    model = EvidenceRegressor(KernelBasis(gamma=0.05)).fit(X, np.sin(6 * X[:, 0]))
    with pytest.raises(ExportError, match='Use real="double" or std=False or') as found:
        to_c(model, tmp_path / "model.h")
    assert "q31" not in str(found.value)
    assert to_c(model, tmp_path / "model.h", std=False).error < 1e-4
    assert to_c(model, tmp_path / "model.h", real="double").error < 1e-9


def test_no_model_that_float_cannot_hold_is_returned():
    X = np.linspace(0, 1, 40)[:, None]
    y = np.sin(6 * X[:, 0])
    found = fit_within(EvidenceRegressor(KernelBasis(gamma=0.05)), X, y, max_bytes=100_000)
    assert found.n_functions < found.largest_functions
    assert "not precise enough" in str(found)
    assert c_source(found.model, X=X).size.table_bytes == found.n_bytes


def test_a_kernel_that_no_type_can_hold_is_not_blamed_on_the_bytes():
    X, y = rows(0)
    with pytest.raises(ExportError, match="the inputs alone lose too many digits"):
        fit_within(OrthogonalLeastSquaresRegressor("passthrough"), X * 1e40, y, max_bytes=4096)
