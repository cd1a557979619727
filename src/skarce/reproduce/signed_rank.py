"""The Wilcoxon signed rank test for pairs of methods, and whether a paper's claims hold."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.stats import rankdata, wilcoxon

from skarce.reproduce.paper import Claim, Pair
from skarce.reproduce.units import Record

LEVEL = 0.05
LEAST_PAIRS = 6  # the least two-sided p-value of five pairs is 2 / 2**5


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same splits: the two-sided p-value, the one with the smaller errors, and the number of pairs."""

    pair: Pair
    p_value: float | None
    better: str | None
    n_pairs: int

    @property
    def is_significant(self) -> bool:
        return self.p_value is not None and self.p_value < LEVEL


class Verdict(Enum):
    """Our comparison beside one that the paper found significant."""

    AGREES = "agrees"
    OPPOSITE = "opposite"
    NOT_SIGNIFICANT = "not significant"
    WINNER_NOT_STATED = "significant too (the paper names no winner)"
    TOO_FEW = "too few repeats to tell"


def errors_by_repeat(records: Iterable[Record], method: str) -> dict[int, float]:
    """The test errors of a method on one experiment."""
    return {record.repeat: record.error for record in records if record.method == method and record.error is not None}


def comparisons(records: Sequence[Record], methods: Sequence[str]) -> dict[Pair, Comparison]:
    """Every pair of methods on the splits that both have done."""
    errors = {method: errors_by_repeat(records, method) for method in methods}
    return {pair: _compared(pair, errors) for pair in itertools.combinations(methods, 2)}


def _compared(pair: Pair, errors: Mapping[str, Mapping[int, float]]) -> Comparison:
    first, second = (errors[method] for method in pair)
    shared = sorted(set(first) & set(second))
    differences = np.array([first[repeat] - second[repeat] for repeat in shared])
    p_value, sign = signed_rank_test(differences)
    return Comparison(pair, p_value, {-1: pair[0], 1: pair[1]}.get(sign), len(shared))


def signed_rank_test(differences: np.typing.NDArray[np.float64]) -> tuple[float | None, int]:
    """The two-sided p-value and the sign of the sum of signed ranks; differences of zero tell nothing."""
    if not len(differences):
        return None, 0
    if not np.any(differences):
        return 1.0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few pairs or ties: the p-value is then the normal approximation
        p_value = float(wilcoxon(differences).pvalue)
    nonzero = differences[differences != 0.0]
    return p_value, int(np.sign(np.sum(rankdata(np.abs(nonzero)) * np.sign(nonzero))))


def verdict(claim: Claim, ours: Comparison | None) -> Verdict:
    """What we found on a claim that the paper found significant."""
    if ours is None or ours.n_pairs < LEAST_PAIRS:
        return Verdict.TOO_FEW
    if not ours.is_significant:
        return Verdict.NOT_SIGNIFICANT
    if claim.better is None:
        return Verdict.WINNER_NOT_STATED
    return Verdict.AGREES if ours.better == claim.better else Verdict.OPPOSITE
