"""What criteria have in common that give each function a ridge of its own."""

from __future__ import annotations

import numpy as np

from skarce.criteria.criterion import Criterion
from skarce.states.state import State

WORTH_A_CHANGE = 1e-3  # of the score: the ridges of the others hardly move after most additions and removals
MOST_CHANGES = 10  # after one of them; the next goes on from there


def settle_ridges(criterion: Criterion, state: State) -> None:
    """After an addition or a removal: the best changes of single ridges, as long as they gain something. No function leaves."""
    for _ in range(MOST_CHANGES if len(state) else 0):
        ridges, gains = criterion.changes(state, state.moments.n_samples)
        gains[~np.isfinite(ridges)] = -np.inf
        position = int(gains.argmax())
        if not gains[position] > WORTH_A_CHANGE:
            return
        state.change(position, float(ridges[position]))
