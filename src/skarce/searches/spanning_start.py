"""A start for searches with wide kernels: functions that span the others.

Learned widths are often so large that all functions look alike. Then no single addition to a small model helps, although many
together would, and a search from the empty model ends with two or three functions. A pivoted Cholesky factorization of the Gram
matrix chooses a few functions that approximate all others up to the ridge of largest evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from skarce._linalg import NotPositiveDefiniteError
from skarce.criteria import Criterion
from skarce.criteria.one_precision import EvidenceFit
from skarce.criteria.one_ridge import OneRidge
from skarce.moments import Moments
from skarce.moments.directions import Directions
from skarce.searches.search import Start
from skarce.states.active_block import ActiveBlock
from skarce.states.state import State, resolved_energy

POOL = 1000
MOST = 300  # largest number of functions at the start; with more, every step is slow
GLANCE = 300  # candidates for a quick look; they say whether a search has stopped too early
LARGEST_SHARE = 0.5  # of the rows; with more functions at the start, a small error says nothing


@dataclass(frozen=True)
class SpanningStart:
    """Start from functions that span the others, up to the best ridge for all of them.

    Parameters
    ----------
    random_state : int, default=0
        Seed for the choice of candidates if there are many.
    pool : int, default=1000
        The functions are chosen from at most this many candidates.
    fit : subclass of OneRidge, default=EvidenceFit
        How the ridge is chosen.
    """

    random_state: int = 0
    pool: int = POOL
    fit: type[OneRidge] = EvidenceFit

    def of(self, moments: Moments, max_active: int | None) -> Start | None:
        """Return candidates and their ridges, which are all the same, or None if noise alone is better."""
        pool = np.flatnonzero(moments.gram.diagonal > 0.0)
        if len(pool) > self.pool:
            pool = np.sort(check_random_state(self.random_state).choice(pool, self.pool, replace=False))
        directions = Directions.of(moments.gram.block(pool, pool))
        if not len(directions.eigenvalues):
            return None
        projected = directions.project(moments.projections[pool])
        fit = self.fit.of(directions.eigenvalues, projected, resolved_energy(moments), moments.n_samples)
        ridge = fit.best_ridge()
        if ridge >= fit.bounds[1]:
            return None
        size = min(int(np.count_nonzero(directions.heights > ridge)), MOST, max_active or MOST)
        return (pool[directions.pivots[:size]], np.full(size, ridge)) if size else None


def better_start(criterion: Criterion, state: State, max_active: int | None) -> Start | None:
    """Return functions that span a sample of the others, if they are better at one ridge than the model at its own ridges.

    A model in which every function has its own best ridge should win. If it loses, the search has stopped too early. Return None
    if it wins.
    """
    moments, fit = state.moments, criterion.one_ridge()
    start = None if fit is None else SpanningStart(pool=GLANCE, fit=fit).of(moments, max_active)
    if start is None or len(start[0]) > LARGEST_SHARE * moments.n_samples:
        return None
    active, ridges = start
    try:
        block = ActiveBlock(moments.gram.block(active, active), moments.projections[active], resolved_energy(moments), ridges)
    except NotPositiveDefiniteError:
        return None
    return start if criterion.score(block, moments.n_samples) > criterion.score(state, moments.n_samples) else None
