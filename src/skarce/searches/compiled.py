"""Best single actions in compiled code, for criteria with one ridge per weight and a whole Gram matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria.criterion import CompiledRule
from skarce.moments import whole_matrix
from skarce.searches import _climb
from skarce.states.state import DEPENDENT, EXACT_FIT, RIDGE_RANGE, State

ACTIONS, GROWTH = np.array(["add", "change", "delete"]), np.array([1, 0, -1])
DIGITS_LOST = 2  # what the compiled loop returns if updates have lost digits
NEW_FUNCTIONS = 128  # at most this many functions enter in one call of the compiled loop
NEW_BY_SQUARES = 512  # the same if the state has squares: then more functions enter, and a refresh takes longer
MAX_DRIFT = 1e-8  # largest error of the updated alignments, relative to their size, before they are computed again
# The same if solutions with H are refined, which then have as many digits as the steps need. The search checks the gain afterwards.
MAX_REFINED_DRIFT = 1e-6
MOST_TOGETHER = 32  # changes of ridges before additions are looked at again
LEAST_REMAINDER = 1e-11  # updates cannot tell a smaller share of a candidate from rounding


class Steps(NamedTuple):
    """The single actions that were taken.

    Attributes
    ----------
    actions : array of shape (n_steps,)
        "add", "change" or "delete".
    candidates : array of shape (n_steps,)
        The candidate of each action.
    gains : array of shape (n_steps,)
        How much each action raised the score.
    growth : array of shape (n_steps,)
        By how many functions the model grew: 1, 0 or -1.
    is_cut_short : bool
        Whether the steps ended only because updates had lost digits, so that a refresh was due.
    """

    actions: NDArray[np.str_]
    candidates: Indices
    gains: Floats
    growth: Indices
    is_cut_short: bool


def take_steps(
    rule: CompiledRule,
    state: State,
    tol: float,
    max_steps: int,
    room: int,
    max_changes: int,
    together: int = 1,
    near: Indices | None = None,
) -> Steps:
    """Take up to `max_steps` best single actions, and refresh the state.

    The steps use generalized cross validation if the state has squares, and the evidence if it does not. They end if no action
    gains more than `tol`, after `max_changes` changes in a row, or if rank-one updates have lost digits, so that a refresh is due.
    If H would lose digits with P squared, every solution with its inverse is refined once. Candidates of which less than
    `LEAST_REMAINDER` is left do not enter.
    After a change of a ridge, the next changes look at the active functions alone, up to `together` of them in a row, while each
    gains more than the best addition that was known before. Candidates then see all of them in one pass over the Gram matrix.
    If candidates are `near`, only these may enter, and the others see nothing before the refresh, so that a step costs less.
    Return the actions. `BestAction(compiled=False)` takes the same steps if `together` is 1 and `near` is None; the tests compare
    the two.
    """
    refines = state.has_squares and state.loses_digits()
    seen = None if near is None else np.concatenate([state.active, np.setdiff1d(near, state.active)])
    gram, diagonal, leftover, alignment, *squares = _as_seen(state, seen)
    size, n_candidates = len(state), len(diagonal)
    capacity = min(size + min(room, max_steps, NEW_BY_SQUARES if state.has_squares else NEW_FUNCTIONS), n_candidates)
    inverse = np.zeros((capacity, capacity))
    inverse[:size, :size] = state.inverse
    weights, ridges, active = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity, dtype=np.int64)
    weights[:size], ridges[:size], active[:size] = state.weights, state.ridges, state.active if seen is None else np.arange(size)
    actions, indices, gains = np.empty(max_steps, np.int64), np.empty(max_steps, np.int64), np.empty(max_steps)
    sums = (state.residual, state.freedom) if state.has_squares else (0.0, 0.0)
    steps, size, _, status = _climb.climb(
        *(gram, diagonal, leftover, alignment, inverse, weights, ridges, active),
        *(
            actions,
            indices,
            gains,
            *squares,
            n_candidates,
            size,
            capacity,
            capacity,
            max_steps,
            max_changes,
            int(refines),
            together,
        ),
        *(state.energy, state.moments.n_samples, rule.noise_variance or -1.0, tol),
        *(max(state.dependent, LEAST_REMAINDER), *RIDGE_RANGE, MAX_REFINED_DRIFT if refines else MAX_DRIFT, DEPENDENT),
        *(*sums, rule.lowest_ridge, EXACT_FIT * state.moments.target_energy),
    )
    if seen is not None:
        active[:size], indices[:steps] = seen[active[:size]], seen[indices[:steps]]
    if steps:
        state.restart(active[:size], ridges[:size])
    taken = actions[:steps]
    return Steps(ACTIONS[taken], indices[:steps], gains[:steps], GROWTH[taken], status == DIGITS_LOST)


def _as_seen(state: State, seen: Indices | None) -> list[Floats]:
    """Return the Gram matrix, and what the steps update for the candidates that they see. None sees all of them."""
    quantities = [state.leftover, state.alignment]
    quantities += [state.remainder, state.overlap] if state.has_squares else [np.empty(0), np.empty(0)]
    gram, diagonal = whole_matrix(state.moments.gram), state.moments.gram.diagonal
    if seen is None:
        return [gram, diagonal, *quantities]
    return [gram[seen[:, None], seen], diagonal[seen], *(values[seen] if len(values) else values for values in quantities)]
