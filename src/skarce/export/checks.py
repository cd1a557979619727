"""How far an exported model may be from what Python predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._text import one_line
from skarce._typing import Floats
from skarce.export.description import CLASSES, COUNTS, Described
from skarce.export.likely_rows import likely_rows
from skarce.export.reference import predicted
from skarce.export.transformers import ExportError

N_RANDOM = 200
TOLERANCES = {"double": 1e-9, "float": 1e-4}


@dataclass(frozen=True)
class Compared:
    """Rows, what Python predicts there, and the unit in which differences count.

    Attributes
    ----------
    rows : coded rows
    expected : what Python predicts, shape (n_rows, n_outputs)
    units : std of the target for numbers, std of the count for counts, 1 for probabilities; shape (n_rows, n_outputs)
    n_given : how many rows, the first ones, were given
    """

    rows: Floats
    expected: Floats
    units: Floats
    n_given: int

    def largest_error(self, found: Floats) -> float:
        """Return the largest difference in these units. NaN counts as infinite."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.abs(found - self.expected) / self.units
        shares = np.where(found == self.expected, 0.0, shares)
        return float(np.where(np.isnan(shares), np.inf, shares).max(initial=0.0))


def comparison(estimator: Any, described: Described, X: Any, std: Any) -> Compared:
    """Return given rows (None for no rows) and random points, with what Python predicts there."""
    rows = likely_rows(described, N_RANDOM)
    try:
        expected = predicted(estimator, described.decoded(rows), described, std)
    except ValueError as error:
        if X is None:
            raise ExportError(
                f"predictions at random points failed, so the export cannot be checked: {one_line(error, 200)} Pass X, some rows "
                "like those of the training."
            ) from None
        rows, expected = rows[:0], None
    n_given = 0
    if X is not None:
        given, at_given = described.coded(X), predicted(estimator, X, described, std)
        n_given, rows = len(given), np.vstack([given, rows])
        expected = at_given if expected is None else np.vstack([at_given, expected])
    assert expected is not None
    return Compared(rows, expected, _units(described, expected), n_given)


def against_itself(described: Described, rows: Floats, expected: Floats) -> Compared:
    """Return rows with what the description says there, instead of Python."""
    return Compared(rows, expected, _units(described, expected), 0)


def _units(described: Described, expected: Floats) -> Floats:
    if described.target == CLASSES:
        return np.ones_like(expected)
    if described.target == COUNTS:
        unit = expected[:, -1:] if expected.shape[1] > 1 else np.sqrt(np.maximum(expected, 1e-300))
        return np.broadcast_to(unit, expected.shape)
    return spread_out([head.unit for head in described.heads], expected)


def spread_out(sizes: list[float], expected: Floats) -> Floats:
    """Return one number for each target as an array like predictions: means, then stds."""
    return np.broadcast_to(np.tile(sizes, expected.shape[1] // len(sizes)), expected.shape)
