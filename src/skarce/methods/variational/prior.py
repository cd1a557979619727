"""Which weights share a precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce._validation import is_missing


@dataclass(frozen=True)
class Prior:
    """The precisions of the weights: one for each weight, one for all, one for each group, or none.

    Parameters
    ----------
    kind : {"ard", "shared", "none"} or array of shape (n_candidates,)
        One precision for each weight, one for all weights, no prior, or group labels. Candidates with equal labels share one.
    """

    kind: Any = "ard"

    @property
    def is_none(self) -> bool:
        """Whether there is no prior."""
        return isinstance(self.kind, str) and self.kind == "none"

    @property
    def is_shared(self) -> bool:
        """Whether all weights share one precision."""
        return isinstance(self.kind, str) and self.kind == "shared"

    def check(self, known: tuple[str, ...]) -> None:
        """Raise an error for an unknown name or a missing label. Two missing labels may or may not mean the same group."""
        if isinstance(self.kind, str):
            if self.kind not in known:
                raise ValueError(f"prior must be one of {list(known)} or an array of group labels, got {quoted(self.kind)}.")
            return
        labels = np.asarray(self.kind, dtype=object)
        missing = np.flatnonzero([is_missing(label) for label in labels.flat])
        if labels.ndim and len(missing):
            raise ValueError(
                f"prior must have a label for each candidate, but the label of candidate {missing[0]} is "
                f"{quoted(labels.flat[missing[0]])}; give each candidate that belongs to no group a unique label."
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
        """Return, for each candidate, how many candidates share its precision."""
        _, number, sizes = np.unique(self.labels(n_candidates), return_inverse=True, return_counts=True)
        return sizes[number].astype(np.float64)
