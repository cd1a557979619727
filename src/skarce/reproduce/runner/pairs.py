"""Two methods on the same splits: which one is better, and whether the paper's claims hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from skarce.reproduce.runner.pair_tests import SIGNED_RANK, PairTest
from skarce.reproduce.runner.paper import Claim, Pair
from skarce.reproduce.runner.units import Record

LEVEL = 0.05  # differences with a smaller p-value are called significant


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same splits: the two-sided p-value, the method with the smaller errors, and the number of splits."""

    pair: Pair
    p_value: float | None
    better: str | None
    n_pairs: int

    @property
    def is_significant(self) -> bool:
        return self.p_value is not None and self.p_value < LEVEL

    @property
    def worse(self) -> str | None:
        """The method with the larger errors, or None if neither is better."""
        return None if self.better is None else self.pair[self.better == self.pair[0]]


class Verdict(Enum):
    """How our comparison relates to one that the paper found significant."""

    AGREES = "agrees"
    OPPOSITE = "opposite"
    NOT_SIGNIFICANT = "not significant"
    WINNER_NOT_STATED = "significant too (the paper names no winner)"
    TOO_FEW = "too few repeats to tell"


def errors_by_repeat(records: Iterable[Record], method: str) -> dict[int, float]:
    """The test errors of one method on one experiment."""
    return {record.repeat: record.error for record in records if record.method == method and record.error is not None}


def comparisons(records: Sequence[Record], methods: Sequence[str], test: PairTest = SIGNED_RANK) -> dict[Pair, Comparison]:
    """Compare every pair of methods on the splits that both have finished."""
    errors = {method: errors_by_repeat(records, method) for method in methods}
    return {pair: _compared(pair, errors, test) for pair in itertools.combinations(methods, 2)}


def _compared(pair: Pair, errors: Mapping[str, Mapping[int, float]], test: PairTest) -> Comparison:
    first, second = (errors[method] for method in pair)
    shared = sorted(set(first) & set(second))
    p_value, sign = test.of(np.array([first[repeat] - second[repeat] for repeat in shared]))
    return Comparison(pair, p_value, {-1: pair[0], 1: pair[1]}.get(sign), len(shared))


def verdict(claim: Claim, ours: Comparison | None, least_pairs: int = SIGNED_RANK.least_pairs) -> Verdict:
    """What our comparison says about a claim that the paper found significant."""
    if ours is None or ours.n_pairs < least_pairs:
        return Verdict.TOO_FEW
    if not ours.is_significant:
        return Verdict.NOT_SIGNIFICANT
    if claim.better is None:
        return Verdict.WINNER_NOT_STATED
    return Verdict.AGREES if ours.better == claim.better else Verdict.OPPOSITE
