"""What criteria share whose functions have no ridge in the state: candidates must be independent of the set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.state import State

# Without a ridge, a candidate is skipped if less than this share of it is left: about 1e-10 of it is rounding.
SCARCELY_LEFT = 1e-9
LEAST_FREEDOM = 1.0  # degrees of freedom that an addition must leave: with none, V is 0/0


def independent_candidates(state: State) -> NDArray[np.bool_]:
    """Tell which candidates are independent of the active functions. What is left of the others is rounding."""
    return state.leftover > SCARCELY_LEFT * state.moments.gram.diagonal


def independent_start(moments: Moments, members: Indices) -> tuple[Indices, Floats]:
    """Return as many of these functions as are independent and leave a degree of freedom, without ridges."""
    squared_norms = moments.gram.diagonal[members]
    gram = moments.gram.block(members, members) / np.sqrt(np.multiply.outer(squared_norms, squared_norms))
    _, order, rank, _ = lapack.dpstrf(gram, tol=SCARCELY_LEFT, lower=1)
    room = max(int(moments.n_samples - LEAST_FREEDOM), 0)
    kept = members[np.sort(order[: min(rank, room)] - 1)]
    return kept, np.zeros(len(kept))
