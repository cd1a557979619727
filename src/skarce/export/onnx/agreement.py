"""Whether an ONNX model predicts what the model in Python does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export.description import CLASSES, COUNTS, Described
from skarce.export.onnx.assembly import Port, runner
from skarce.export.onnx.entries import fed
from skarce.export.onnx.heads import MEAN, PROBABILITIES, STD
from skarce.export.probes import predicted, probe_rows
from skarce.export.transformers import ExportError

TOLERANCE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}  # of the standard deviation of the target
REMEDY = {
    np.dtype(np.float64): "Its weights are large and cancel each other; wider kernels or fewer functions would do.",
    np.dtype(np.float32): 'Use real="double", or a model whose weights are smaller.',
}


def check_agreement(model: Any, described: Described, ports: Sequence[Port], converted: Any, dtype: np.dtype[Any]) -> None:
    """Raise an `ExportError` if predictions differ by more than rounding, at rows where the model has its functions."""
    X = described.decoded(probe_rows(model, described).astype(dtype).astype(np.float64))
    names = [output.name for output in converted.graph.output]
    found = dict(zip(names, runner(converted)(fed(ports, described, X)), strict=True))
    expected = _expected(model, described, X)
    for name, size in _sizes(described, expected).items():
        if name not in found:
            continue
        error = np.abs(found[name].astype(np.float64) - expected[name]) / size
        if not error.max(initial=0.0) <= TOLERANCE[dtype]:
            raise ExportError(
                f"the ONNX model is not written, because its {name} differs from that of Python by {error.max():.2g} of the "
                f"standard deviation of the target, and at most {TOLERANCE[dtype]:g} is allowed. {REMEDY[dtype]}"
            )


def _expected(model: Any, described: Described, X: Any) -> dict[str, Floats]:
    if described.target == CLASSES:
        return {PROBABILITIES: model.predict_proba(X)}
    mean, std = predicted(model, X)
    return {MEAN: mean, STD: std}


def _sizes(described: Described, expected: dict[str, Floats]) -> dict[str, Any]:
    """Return what differences are relative to: the standard deviation of the target, or 1 for probabilities."""
    if described.target == CLASSES:
        return {PROBABILITIES: 1.0}
    if described.target == COUNTS:
        size = np.sqrt(np.mean(expected[STD] ** 2) + np.var(expected[MEAN]))
        return {MEAN: size, STD: size}
    # A target that does not vary has no such deviation, and is compared by its size.
    sizes = np.array([head.deviation or abs(head.level) or 1.0 for head in described.heads])
    return dict.fromkeys((MEAN, STD), sizes[0] if described.is_one else sizes)
