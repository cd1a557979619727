"""Significance tests for two methods on the same splits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, ttest_1samp, wilcoxon

from skarce._typing import Floats


@dataclass(frozen=True)
class PairTest:
    """`of(differences)` returns the two-sided p-value and the sign of the differences. The p-value is None if there are too few.

    With fewer than `least_pairs` pairs, no difference can be significant. `note` explains the test on the page.
    """

    of: Callable[[Floats], tuple[float | None, int]]
    least_pairs: int
    note: str


def signed_rank_test(differences: Floats) -> tuple[float | None, int]:
    """The two-sided p-value, and the sign of the sum of signed ranks. Differences of zero are left out."""
    if not len(differences):
        return None, 0
    if not np.any(differences):
        return 1.0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # if there are few pairs or ties, the p-value is the normal approximation
        p_value = float(wilcoxon(differences).pvalue)
    nonzero = differences[differences != 0.0]
    return p_value, int(np.sign(np.sum(rankdata(np.abs(nonzero)) * np.sign(nonzero))))


def paired_t_test(differences: Floats) -> tuple[float | None, int]:
    """The two-sided p-value for a mean of zero, and the sign of the mean. It needs at least two pairs."""
    if len(differences) < 2:
        return None, 0
    sign = int(np.sign(differences.mean()))
    if np.ptp(differences) == 0.0:  # no spread: the methods are equal, or one is always worse by the same amount
        return (0.0, sign) if sign else (1.0, 0)
    return float(ttest_1samp(differences, 0.0).pvalue), sign


SIGNED_RANK = PairTest(
    signed_rank_test,
    6,  # the smallest two-sided p-value of five pairs is 2 / 2**5
    "p-values come from the two-sided Wilcoxon signed-rank test over repeats. Fewer than six pairs cannot be significant.",
)
T_TEST = PairTest(
    paired_t_test,
    2,
    "p-values come from the two-sided paired t-test over repeats.",
)
