"""Labels of classes as zeros and ones, block by block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skarce._device import is_on_device, namespace, stacked, to_device
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.moments.block_sums import CheckedBlock


class Codes(NamedTuple):
    """All classes, in ascending order, and the factor of each on the weights of its rows."""

    classes: Any
    factors: Floats

    def of(self, rows: CheckedBlock) -> CheckedBlock:
        """Return rows with a column of zeros and ones for each latent function in place of the labels."""
        labels = rows.targets[:, 0]
        if is_on_device(labels):
            return self._on_device(rows.X, labels, rows.weights)
        codes = np.searchsorted(self.classes, labels)
        known = self.classes[np.minimum(codes, len(self.classes) - 1)] == labels
        if not known.all():
            raise ValueError(
                f"y has {quoted(np.unique(labels[~known]).tolist())}, but the classes are {quoted(self.classes.tolist())}."
            )
        weights = self.factors[codes] if rows.weights is None else rows.weights * self.factors[codes]
        return CheckedBlock(rows.X, targets_of(codes, len(self.classes)), None if (weights == 1.0).all() else weights)

    def _on_device(self, X: Any, labels: Any, weights: Any) -> CheckedBlock:
        """Return the same for labels on a device, all of which are known."""
        xp = namespace(labels)
        is_of = stacked([xp.astype(labels == label, xp.float64) for label in self.classes.tolist()], axis=1)
        factors = is_of @ to_device(self.factors, is_of)
        own = None if (self.factors == 1.0).all() else factors
        both = weights if own is None else own if weights is None else weights * own
        return CheckedBlock(X, is_of[:, 1:] if len(self.classes) == 2 else is_of, both)


def targets_of(codes: Indices, n_classes: int) -> Floats:
    """Zeros and ones, a column for each latent function: the second class of two, or each class against the rest."""
    if n_classes == 2:
        return (codes == 1).astype(np.float64)[:, None]
    return (codes[:, None] == np.arange(n_classes)).astype(np.float64)


def label_totals(labels: Any, weights: Floats | None) -> dict[Any, float]:
    """Return the weight of each label."""
    if not len(labels):
        return {}
    classes, codes = np.unique(labels, return_inverse=True)
    totals = np.bincount(codes, weights, minlength=len(classes))
    return dict(zip(classes.tolist(), totals.tolist(), strict=True))


def joined_totals(parts: list[dict[Any, float]]) -> dict[Any, float]:
    """Return the weight of each label over all parts."""
    total: dict[Any, float] = {}
    for part in parts:
        for label, weight in part.items():
            total[label] = total.get(label, 0.0) + weight
    return total
