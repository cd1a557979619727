"""Where a search begins when the kernels are wide: with functions that span the others.

Learned widths are often so large that all functions look alike, and no single addition to a small model helps although many
together would: a search from the empty model then ends with two or three. A pivoted Cholesky factorisation of the Gram matrix
chooses a few functions that the others depend on, to within the ridge that the evidence of all of them asks for.
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

POOL = 1000  # the functions are chosen among at most this many candidates
MOST = 300  # functions at the start; from more on every step is slow


@dataclass(frozen=True)
class SpanningStart:
    """Functions that span the others, to within the ridge that the evidence asks for.

    Parameters
    ----------
    random_state : seeds the pool of candidates, if there are many
    """

    random_state: int = 0

    def of(self, moments: Moments, max_active: int | None) -> Start | None:
        """Return candidates and their common ridge, or None if the evidence prefers noise alone."""
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
