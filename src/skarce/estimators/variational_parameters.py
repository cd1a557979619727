"""Parameters that the variational estimators share."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from skarce._typing import Indices


def group_labels(prior: Any, n_candidates: int) -> Indices:
    """A group number for each candidate: its own, one for all, or that of its label."""
    if isinstance(prior, str):
        return np.arange(n_candidates) if prior == "ard" else np.zeros(n_candidates, dtype=np.intp)
    labels = np.asarray(prior)
    if labels.shape != (n_candidates,):
        raise ValueError(f"prior must have a label for each of the {n_candidates} candidates, got shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def check_significance(significance: Any, solver: str, prior: Any) -> None:
    """Raise for a rule that is none, or that has nothing to choose from."""
    if significance is None:
        return
    is_level = isinstance(significance, Real) and 0.0 < float(significance) < 1.0
    if not (is_level or (isinstance(significance, str) and significance == "bound")):
        raise ValueError(f'significance must be None, a level between 0 and 1, or "bound"; got {significance!r}.')
    if solver != "direct" or (isinstance(prior, str) and prior != "ard"):
        raise ValueError(
            'significance takes candidates out of a model with solver="direct" and prior="ard" or group labels; got '
            f"solver={solver!r}, prior={prior!r}."
        )
