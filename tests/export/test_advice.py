"""What refusals of exports say: the reason, and what would do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from skarce import KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError, to_c
from skarce.export.to_c import c_source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=150)


def refusal(y, basis=None, **options):
    model = RelevanceVectorRegressor(basis or KernelBasis(gamma=0.3)).fit(X, y)
    with pytest.raises(ExportError) as caught:
        c_source(model, **options)
    return str(caught.value)


@pytest.mark.parametrize(("offset", "real"), [(101325.0, "float"), (1e8, "double")])
def test_a_large_offset_of_the_target_is_named(offset, real):
    message = refusal(Y + offset, real=real)
    assert "The target is about 1" in message
    assert "Subtract a constant" in message
    assert "gamma" not in message
    subtracted = RelevanceVectorRegressor(KernelBasis(gamma=0.3)).fit(X, Y)
    assert c_source(subtracted, real=real).error < 1e-4


def test_of_several_targets_the_one_with_the_offset_is_named():
    assert "Target 1 is about " in refusal(np.column_stack([Y, Y + 5000.0]))


@pytest.mark.parametrize("factor", [1e30, 1e-30])
def test_a_target_beyond_the_range_of_float(factor):
    message = refusal(factor * Y)
    assert "The variance of the target is beyond the range of float" in message
    assert 'Use real="double"' in message
    assert "other units of the target" in message
    assert "gamma" not in message


def test_wide_kernels_need_a_larger_gamma():
    message = refusal(Y, KernelBasis("matern52", gamma=1e-4))
    assert "a larger gamma" in message
    assert 'basis="rbf"' in message
    assert "target" not in message.replace("its target", "")


def test_several_targets_may_be_fitted_one_by_one():
    message = refusal(np.column_stack([Y, Y**2]), KernelBasis("matern52", gamma=0.01))
    assert 'Use real="double" or ' in message
    assert "one model for each target" in message


def test_the_error_can_be_sent_to_another_process(tmp_path):
    with pytest.raises(ExportError) as caught:
        to_c(VBLSRegressor().fit(X, Y + 1e6), tmp_path / "model.h")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_onnx_names_the_offset():
    pytest.importorskip("onnx")
    from skarce.export import to_onnx

    with pytest.raises(ExportError, match=r"Use real=.double. or a target without its offset. The target is about 10132"):
        to_onnx(VBLSRegressor().fit(X, Y + 101325.0), real="float")
