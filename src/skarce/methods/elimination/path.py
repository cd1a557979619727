"""Backward elimination after evidence, and forward selection under the same rules (Bo, Wang and Jiao).

The order in which functions leave does not depend on the stop rule (errata 5.2), and continuing down to no functions costs almost
nothing. So elimination always runs to the end. Any rule and tolerance then picks its model from the recorded path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.methods.all_candidates import FullModel, strongest
from skarce.methods.elimination.removals import additions, removals
from skarce.moments import Moments
from skarce.moments.directions import Directions
from skarce.states.fit import Fit, Nested
from skarce.states.journal import Journal
from skarce.states.members import KnownMembers
from skarce.states.outcome import Outcome
from skarce.states.state import resolved_energy

STOPS = ("total", "step")
NEXT_TO_NOTHING = 1e-9  # of the trace of Phi'Phi: a smaller ridge hardly acts
DIRECTIONS = ("backward", "forward")


@dataclass(frozen=True)
class StopRule:
    """Which of the nested models is chosen, by the excess e = (f - f_full) / f_full of its penalized error.

    Parameters
    ----------
    stop : {"total", "step"}
        ``"total"`` chooses the smallest model with e <= tol. ``"step"`` looks at single steps. Backward, it chooses the last model
        before a step that raises f by more than tol f. Forward, it chooses the last model before a step that lowers f by at most
        tol f. Here f is the error of the model before the step.
    tol : float
        The tolerance of both rules.
    direction : {"backward", "forward"}
        Whether functions leave the full model, or enter an empty one.
    """

    stop: str = "total"
    tol: float = 0.05
    direction: str = "backward"

    def size(self, excess: Floats, least: int = 0) -> int:
        """Return the number of functions that the rule chooses.

        `excess` lists the models of `least` functions and more. If a forward path ended before the rule was met, the result is one
        more than its largest model has.
        """
        last = len(excess) - 1 + int(excess[-1] > 0.0)
        if self.stop == "total":
            return least + _first(excess <= self.tol, last)
        changes = excess[:-1] - excess[1:]  # between neighbors, the smaller one first
        if self.direction == "forward":
            return least + _first(changes <= self.tol * (1.0 + excess[:-1]), last)
        too_much = np.flatnonzero(changes > self.tol * (1.0 + excess[1:]))
        return least + (int(too_much[-1]) + 1 if len(too_much) else 0)

    def is_met(self, excess: list[float]) -> bool:
        """Return whether a growing model with these excesses so far can stop growing."""
        if self.stop == "total":
            return excess[-1] <= self.tol
        return len(excess) > 1 and excess[-2] - excess[-1] <= self.tol * (1.0 + excess[-2])


def run_penalized_path(
    criterion: Criterion, moments: Moments, journal: Journal, full: FullModel, rule: StopRule, n_basis: int | None, to_the_end: bool
) -> Fit:
    """Go down from the full model, or up to it, and choose the model of `n_basis` functions or the one of the rule.

    A forward path stops at the chosen model, unless `to_the_end` is true. A backward path always runs to the end.
    """
    down = rule.direction == "backward"
    excess = [0.0 if down else (resolved_energy(moments) - full.energy) / full.energy]
    moved = []
    limit = journal.exhausted()
    wanted = min(size for size in (n_basis, journal.budget.max_active, len(full.candidates)) if size is not None)
    for candidate in _steps(criterion, moments, journal, full, excess, down) if limit is None else ():
        moved.append(candidate)
        is_enough = len(moved) >= wanted or (n_basis is None and rule.is_met(excess))
        limit = journal.exhausted()
        if limit is not None or (not down and is_enough and not to_the_end):
            break
    order = np.array(moved, dtype=np.intp)
    if down:
        order = np.concatenate([np.setdiff1d(full.candidates, order), order[::-1]])
        excess.reverse()
    least = len(full.candidates) - len(moved) if down else 0
    nested = Nested(order, least, [np.array(full.ridge)] * len(excess), [None] * len(excess), -np.array(excess))
    size, outcome = _chosen(rule, nested, n_basis, journal.budget.max_active, limit)
    most = journal.budget.max_active
    if most is not None and size > most:  # a limit ended the path before it was there
        return Fit(strongest(moments, order[:size], full.ridge, most), np.full(most, full.ridge), outcome)
    if outcome is Outcome.GOAL_REACHED and full.outcome is Outcome.NO_NOISE:
        outcome = full.outcome
    weights = _stable_weights(moments, order[:size], full.ridge)
    return Fit(order[:size], np.full(size, full.ridge), outcome, weights=weights, nested=nested)


def _stable_weights(moments: Moments, active: Indices, ridge: float) -> Floats | None:
    """Return weights from the eigenvectors of Phi'Phi if the ridge is almost zero, else None.

    With such a ridge, solving with H would give rounding errors in directions that the data do not determine.
    """
    if ridge > NEXT_TO_NOTHING * float(moments.gram.diagonal[active].sum()):
        return None
    directions = Directions.of(moments.gram.block(active, active))
    return directions.weights(directions.project(moments.projections[active]), ridge)


def _steps(
    criterion: Criterion, moments: Moments, journal: Journal, full: FullModel, excess: list[float], down: bool
) -> Iterator[int]:
    """Yield the candidates that leave (or enter). Each step is noted in the journal and in `excess`."""
    if down:
        sign, action, energy, log_determinant, size = 1, "delete", full.energy, full.log_determinant, len(full.candidates)
        steps = removals(moments.gram, full.candidates, moments.projections, full.ridge)
    else:
        sign, action, energy, log_determinant, size = -1, "add", resolved_energy(moments), 0.0, 0
        steps = additions(moments, full.candidates, full.ridge)
    for step in steps:
        energy, log_determinant, size = energy + sign * step.increment, log_determinant + step.log_determinant, size - sign
        # On a forward path f falls to that of the full model. Rounding must not take it below.
        energy = full.energy if size == len(full.candidates) else max(energy, full.energy)
        excess.append((energy - full.energy) / full.energy)
        members = KnownMembers(np.full(size, full.ridge), step.weights, energy, log_determinant, step.spread)
        journal.note(action, step.candidate, criterion.score(members, moments.n_samples), size, step.increment, energy)
        yield step.candidate


def _chosen(
    rule: StopRule, nested: Nested, n_basis: int | None, max_active: int | None, limit: Outcome | None
) -> tuple[int, Outcome]:
    least, most = nested.least, nested.least + len(nested.worths) - 1
    wanted = rule.size(-nested.worths, least) if n_basis is None else n_basis
    size = wanted if max_active is None else min(wanted, max_active)
    reached = min(max(size, least), most)
    is_at_the_end = rule.direction == "backward" and n_basis is None and reached == least
    if limit is not None and (reached != size or is_at_the_end):
        return reached, limit
    if size < wanted:
        return reached, Outcome.SIZE_LIMIT
    return reached, Outcome.GOAL_REACHED if reached == wanted else Outcome.TOO_FEW_CANDIDATES


def _first(is_true: NDArray[np.bool_], otherwise: int) -> int:
    return int(np.argmax(is_true)) if is_true.any() else otherwise
