"""Columns that give the target away: each alone tells nearly all of it, and may not be known before the target is.

A target of numbers is told by numbers in nearly the same order, by texts with such numbers in them, and by texts that are the same
for nearly the same targets. A class is told by the text of a row, or by one interval of numbers for each class.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.tree import DecisionTreeClassifier

from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.datasets.target_kinds import TargetKind

NEARLY_ALL = 0.995  # a column with a squared rank correlation of at least this is nearly a copy of the target
FEWEST_ROWS = 20  # with fewer rows, ranks agree by chance, or because a small example has no noise
MOST_ROWS = 5_000  # rows that are ranked
DENSE_IDS = 2.0  # distinct whole numbers in a range of at most this many times their number count rows
NEARLY_ALL_BY_TEXT = 0.99  # a share of the variance of left-out targets, or of their ranks, that texts explain
ROWS_PER_TEXT = 4  # with fewer on average, texts are names of rows
ALL_WITH_NUMBERS = 0.95  # share of texts with a number in each from which on the numbers are looked at
RARE_CLASSES = 5  # with fewer rows outside of the most frequent class, a column tells them by chance
MISSED = 0.05  # share of the rows outside of the most frequent class that a column which tells the class may miss
NUMBER_IN_TEXT = re.compile(r"[^\d+-]*([+-]?\d[\d,' ]*(?:\.\d+)?)\D*")


def leaks(X: Any, y: Any, kind: TargetKind) -> dict[str, str]:
    """Columns that nearly tell the target, with a note on each. The only input of a table is none of them."""
    if X.shape[1] < 2 or len(y) < FEWEST_ROWS:
        return {}
    of_number = [name for name in X if X[name].dtype.kind == "f"]
    of_text = [name for name in X if name not in set(of_number)]
    if kind is TargetKind.CLASSES:
        return {name: note for name in X if (note := _note_on_classes(name, *_sampled(X[name].to_numpy(), y)))}
    found = near_copies(X, y, of_number)
    return found | {name: note for name in of_text if (note := _note_on_text(name, X[name].to_numpy(), y))}


def near_copies(X: Any, y: Floats, names: list[str]) -> dict[str, str]:
    """Columns of numbers that nearly determine a target of numbers, with a note on each."""
    if X.shape[1] < 2 or len(y) < FEWEST_ROWS:
        return {}
    agreements = {name: _agreement(X[name].to_numpy(), y) for name in names}
    what = "is nearly a copy of the target"
    return {name: _note(name, what, agreement) for name, agreement in agreements.items() if agreement >= NEARLY_ALL}


def _agreement(values: Floats, y: Floats) -> float:
    """The squared rank correlation of a column and the target, or zero if it has few numbers or counts rows."""
    some, targets = _sampled(values, y)
    known = ~np.isnan(some)
    is_sparse = known.sum() < FEWEST_ROWS or _counts_rows(values[~np.isnan(values)])
    return 0.0 if is_sparse else agreement_of_ranks(some[known], targets[known])


def _sampled(values: Any, y: Any) -> tuple[Any, Any]:
    """Rows of a column and of the target, evenly from a large table."""
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.intp))
    return values[rows], y[rows]


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


def _note(name: str, what: str, agreement: float) -> str:
    return _with_remedy(name, f"column {quoted(name)} {what}: their squared rank correlation is {agreement:.4f}.")


def _with_remedy(name: str, words: str) -> str:
    return f"{words} If it is not known before the target is, leave it out: {exclude_option(name)}"


# Text and a target of numbers -----------------------------------------------------------------------------------------


def _note_on_text(name: str, texts: Any, y: Floats) -> str | None:
    some, targets = _sampled(texts, y)
    if _agreement(numbers_in(some), targets) >= NEARLY_ALL and (agreement := _agreement(numbers_in(texts), y)) >= NEARLY_ALL:
        return _note(name, "is text whose numbers are nearly a copy of the target", agreement)
    codes = _codes(some)
    share = max(share_explained(codes, targets), share_explained(codes, rankdata(targets)))
    if not _are_few(codes) or share < NEARLY_ALL_BY_TEXT:
        return None
    return _with_remedy(name, f"column {quoted(name)} alone tells nearly all of the target: its texts explain {100 * share:.1f} %.")


def numbers_in(texts: Any) -> Floats:
    """The number in each text, NaN if there is none or more than one; all are NaN unless nearly all texts have one.

    Examples
    --------
    >>> numbers_in(["$1,250", "about -3.5 kg"])
    array([1250. ,   -3.5])
    """
    found = [NUMBER_IN_TEXT.fullmatch(text) for text in texts]
    values = np.array([np.nan if each is None else float(re.sub("[,' ]", "", each[1])) for each in found])
    return values if np.isfinite(values).mean() >= ALL_WITH_NUMBERS else np.full(len(values), np.nan)


def share_explained(codes: Indices, y: Floats) -> float:
    """The share of the variance of targets that the mean of all other rows with the same code explains, without the worst row."""
    counts, sums = np.bincount(codes)[codes] - 1, np.bincount(codes, y)[codes] - y
    of_all = (y.sum() - y) / (len(y) - 1)
    errors = (y - np.where(counts > 0, sums / np.maximum(counts, 1), of_all)) ** 2
    kept = np.arange(len(y)) != errors.argmax()
    spread = float(np.sum((y[kept] - y[kept].mean()) ** 2))
    return 1.0 - float(errors[kept].sum()) / spread if spread > 0.0 else 0.0


def _codes(texts: Any) -> Indices:
    return np.unique(texts.astype(str), return_inverse=True)[1].astype(np.intp)


def _are_few(codes: Indices) -> bool:
    """Whether there are few texts for the number of rows, so that they are no names of rows."""
    return bool(ROWS_PER_TEXT * (codes.max() + 1) <= len(codes))


# Classes --------------------------------------------------------------------------------------------------------------


def _note_on_classes(name: str, values: Any, labels: Any) -> str | None:
    classes, y = np.unique(labels, return_inverse=True)
    n_others = len(y) - int(np.bincount(y).max())
    is_told = _told_by_numbers(values, y, len(classes)) if values.dtype.kind == "f" else _told_by_text(_codes(values), y)
    n_missed = len(y) - int(is_told.sum())
    may_miss = min(max(1.0, (1.0 - NEARLY_ALL) * len(y)), MISSED * n_others)
    if n_others < RARE_CLASSES or n_missed > may_miss:
        return None
    return _with_remedy(name, f"column {quoted(name)} alone tells the class of {100 * (1 - n_missed / len(y)):.1f} % of the rows.")


def _told_by_numbers(values: Floats, y: Indices, n_classes: int) -> Any:
    """Whether one interval of numbers for each class tells the class of each row."""
    tree = DecisionTreeClassifier(max_leaf_nodes=n_classes, random_state=0)
    return tree.fit(values[:, None], y).predict(values[:, None]) == y


def _told_by_text(codes: Indices, y: Indices) -> Any:
    """Whether the class of each row is the most frequent one of all other rows with the same text."""
    if not _are_few(codes):
        return np.zeros(len(y), dtype=bool)
    table = np.zeros((codes.max() + 1, y.max() + 1), dtype=np.intp)
    np.add.at(table, (codes, y), 1)
    left = table[codes]  # the other rows with the same text
    left[np.arange(len(y)), y] -= 1
    own = left[np.arange(len(y)), y]
    return (own > 0) & (own == left.max(axis=1))


# Numbers --------------------------------------------------------------------------------------------------------------


def _counts_rows(values: Floats) -> bool:
    """Whether values are distinct whole numbers without large gaps. A table sorted by its target may have them as identifiers."""
    is_whole = bool((values == np.round(values)).all())
    return is_whole and np.ptp(values) <= DENSE_IDS * len(values) and len(np.unique(values)) == len(values)


def _correlation(a: Floats, b: Floats) -> float:
    """The correlation, or zero if one of them does not vary."""
    a, b = a - a.mean(), b - b.mean()
    energy = float(a @ a) * float(b @ b)
    return float(a @ b) / energy**0.5 if energy > 0.0 else 0.0
