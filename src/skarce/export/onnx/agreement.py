"""Whether an ONNX model predicts what the model in Python does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export import advice
from skarce.export.checks import TOLERANCES, Compared, comparison
from skarce.export.description import Described
from skarce.export.onnx.assembly import Port, runner
from skarce.export.onnx.entries import fed
from skarce.export.transformers import ImpreciseError


def check_agreement(
    model: Any, described: Described, ports: Sequence[Port], converted: Any, X: Any, *, std: bool, real: str
) -> Compared:
    """Return the rows of the check. Raise an `ExportError` if predictions there differ by more than rounding."""
    compared = comparison(model, described, X, described.std_of(std))
    found = runner(converted)(fed(ports, described, compared.rows))
    error = compared.largest_error(_side_by_side(found[1:] if described.has_classes else found))
    if not error <= TOLERANCES[real]:
        unit = "" if described.has_classes else " of the std of its target"
        remedies = ['real="double"'] * (real == "float") + advice.remedies(described, compared, real, std)
        raise ImpreciseError(
            f"the ONNX model differs from Python by {error:.2g}{unit}, and at most {TOLERANCES[real]:g} is allowed",
            f"Use {' or '.join(remedies)}.{advice.reason(described, compared, real, std)}",
        )
    return compared


def _side_by_side(found: Sequence[Any]) -> Floats:
    return np.column_stack([np.asarray(values, dtype=np.float64).reshape(len(values), -1) for values in found])
