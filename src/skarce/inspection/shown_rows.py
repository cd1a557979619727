"""Rows that a picture shows, and which of them are centers of kernels in the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from skarce._typing import Floats
from skarce.inspection.dependence import Request
from skarce.inspection.functions import centers_of

MOST_INPUTS = 2  # of models whose centers can be shown


@dataclass(frozen=True)
class ShownRows:
    """Rows, their targets, and the centers of the kernels.

    Attributes
    ----------
    X : the rows
    targets : ndarray of shape (n_rows,) or None
        Targets, or the places of labels among the classes.
    is_center : ndarray of shape (n_rows,)
        Whether a kernel of the model has its center at this row.
    other_centers : ndarray of shape (n_centers, n_inputs)
        Centers that are not among the rows, in the units of the data.
    """

    X: Any
    targets: Floats | None
    is_center: Floats
    other_centers: Floats

    @classmethod
    def of(cls, request: Request, targets: Floats | None) -> ShownRows:
        """Find the centers of a model among the rows. Models with many inputs, and those without kernels, show none."""
        n_inputs = len(request.names)
        centers = centers_of(request.found) if request.found.has_functions and n_inputs <= MOST_INPUTS else None
        if centers is None or centers.dtype.kind not in "fiu":
            return cls(request.X, targets, np.zeros(len(request.X), dtype=bool), np.empty((0, n_inputs)))
        model = request.found.model
        used = slice(None) if is_classifier(model) else model._places[request.output]
        own = _as_bytes(model.basis_.centers_[used])
        rows = _as_bytes(request.found.inputs(request.X))
        known, wanted = set(rows), set(own)
        is_center = np.array([row in wanted for row in rows])
        return cls(request.X, targets, is_center, centers[used][[center not in known for center in own]])


def _as_bytes(rows: Any) -> list[bytes]:
    """Return rows in a form that can be looked up. Adding zero makes both zeros the same."""
    return [row.tobytes() for row in np.asarray(rows, dtype=np.float64) + 0.0]
