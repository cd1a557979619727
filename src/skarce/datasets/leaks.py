"""Columns that give the target away: nearly copies of it, which may not be known before the target is."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skarce._text import quoted
from skarce._typing import Floats

NEARLY_ALL = 0.995  # a column with a squared rank correlation of at least this is nearly a copy of the target
FEWEST_ROWS = 20  # with fewer rows, ranks agree by chance, or because a small example has no noise
MOST_ROWS = 5_000  # rows that are ranked
DENSE_IDS = 2.0  # distinct whole numbers in a range of at most this many times their number count rows


def near_copies(X: Any, y: Floats, names: list[str]) -> list[str]:
    """Notes on the columns of numbers that nearly determine a target of numbers. The only input of a table is none of them."""
    if X.shape[1] < 2 or len(y) < FEWEST_ROWS:
        return []
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.intp))
    notes = []
    for name in names:
        values = X[name].to_numpy()
        known = rows[~np.isnan(values[rows])]
        is_sparse = len(known) < FEWEST_ROWS or _counts_rows(values[~np.isnan(values)])
        agreement = 0.0 if is_sparse else agreement_of_ranks(values[known], y[known])
        notes += [_note(name, agreement)] if agreement >= NEARLY_ALL else []
    return notes


def agreement_of_ranks(a: Floats, b: Floats) -> float:
    """The squared rank correlation without the row that disagrees most: one typo in a small table would hide a copy."""
    ranks, others = rankdata(a), rankdata(b)
    if _correlation(ranks, others) < 0.0:
        ranks = len(ranks) + 1 - ranks
    kept = np.arange(len(a)) != np.abs(ranks - others).argmax()
    return _correlation(rankdata(a[kept]), rankdata(b[kept])) ** 2


def exclude_option(name: str) -> str:
    """The option of the command line that leaves a column out."""
    return f"--exclude {shlex.quote(name)}"


def _note(name: str, agreement: float) -> str:
    return (
        f"column {quoted(name)} is nearly a copy of the target: their squared rank correlation is {agreement:.4f}. "
        f"If it is not known before the target is, leave it out: {exclude_option(name)}"
    )


def _counts_rows(values: Floats) -> bool:
    """Whether values are distinct whole numbers without large gaps. A table sorted by its target may have them as identifiers."""
    is_whole = bool((values == np.round(values)).all())
    return is_whole and np.ptp(values) <= DENSE_IDS * len(values) and len(np.unique(values)) == len(values)


def _correlation(a: Floats, b: Floats) -> float:
    """The correlation, or zero if one of them does not vary."""
    a, b = a - a.mean(), b - b.mean()
    energy = float(a @ a) * float(b @ b)
    return float(a @ b) / energy**0.5 if energy > 0.0 else 0.0
