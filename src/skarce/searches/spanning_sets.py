"""Whether functions that span the others are worth more at one ridge than a model, at any ridge at all.

The best ridge takes eigenvectors of all functions. But most models are ahead at every ridge, and a few Cholesky factors prove it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, solve_lower
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.states.active_block import ActiveBlock
from skarce.states.state import left_of, resolved_energy

FIRST_SIZES = (12, 24, 48, 96)  # of the sets that are tried before anything is proved
FAR_BEHIND = 60.0  # if all of these are this far behind a model, the sets at all other ridges do not win either
PAST_THE_PEAK = 10.0  # the same if larger sets are worse again; measured by generalized cross validation, which has no bound
TINY = 1e-4  # ridges below this share of all heights are one range
MOST_HALVINGS = 8  # of ranges of ridges; after that, the best ridge takes less time


class _Set(NamedTuple):
    """A ridge and its set, with t'P t, log|I + Phi Lambda^-1 Phi'| and the score. By default, nothing is known but their limits."""

    ridge: float
    energy: float = 0.0
    log_determinant: float = 0.0
    score: float = np.inf


class SpanningSets:
    r"""For each ridge, the functions that are farther from the span of those before them than this ridge, all at this ridge.

    The lower the ridge, the larger the set. So for all ridges between two, :math:`t^TPt` is at least that at the lower one, and
    :math:`\log|I+\Phi\Lambda^{-1}\Phi^T|` at least that at the higher one. Together they bound the score.

    Parameters
    ----------
    criterion : Criterion
        What scores the sets.
    moments : Moments
        What the data say about the candidates.
    spanning : array of shape (n_spanning,)
        Candidates in the order in which they span the others.
    gram : array of shape (n_spanning, n_spanning)
        Their Gram matrix.
    heights : array of shape (n_spanning,)
        The squared distance of each from the span of those before it, in descending order.
    most : int
        Larger sets do not count.

    Attributes
    ----------
    spanning : array of shape (n,)
        As many of the candidates as count, and one more.
    gram : array of shape (n, n)
        The Gram matrix of these.
    """

    def __init__(self, criterion: Criterion, moments: Moments, spanning: Indices, gram: Floats, heights: Floats, most: int) -> None:
        self._criterion, self._n_samples, self._energy = criterion, moments.n_samples, resolved_energy(moments)
        self._all_count, self._heights, self.spanning = len(heights) <= most, heights[: most + 1], spanning[: most + 1]
        self.gram = gram[: most + 1, : most + 1]
        self._projections = moments.projections[self.spanning]

    def may_win(self, worth: float, *, are_cut: bool = False) -> bool:
        """Tell whether a set may be worth more than this. Nothing can be proved if sets are cut to fewer functions."""
        tried = [self._at(float(self._heights[n])) for n in FIRST_SIZES if n < len(self._heights)]
        best = max((one.score for one in tried), default=np.inf)
        is_past_the_peak = bool(tried) and tried[-1].score < best
        if best <= worth - (PAST_THE_PEAK if is_past_the_peak and not self._has_bound else FAR_BEHIND):
            return False
        return best > worth or are_cut or not self._are_beaten(tried, worth)

    def _are_beaten(self, tried: list[_Set], worth: float) -> bool:
        """Tell whether bounds between some sets, from the smallest to the largest, prove that no set is worth more."""
        if not self._has_bound:
            return False
        floor = float(self._heights[-1]) * (TINY if self._all_count else 1.0)
        known = [self._at(float(self._heights[0])), *tried, self._at(floor)]
        if not self._bound(self._least_energy(), known[-1].log_determinant) <= worth:
            return False
        ranges, n_halvings = list(pairwise(known)), 0
        while ranges:
            small, large = ranges.pop()
            if self._bound(large.energy, small.log_determinant) <= worth:
                continue
            middle, n_halvings = self._at(float(np.sqrt(small.ridge * large.ridge))), n_halvings + 1
            if middle.score > worth or n_halvings > MOST_HALVINGS:
                return False
            ranges += [(small, middle), (middle, large)]
        return True

    @property
    def _has_bound(self) -> bool:
        return self._bound(self._energy, 0.0) < np.inf

    def _bound(self, energy: float, log_determinant: float) -> float:
        return self._criterion.score_bound(energy, log_determinant, self._n_samples)

    def _at(self, ridge: float) -> _Set:
        n = int(np.count_nonzero(self._heights > ridge))
        try:
            block = ActiveBlock(self.gram[:n, :n], self._projections[:n], self._energy, np.full(n, ridge))
        except NotPositiveDefiniteError:
            return _Set(ridge)
        return _Set(ridge, block.energy, block.log_determinant, self._criterion.score(block, self._n_samples))

    def _least_energy(self) -> float:
        """Return t'P t of all functions without a ridge. It is infinite if they are too many to count, and zero if unknown."""
        if not self._all_count:
            return np.inf
        try:
            return left_of(self._energy, solve_lower(cholesky(self.gram), self._projections))
        except NotPositiveDefiniteError:
            return 0.0
