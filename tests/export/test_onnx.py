"""ONNX models predict what the models predict, by onnxruntime and by the reference of the package onnx."""

from __future__ import annotations

import os

import numpy as np
import pytest

from skarce.export import ExportError, describe, to_onnx
from skarce.export.description import CLASSES
from skarce.export.onnx.agreement import TOLERANCE
from skarce.export.onnx.assembly import reference_runner, runner
from skarce.export.onnx.entries import fed, ports_of
from skarce.export.onnx.graph import REALS
from skarce.export.onnx.heads import output_names
from skarce.export.probes import predicted
from tests.export.models import OTHERS, REGRESSORS, fitted

pytest.importorskip("onnx", reason='ONNX models need the package onnx: pip install "skarce[export-test]"')

FEW = ("rvm-rbf", "rvm-matern52", "two-targets", "process", "chaos", "splines-linear", "mixed-basis", "target-scaled", "table")
NAMES = [*(REGRESSORS if "SKARCE_EXPORT_ALL" in os.environ else FEW), *OTHERS]


def inputs(described, X, real="double", std=True):
    return fed(ports_of(described, REALS[real], output_names(described, std=std)), described, X)


def outputs(run, model, described, X, real="double"):
    return dict(zip([one.name for one in model.graph.output], run(inputs(described, X, real)), strict=True))


def assert_same(found, case, described, share):
    """Predictions agree to this share of the standard deviation of the target."""
    if described.target == CLASSES:
        np.testing.assert_allclose(found["probabilities"], case.model.predict_proba(case.X), rtol=0, atol=share)
        if share < 1e-6:
            np.testing.assert_array_equal(found["label"], case.model.predict(case.X))
        return
    mean, std = predicted(case.model, case.X)
    size = np.sqrt(mean.var(axis=0) + (std**2).mean(axis=0))
    assert found["mean"].shape == mean.shape
    assert (np.abs(found["mean"] - mean) <= share * size).all()
    assert (np.abs(found["std"] - std) <= share * size).all()


@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_agrees(name):
    pytest.importorskip("onnxruntime")
    case = fitted(name)
    described, model = describe(case.model), to_onnx(case.model)
    assert_same(outputs(runner(model), model, described, case.X), case, described, TOLERANCE[np.dtype(np.float64)])


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_agrees(name):
    case = fitted(name)
    described, model = describe(case.model), to_onnx(case.model)
    assert_same(outputs(reference_runner(model), model, described, case.X), case, described, TOLERANCE[np.dtype(np.float64)])


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_agrees_or_is_refused(name):
    """Rows are those of single precision, so that only the arithmetic differs."""
    case = fitted(name)
    described = describe(case.model)
    try:
        model = to_onnx(case.model, real="float")
    except ExportError as error:
        assert 'real="double"' in str(error)  # noqa: PT017
        return
    rows = described.decoded(described.coded(case.X).astype(np.float32).astype(np.float64))
    near = type(case)(case.model, rows[:60])
    found = outputs(runner(model), model, described, near.X, "float")
    assert all(values.dtype == np.float32 for key, values in found.items() if key != "label")
    assert_same(found, near, described, 10 * TOLERANCE[np.dtype(np.float32)])
