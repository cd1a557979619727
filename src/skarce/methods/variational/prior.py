"""Which weights share a precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce._validation import is_missing


@dataclass(frozen=True)
class Prior:
    """Precisions of the weights: one each, one for all, one for each group, or none.

    Parameters
    ----------
    kind : "ard", "shared", "none", or an array of group labels, one for each candidate
    """

    kind: Any = "ard"

    @property
    def is_none(self) -> bool:
        return isinstance(self.kind, str) and self.kind == "none"

    @property
    def is_shared(self) -> bool:
        return isinstance(self.kind, str) and self.kind == "shared"

    def check(self, known: tuple[str, ...]) -> None:
        """Raise for an unknown name, and for missing labels: nobody can tell whether two of these name one group."""
        if isinstance(self.kind, str):
            if self.kind not in known:
                raise ValueError(f"prior must be one of {list(known)} or an array of group labels, got {self.kind!r}.")
            return
        labels = np.asarray(self.kind, dtype=object)
        missing = np.flatnonzero([is_missing(label) for label in labels.flat])
        if labels.ndim and len(missing):
            raise ValueError(
                f"prior must have a label for each candidate, and that of candidate {missing[0]} is {labels.flat[missing[0]]!r}; "
                "candidates of no group need labels of their own."
            )

    def labels(self, n_candidates: int) -> Indices:
        """Return a group number for each candidate."""
        if isinstance(self.kind, str):
            return np.arange(n_candidates) if self.kind == "ard" else np.zeros(n_candidates, dtype=np.intp)
        labels = np.asarray(self.kind)
        if labels.shape != (n_candidates,):
            raise ValueError(f"prior must have a label for each of the {n_candidates} candidates, got shape {labels.shape}.")
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)

    def group_sizes(self, n_candidates: int) -> Floats:
        """Return how many candidates share the precision of each."""
        _, number, sizes = np.unique(self.labels(n_candidates), return_inverse=True, return_counts=True)
        return sizes[number].astype(np.float64)
