"""Greedy batches, joint steps and, where candidates are many, a pool of them: the fast schedule.

Hard problems need thousands of single actions when each is followed by a scan of all candidates. Here a scan is followed by a
batch of additions, exact and greedy, and a batch by second-order steps for all ridges at once. While the model is small, single
actions in compiled code are quicker still. The model that comes out satisfies the same certificate: no single change gains more
than the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce._linalg import NotPositiveDefiniteError
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.searches.best_action import TAKEN_BACK, BestAction
from skarce.searches.checkpoint import Checkpoint
from skarce.searches.joint_steps import joint_steps
from skarce.searches.pools import Pools
from skarce.searches.search import Search, Start
from skarce.states.active_block import ActiveBlock
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import State, resolved_energy


@dataclass(frozen=True)
class GreedyBatches(Search):
    """Scan, greedy batch, joint second-order steps; a pool of candidates where there are many.

    Parameters
    ----------
    smallest_batch : a batch may have this many additions, or `growth` times the size of the model if that is more
    growth : see `smallest_batch`
    batch_end : a batch ends when a gain falls below this share of its first
    looseness : joint steps between batches end when one promises less than this share of the batch's first gain
    max_joint_steps, max_tight_steps : and after this many between batches, or when nothing is left to add
    few, stretch : up to `few` functions the best single action is quicker than a batch, where the criterion has compiled steps;
        `stretch` of them are taken between two refreshes, and joint steps take over after `max_changes` changes of ridges in a row
    pools : how candidates are pooled where Phi'Phi is not at hand as a whole
    """

    smallest_batch: int = 8
    growth: float = 0.5
    batch_end: float = 0.1
    looseness: float = 0.1
    max_joint_steps: int = 3
    max_tight_steps: int = 8
    few: int = 400
    stretch: int = 400
    max_changes: int = 100
    pools: Pools = field(default_factory=Pools)

    @property
    def moves_ridges(self) -> bool:
        return True

    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        return self.pools.run(self._raise_criterion, criterion, moments, journal, start)

    def _raise_criterion(self, criterion: Criterion, state: State, journal: Journal, tol: float) -> Outcome:
        """Raise the criterion until neither an action nor the joint steps gain more than `tol`."""
        single = BestAction(refresh_every=self.stretch, max_changes=self.max_changes)
        is_tight = False
        while True:
            limit = Outcome.CONVERGED if state.is_exact() else journal.exhausted()
            if limit is not None:
                return limit
            by_single_actions = state.is_ill_conditioned or (len(state) <= self.few and single.has_compiled_steps(criterion, state))
            if by_single_actions:
                n_actions, first_gain = single.stretch(criterion, state, journal, tol), 0.0
                is_settled = n_actions < (1 if state.is_ill_conditioned else single.refresh_every)
            else:
                n_actions, first_gain = self._add_batch(criterion, state, journal, tol)
                is_settled = n_actions == 0
            if n_actions == TAKEN_BACK:
                return Outcome.ILL_CONDITIONED
            if is_settled and n_actions == 0 and (is_tight or not len(state)):
                return Outcome.SIZE_LIMIT if journal.budget.room(len(state)) == 0 else Outcome.CONVERGED
            if is_settled:
                # Single actions check every change by themselves; after batches only tight joint steps do.
                is_tight = self._move_ridges(
                    criterion, state, journal, (10.0 if by_single_actions else 0.1) * tol, self.max_tight_steps
                )
            elif first_gain:
                tolerance = max(self.looseness * first_gain, 0.1 * tol)
                self._move_ridges(criterion, state, journal, tolerance, self.max_joint_steps)

    def _add_batch(self, criterion: Criterion, state: State, journal: Journal, tol: float) -> tuple[int, float]:
        """Greedy additions; returns how many, and the gain of the first."""
        score = criterion.score(state, state.moments.n_samples)
        n_before, before = len(state), Checkpoint(criterion, state, journal)
        limit = min(max(self.smallest_batch, int(self.growth * len(state))), journal.budget.room(len(state)))
        first_gain = 0.0
        for _ in range(limit):
            ranking = criterion.ranking(state)
            candidate = int(ranking.argmax())
            if not ranking[candidate] > 1.0 or state.is_exact():
                break
            ridge, gain = criterion.addition(state, candidate)
            if gain <= max(tol, self.batch_end * first_gain):
                break
            first_gain = first_gain or gain
            state.add(candidate, ridge)
            score += gain
            journal.note("add", candidate, score, len(state))
            if state.is_ill_conditioned:
                state.refresh()
                if before.take_back_what_failed():
                    return TAKEN_BACK, 0.0
                break
        return len(state) - n_before, first_gain

    @staticmethod
    def _move_ridges(criterion: Criterion, state: State, journal: Journal, tolerance: float, max_steps: int) -> bool:
        """Joint steps for the active block, then everything afresh; returns whether they converged with all functions kept."""
        n_before, n_samples, before = len(state), state.moments.n_samples, Checkpoint(criterion, state, journal)
        try:
            block = ActiveBlock(
                state.gram_block, state.moments.projections[state.active], resolved_energy(state.moments), state.ridges.copy()
            )
        except NotPositiveDefiniteError:
            state.refresh()  # thins out what is dependent; there is nothing to gain by joint steps
            return True
        settled = joint_steps(criterion, block, n_samples, tolerance, max_steps)
        if settled.block is block:
            return settled.converged
        state.keep(settled.positions, settled.block.ridges)
        if before.take_back_what_failed():
            return True
        score = criterion.score(state, n_samples)
        journal.note("joint" if len(state) == n_before else "prune", -1, score, len(state))
        return settled.converged and len(state) == n_before
