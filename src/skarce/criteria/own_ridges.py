"""What is common to criteria in which each function has its own ridge."""

from __future__ import annotations

import numpy as np

from skarce.criteria.criterion import Criterion
from skarce.states.state import State

WORTH_A_CHANGE = 1e-3  # least gain in the score; after most additions and removals the other ridges hardly move
MOST_CHANGES = 10  # after one addition or removal; the next call continues from there


def settle_ridges(criterion: Criterion, state: State) -> None:
    """Make the best changes of single ridges after an addition or a removal, while they gain something. No function leaves."""
    for _ in range(MOST_CHANGES if len(state) else 0):
        ridges, gains = criterion.changes(state, state.moments.n_samples)
        gains[~np.isfinite(ridges)] = -np.inf
        position = int(gains.argmax())
        if not gains[position] > WORTH_A_CHANGE:
            return
        state.change(position, float(ridges[position]))
