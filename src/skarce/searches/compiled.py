"""Best single actions in compiled code, for criteria with one ridge per weight on a whole Gram."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria.criterion import CompiledRule
from skarce.moments import whole_matrix
from skarce.searches import _climb
from skarce.states.state import EXACT_FIT, RIDGE_RANGE, State

ACTIONS, GROWTH = np.array(["add", "change", "delete"]), np.array([1, 0, -1])
NEW_FUNCTIONS = 128  # at most this many enter in one stretch of compiled steps
MAX_DRIFT = 1e-8  # of the maintained alignments, relative to their size, before they are computed afresh


class Steps(NamedTuple):
    """Single actions that were taken: what, to which candidate, what it gained, and how it changed the size of the model."""

    actions: NDArray[np.str_]
    candidates: Indices
    gains: Floats
    growth: Indices


def take_steps(
    rule: CompiledRule,
    state: State,
    tol: float,
    max_steps: int,
    room: int,
    max_changes: int,
) -> Steps:
    """Take up to `max_steps` best single actions, and refresh the state.

    By generalized cross validation where the state has squares, else by the evidence. Returns the actions; none when no action
    gains more than `tol`. It also stops after `max_changes` changes in a row, and, for the refresh, when rank-one changes have
    lost digits. `BestAction(compiled=False)` takes the same steps and is its oracle.
    """
    gram = state.moments.gram
    size, n_candidates = len(state), state.moments.n_candidates
    capacity = min(size + min(room, max_steps, NEW_FUNCTIONS), n_candidates)
    inverse = np.zeros((capacity, capacity))
    inverse[:size, :size] = state.inverse
    weights, ridges, active = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity, dtype=np.int64)
    weights[:size], ridges[:size], active[:size] = state.weights, state.ridges, state.active
    actions, indices, gains = np.empty(max_steps, np.int64), np.empty(max_steps, np.int64), np.empty(max_steps)
    nothing = np.empty(0)
    squares = (state.remainder, state.overlap) if state.has_squares else (nothing, nothing)
    sums = (state.residual, state.freedom) if state.has_squares else (0.0, 0.0)
    steps, size, _, _ = _climb.climb(
        *(whole_matrix(gram), gram.diagonal, state.leftover, state.alignment, inverse, weights, ridges, active),
        *(actions, indices, gains, *squares, n_candidates, size, capacity, capacity, max_steps, max_changes),
        *(state.energy, state.moments.n_samples, rule.noise_variance or -1.0, tol),
        *(state.dependent, *RIDGE_RANGE, MAX_DRIFT, *sums, rule.lowest_ridge, EXACT_FIT * state.moments.target_energy),
    )
    if steps:
        state.restart(active[:size], ridges[:size])
    taken = actions[:steps]
    return Steps(ACTIONS[taken], indices[:steps], gains[:steps], GROWTH[taken])
