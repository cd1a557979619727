"""Errors that are far beyond the others."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats, Indices

FEWEST_ROWS = 30  # among fewer rows, nothing is usual
FAR = 10.0  # robust standard deviations; normal noise never gets there
LARGEST_SHARE = 0.01  # of the rows; if more are far, that is how the errors are distributed
STD_OF_MEDIAN = 1.4826  # the standard deviation of normal noise, divided by the median of its absolute values


def far_off(errors: Floats) -> Indices:
    """Return the rows with an error far beyond the others of its column, if these rows are few."""
    if len(errors) < FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    sizes = np.abs(errors)
    rows = np.flatnonzero((sizes > FAR * STD_OF_MEDIAN * np.median(sizes, axis=0)).any(axis=1))
    return rows if len(rows) <= max(1, int(LARGEST_SHARE * len(errors))) else rows[:0]
