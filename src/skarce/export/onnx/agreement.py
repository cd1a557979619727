"""Whether an ONNX model predicts what the model in Python does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export import advice
from skarce.export.checks import TOLERANCES, comparison
from skarce.export.description import CLASSES, Described
from skarce.export.onnx.assembly import Port, runner
from skarce.export.onnx.entries import fed
from skarce.export.transformers import ImpreciseError


def check_agreement(
    model: Any, described: Described, ports: Sequence[Port], converted: Any, X: Any, *, std: bool, real: str
) -> None:
    """Raise an `ExportError` if predictions at given rows and random points differ by more than rounding."""
    compared = comparison(model, described, X, std)
    found = runner(converted)(fed(ports, described, compared.rows))
    error = compared.largest_error(_side_by_side(found[1:] if described.target == CLASSES else found))
    if not error <= TOLERANCES[real]:
        unit = "" if described.target == CLASSES else " of the std of its target"
        remedies = ['real="double"'] * (real == "float") + advice.remedies(described, compared, real, std)
        raise ImpreciseError(
            f"the ONNX model differs from Python by {error:.2g}{unit}, and at most {TOLERANCES[real]:g} is allowed",
            f"Use {' or '.join(remedies)}.{advice.reason(described, compared, real, std)}",
        )


def _side_by_side(found: Sequence[Any]) -> Floats:
    return np.column_stack([np.asarray(values, dtype=np.float64).reshape(len(values), -1) for values in found])
