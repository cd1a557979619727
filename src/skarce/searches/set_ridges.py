"""The best ridges of one set of functions, if a criterion has one ridge for each of them.

A criterion can have several maxima in the ridges of one set. A climb takes joint steps until they end, and then the best single
action within the set: a function that left on the way may come back. It ends where no single action helps. Climbs begin at several
starts, and the highest end counts:

- the ridges that the criterion proposes for the set,
- ridges so small that the set is nearly fitted by least squares,
- the same with a large ridge for one function, for each function in turn.

If functions resemble each other, the first start lets functions leave that are only useful together. The other starts do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.searches.best_action import BestAction
from skarce.searches.joint_steps import joint_steps
from skarce.searches.search import Start
from skarce.states.active_block import ActiveBlock
from skarce.states.state import State, resolved_energy

SMALL_RIDGE, LARGE_RIDGE = 1e-6, 1.0  # of phi'phi: nearly least squares, and half of it
RIDGE_TOLERANCE, MOST_RIDGE_STEPS = 1e-8, 200  # a climb ends where a step promises less, and its joint steps after this many
MOST_RETURNS = 20  # single actions of one climb


def best_ridges(criterion: Criterion, moments: Moments, members: Indices, known: Floats | None = None) -> Start:
    """Return the functions of a set that are left at its best ridges, and these ridges. `known` ridges are one more start."""
    if not len(members):
        return members, np.empty(0)
    alone = moments.restricted_to(members)
    climbs = [climbed(criterion, alone, ridges) for ridges in _starts(criterion, alone, known)]
    best = max((climb for climb in climbs if climb is not None), key=criterion.state_score)
    return members[best.active], best.ridges.copy()


def _starts(criterion: Criterion, moments: Moments, known: Floats | None) -> Iterator[Floats]:
    """Yield ridges for all functions of these moments."""
    norms = moments.gram.diagonal
    n_functions = len(norms)
    yield criterion.starting(moments, np.arange(n_functions, dtype=np.intp))[1]
    if known is not None:
        yield known
    if n_functions > 1:  # one ridge alone has a single maximum
        yield SMALL_RIDGE * norms
        yield from np.where(np.eye(n_functions, dtype=bool), LARGE_RIDGE, SMALL_RIDGE) * norms


def climbed(criterion: Criterion, moments: Moments, ridges: Floats) -> State | None:
    """Return the set of all functions after a climb from these ridges. None if their H is singular to working precision."""
    positions, best = np.arange(len(ridges), dtype=np.intp), None
    for _ in range(MOST_RETURNS):
        state = _after_joint_steps(criterion, moments, positions, ridges)
        if state is None or (best is not None and not criterion.state_score(state) > criterion.state_score(best)):
            return best
        best = state
        action, index, ridge, gain = BestAction.best(criterion, state, len(ridges))
        if not gain > RIDGE_TOLERANCE:
            return best
        onward = criterion.new_state(moments, state.active, state.ridges)
        BestAction.apply(onward, action, index, ridge)
        positions, ridges = onward.active, onward.ridges
    return best


def _after_joint_steps(criterion: Criterion, moments: Moments, positions: Indices, ridges: Floats) -> State | None:
    block, projections = moments.gram.block(positions, positions), moments.projections[positions]
    try:
        start = ActiveBlock(block, projections, resolved_energy(moments), ridges)
    except NotPositiveDefiniteError:
        return None
    settled = joint_steps(criterion, start, moments.n_samples, RIDGE_TOLERANCE, MOST_RIDGE_STEPS)
    return criterion.new_state(moments, positions[settled.positions], settled.block.ridges)
