"""A start for searches with wide kernels: functions that span the others.

Learned widths are often so large that all functions look alike. Then no single addition to a small model helps, although many
together would, and a search from the empty model ends with two or three functions. A pivoted Cholesky factorization of the Gram
matrix chooses a few functions that approximate all others up to the ridge of largest evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from skarce.criteria.one_precision import EvidenceFit
from skarce.moments import Moments
from skarce.moments.directions import Directions
from skarce.searches.search import Start
from skarce.states.state import resolved_energy

POOL = 1000  # the functions are chosen from at most this many candidates
MOST = 300  # largest number of functions at the start; with more, every step is slow


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
        pool = np.flatnonzero(moments.gram.diagonal > 0.0)
        if len(pool) > POOL:
            pool = np.sort(check_random_state(self.random_state).choice(pool, POOL, replace=False))
        directions = Directions.of(moments.gram.block(pool, pool))
        if not len(directions.eigenvalues):
            return None
        projected = directions.project(moments.projections[pool])
        fit = EvidenceFit.of(directions.eigenvalues, projected, resolved_energy(moments), moments.n_samples)
        ridge = fit.best_ridge()
        if ridge >= fit.bounds[1]:
            return None
        size = min(int(np.count_nonzero(directions.heights > ridge)), MOST, max_active or MOST)
        return (pool[directions.pivots[:size]], np.full(size, ridge)) if size else None
