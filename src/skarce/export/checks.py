"""How far an exported model may be from what Python predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._text import one_line
from skarce._typing import Floats
from skarce.export.description import COUNTS, Described
from skarce.export.kept_rows import kept_rows
from skarce.export.likely_rows import likely_rows
from skarce.export.reference import predicted
from skarce.export.transformers import ExportError

N_RANDOM = 200
NO_TRAINING_ROWS = "no training rows (pass X, or DATA to skarce export, to check there, too)"
TOLERANCES = {"double": 1e-9, "float": 1e-4}


@dataclass(frozen=True)
class Compared:
    """Rows, what Python predicts there, and the unit in which differences count.

    Attributes
    ----------
    rows : coded rows
    expected : what Python predicts, shape (n_rows, n_outputs)
    units : std of the target for numbers, std of the count for counts, 1 for probabilities and margins; shape (n_rows, n_outputs)
    n_given : how many rows, the first ones, were given
    n_kept : how many rows after them are those that the model keeps from training; all others are random
    refused : which rows are left out because Python cannot predict there, and why
    """

    rows: Floats
    expected: Floats
    units: Floats
    n_given: int
    n_kept: int = 0
    refused: str = ""

    @property
    def where(self) -> str:
        """What the rows are, in words."""
        n_random = len(self.rows) - self.n_given - self.n_kept
        counts = {"given rows": self.n_given, "training rows in the model": self.n_kept, "random points": n_random}
        found = [f"{count} {what}" for what, count in counts.items() if count]
        words = ", ".join(found if self.n_given or self.n_kept else [*found, NO_TRAINING_ROWS])
        return f"{words}; {self.refused}" if self.refused else words

    def largest_error(self, found: Floats) -> float:
        """Return the largest difference in these units. NaN counts as infinite."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.abs(found - self.expected) / self.units
        shares = np.where(found == self.expected, 0.0, shares)
        return float(np.where(np.isnan(shares), np.inf, shares).max(initial=0.0))


def comparison(estimator: Any, described: Described, X: Any, std: Any) -> Compared:
    """Return given rows (None for no rows), rows that the model keeps and random points, with what Python predicts there."""
    given = [] if X is None else [described.coded(X)]
    expected = [] if X is None else [predicted(estimator, X, described, std)]
    kept, random, refused = kept_rows(described), likely_rows(described, N_RANDOM), ""
    try:
        expected += [predicted(estimator, described.decoded(rows), described, std) for rows in (kept, random) if len(rows)]
    except ValueError as error:
        if X is None:
            raise ExportError(
                f"predictions at random points failed, so the export cannot be checked: {one_line(error, 200)} Pass X, some rows "
                "like those of the training."
            ) from None
        expected, kept, random = expected[:1], kept[:0], random[:0]
        refused = f"at no other rows, because predictions failed there: {one_line(error, 80)}"
    values = np.vstack(expected)
    return Compared(np.vstack([*given, kept, random]), values, _units(described, values), sum(map(len, given)), len(kept), refused)


def against_itself(described: Described, rows: Floats, expected: Floats) -> Compared:
    """Return rows with what the description says there, instead of Python."""
    return Compared(rows, expected, _units(described, expected), 0)


def _units(described: Described, expected: Floats) -> Floats:
    if described.has_classes:
        return np.ones_like(expected)
    if described.target == COUNTS:
        unit = expected[:, -1:] if expected.shape[1] > 1 else np.sqrt(np.maximum(expected, 1e-300))
        return np.broadcast_to(unit, expected.shape)
    return spread_out([head.unit for head in described.heads], expected)


def spread_out(sizes: list[float], expected: Floats) -> Floats:
    """Return one number for each target as an array like predictions: means, then stds."""
    return np.broadcast_to(np.tile(sizes, expected.shape[1] // len(sizes)), expected.shape)
