"""Parameters that the variational estimators share."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from skarce._typing import Indices
from skarce._validation import is_missing


def group_labels(prior: Any, n_candidates: int) -> Indices:
    """A group number for each candidate: its own, one for all, or that of its label."""
    if isinstance(prior, str):
        return np.arange(n_candidates) if prior == "ard" else np.zeros(n_candidates, dtype=np.intp)
    labels = np.asarray(prior)
    if labels.shape != (n_candidates,):
        raise ValueError(f"prior must have a label for each of the {n_candidates} candidates, got shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def check_prior(prior: Any, known: tuple[str, ...]) -> None:
    """Raise for a name that none has, and for labels that are missing: whether two of these name one group cannot be told."""
    if isinstance(prior, str):
        if prior not in known:
            raise ValueError(f"prior must be one of {list(known)} or an array of group labels, got {prior!r}.")
        return
    labels = np.asarray(prior, dtype=object)
    missing = np.flatnonzero([is_missing(label) for label in labels.flat])
    if labels.ndim and len(missing):
        raise ValueError(
            f"prior must have a label for each candidate, and that of candidate {missing[0]} is {labels.flat[missing[0]]!r}; "
            "candidates of no group need labels of their own."
        )


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
