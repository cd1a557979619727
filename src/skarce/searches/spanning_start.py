"""A start for searches with wide kernels: functions that span the others.

Learned widths are often so large that all functions look alike. Then no single addition to a small model helps, although many
together would, and a search from the empty model ends with two or three functions. A pivoted Cholesky factorization of the Gram
matrix chooses a few functions that approximate all others up to the ridge of largest evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack
from sklearn.utils import check_random_state

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.criteria.one_precision import EvidenceFit
from skarce.criteria.one_ridge import OneRidge
from skarce.moments import Moments
from skarce.moments.directions import Directions
from skarce.moments.gram import block_of_matrix
from skarce.searches.joint_steps import joint_steps
from skarce.searches.search import Start
from skarce.searches.spanning_sets import SpanningSets
from skarce.states.active_block import ActiveBlock
from skarce.states.budget import Budget
from skarce.states.state import resolved_energy

POOL = 1000  # the functions are chosen from at most this many candidates
MOST = 300  # largest number of functions at the start; with more, every step is slow
LOOK = (100, 200)  # least and most candidates of a look, which says whether a search has stopped too early
ROWS_PER_CANDIDATE = 4  # of a look
FEW, APART = 20, 0.04  # candidates look alike if this few of them leave no more than this share of any other unexplained
FRUITLESS = 20.0  # a start that is worth less than the model by this much, in log evidence, does not catch up
LARGEST_SHARE = 1 / 3  # of the rows; with more functions at the start, a small error says little
SETTLING_STEPS = 8  # joint steps that remove superfluous functions together; single actions take them out one by one
HALF_OF_THE_DIGITS = float(np.finfo(float).eps ** -0.5)  # a condition number at which half of the digits are left


@dataclass(frozen=True)
class SpanningStart:
    """Start from functions that span the others, up to the ridge of largest evidence.

    Parameters
    ----------
    random_state : int, default=0
        Seed for the choice of candidates if there are many.
    """

    random_state: int = 0

    def of(self, moments: Moments, max_active: int | None) -> Start | None:
        """Return candidates and their ridges, which are all the same, or None if the evidence prefers noise alone."""
        spanned = Spanned.of(moments, POOL, self.random_state)
        return None if spanned is None else spanned.start(EvidenceFit, max_active)


@dataclass(frozen=True)
class Spanned:
    """Candidates in the order in which they span the others.

    Parameters
    ----------
    moments : Moments
        What the data say about all candidates.
    pool : array of shape (n_pool,)
        The candidates to choose from.
    directions : Directions
        Their pivots and eigenvectors.
    projected : array of shape (n_directions,)
        The projections of the target on the eigenvectors.
    """

    moments: Moments
    pool: Indices
    directions: Directions
    projected: Floats

    @classmethod
    def of(cls, moments: Moments, most: int, random_state: int) -> Spanned | None:
        """Decompose at most this many candidates that are not constant. Return None if there are none."""
        pool = _sample(moments, most, random_state)
        return cls.by(moments, pool, moments.gram.block(pool, pool))

    @classmethod
    def by(cls, moments: Moments, pool: Indices, gram: Floats) -> Spanned | None:
        """Decompose these candidates, whose Gram matrix this is."""
        directions = Directions.of(gram)
        if not len(directions.eigenvalues):
            return None
        return cls(moments, pool, directions, directions.project(moments.projections[pool]))

    def start(self, rule: type[OneRidge], max_active: int | None, largest_condition: float = np.inf) -> Start | None:
        """Return candidates at the best ridge for all of them, or None if noise alone is better or H is too ill-conditioned."""
        eigenvalues, moments = self.directions.eigenvalues, self.moments
        fit = rule.of(eigenvalues, self.projected, resolved_energy(moments), moments.n_samples)
        ridge = fit.best_ridge()
        if ridge >= fit.bounds[1] or eigenvalues.max() > largest_condition * ridge:
            return None
        size = min(int(np.count_nonzero(self.directions.heights > ridge)), MOST, max_active or MOST)
        return (self.pool[self.directions.pivots[:size]], np.full(size, ridge)) if size else None


def better_start(criterion: Criterion, moments: Moments, worth: float, budget: Budget) -> Start | None:
    """Return functions that span a sample of the others, if they are worth more at one ridge than a model at its own ridges.

    A model in which every function has its own best ridge should win. If it loses, the search has stopped too early. Return None
    if it wins. The sample is small, so that the look takes little time beside the fit. It takes even less if the functions do not
    look alike: then a search does not stop early.

    The one ridge is the best by the criterion, unless H is then ill-conditioned, so that steps would be slow, or else by the
    evidence, which has no sharp minimum at tiny ridges.
    """
    own = criterion.one_ridge()
    if own is None:
        return None
    least, most = LOOK
    pool = _sample(moments, min(max(int(moments.n_samples / ROWS_PER_CANDIDATE), least), most), 0)
    gram = moments.gram.block(pool, pool)
    pivots, heights = _pivots(gram)
    if not _look_alike(heights):
        return None
    most = int(LARGEST_SHARE * _n_distinct(moments))
    pivots = pivots[: most + 1]
    sets = SpanningSets(criterion, moments, pool[pivots], block_of_matrix(gram, pivots, pivots), heights, most)
    if not sets.may_win(worth, are_cut=(budget.max_active or most) < most):
        return None
    spanned = Spanned.by(moments, sets.spanning, sets.gram)
    if spanned is None:
        return None
    starts = [spanned.start(EvidenceFit, budget.max_active)]
    if own is not EvidenceFit:
        starts.insert(0, spanned.start(own, budget.max_active, HALF_OF_THE_DIGITS))
    for active, ridges in filter(None, starts):
        block = _block(active, ridges, moments)
        if block is not None and criterion.score(block, moments.n_samples) > worth:
            settled = joint_steps(criterion, block, moments.n_samples, budget.least_gain, SETTLING_STEPS)
            return active[settled.positions], settled.block.ridges
    return None


def _sample(moments: Moments, most: int, random_state: int) -> Indices:
    """Return at most this many candidates that are not constant, in ascending order."""
    pool = np.flatnonzero(moments.gram.diagonal > 0.0)
    return pool if len(pool) <= most else pool[_drawn(len(pool), most, random_state)]


@lru_cache(maxsize=16)
def _drawn(n: int, most: int, random_state: int) -> Indices:
    """Draw this many of the first n numbers. To seed a generator takes longer than a step of a small search."""
    return np.sort(check_random_state(random_state).choice(n, most, replace=False))


def _pivots(gram: Floats) -> tuple[Indices, Floats]:
    """Return candidates in the order in which they span the others, and the squared distance of each from those before it."""
    factor, pivots, rank, _ = lapack.dpstrf(gram.T)  # the same matrix, in the memory order of LAPACK
    return pivots[:rank] - 1, factor.diagonal()[:rank] ** 2


def _look_alike(heights: Floats) -> bool:
    """Whether a few candidates span all others nearly: those that the pivots of a Cholesky factorization choose."""
    return len(heights) <= FEW or bool(heights[FEW] <= APART * heights[0])


def _block(active: Indices, ridges: Floats, moments: Moments) -> ActiveBlock | None:
    if len(active) > LARGEST_SHARE * _n_distinct(moments):
        return None
    try:
        return ActiveBlock(moments.gram.block(active, active), moments.projections[active], resolved_energy(moments), ridges)
    except NotPositiveDefiniteError:
        return None


def _n_distinct(moments: Moments) -> float:
    """The number of rows at most; rows that are counted several times have one kernel."""
    return min(moments.n_samples, moments.n_candidates)
