"""A few functions instead of nearly as many as rows: what a method falls back to if it heads for interpolation.

With more candidates than rows, evidence and generalized cross validation cannot tell a model that uses nearly every row from one
that explains the target: both charge for weights, but not for the search among candidates. So a set is also judged with a prior on
its size (see `criteria.size_prior`). If a few functions that a search with this prior finds are worth more than all candidates
together and than the set that the method chose, the method runs again with these few as its only candidates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skarce._memory import fits
from skarce._typing import Floats, Indices
from skarce.criteria import IndividualEvidence
from skarce.criteria.one_precision import EvidenceFit
from skarce.criteria.size_prior import charge_for, charge_for_next
from skarce.moments import Moments
from skarce.moments.directions import Directions
from skarce.searches.greedy_batches import GreedyBatches
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.state import State, resolved_energy

EVIDENCE = IndividualEvidence()
CLEAR = float(np.log(20.0))  # all candidates together must be 20 times as likely as a few to be preferred
ROUGH = 1e-4  # the tolerance of the variational model, which is only a start
AT_ONCE = 16  # one function leaves, and one of this many at most, before the ridges of the others are found again
CLOSE = 1e-3  # gains in log evidence below this do not matter for a choice of sets


class Set(NamedTuple):
    """Functions with their best ridges, and the log evidence minus the charge for a set of this size."""

    active: Indices
    ridges: Floats
    worth: float


class FewFunctions:
    """Sets of functions judged by the evidence with a prior on their size.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates.
    budget : Budget
        The limits of the fit.
    """

    def __init__(self, moments: Moments, budget: Budget) -> None:
        self._moments, self._budget = moments, replace(budget, tol=CLOSE, verbose=0)
        self._n_offered = int(np.count_nonzero(moments.gram.diagonal > 0.0))

    def found(self) -> Set:
        """Return the better of two sets: one grows from nothing, the other from what a variational model of all candidates keeps.

        A function enters if it raises the evidence by more than the charge for it. If many functions are needed, none of them may
        stand out alone. The variational model sees all of them at once.
        """
        from skarce.methods.variational.direct import run_direct

        nothing, everyone = np.empty(0, dtype=np.intp), np.arange(self._moments.n_candidates)
        kept = run_direct(self._moments, Journal(replace(self._budget, tol=ROUGH)), everyone)
        starts = [self._settled(nothing, np.empty(0)), self._thinned(self._settled(kept.candidates, kept.ridges))]
        return max((self._extended(start) for start in starts), key=lambda found: found.worth)

    def _extended(self, best: Set) -> Set:
        """Let functions enter and leave as long as the worth grows."""
        while Journal(self._budget).exhausted() is None:
            larger = self._thinned(self._grown(best))
            if not larger.worth > best.worth + CLOSE:
                break
            best = larger
        return best

    def worth_of(self, active: Indices, ridges: Floats) -> float:
        """Return the worth of the best model on these functions. Those that the evidence leaves out do not count.

        The ridges are a start. They may be those of another criterion, and zero if it has none.
        """
        return self._settled(active, np.where(ridges > 0.0, ridges, EVIDENCE.starting(self._moments, active)[1])).worth

    def _grown(self, here: Set) -> Set:
        """Return the set with all functions that enter at the present charge."""
        if len(here.active) == self._n_offered:
            return here
        charge = max(charge_for_next(self._n_offered, len(here.active)), CLOSE)
        journal = Journal(replace(self._budget, tol=charge))
        fit = GreedyBatches().run(EVIDENCE, self._moments, journal, (here.active, here.ridges))
        return self._settled(fit.active, fit.ridges)

    def _thinned(self, here: Set) -> Set:
        """Remove functions, those that are missed least first, as long as the worth grows."""
        while len(here.active):
            smaller = self._settled(*self._without_the_cheapest(here))
            if not smaller.worth > here.worth:
                break
            here = smaller
        return here

    def _without_the_cheapest(self, here: Set) -> tuple[Indices, Floats]:
        """Return the set without the function that is missed least, and without the next ones that cost more than they are worth.

        A share of the functions leaves at once at most. The best ridges of the others have to be found afterwards.
        """
        state, left = self._alone(here.active, here.ridges), here.active
        for step in range(1 + len(left) // AT_ONCE):
            gains = EVIDENCE.removal_gains(state, np.arange(len(left)), self._moments.n_samples)
            cheapest = int(gains.argmax())
            saved = charge_for(self._n_offered, len(left)) - charge_for(self._n_offered, len(left) - 1)
            if step and not gains[cheapest] + saved > 0.0:
                break
            state.remove(cheapest)
            left = np.delete(left, cheapest)
        return left, state.ridges

    def _settled(self, active: Indices, ridges: Floats) -> Set:
        """Return the best model with only these functions as candidates."""
        if len(active):
            local = self._moments.restricted_to(active)
            fit = GreedyBatches().run(EVIDENCE, local, Journal(self._budget), (np.arange(len(active)), ridges))
            active, ridges = active[fit.active], fit.ridges
        score = EVIDENCE.score(self._alone(active, ridges), self._moments.n_samples)
        return Set(active, ridges, score - charge_for(self._n_offered, len(active)))

    def _alone(self, active: Indices, ridges: Floats) -> State:
        """Return these functions as a state without other candidates."""
        return EVIDENCE.new_state(self._moments.restricted_to(active), np.arange(len(active)), ridges)


def worth_of_all(moments: Moments) -> float:
    """Return the log evidence of all candidates with one precision for all standardized weights. No set was chosen: no charge.

    Return -inf if the Gram matrix does not fit into memory.
    """
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    if not fits(len(usable), len(usable)):
        return -np.inf
    norms = np.sqrt(moments.gram.diagonal[usable])
    directions = Directions.of(moments.gram.block(usable, usable) / np.multiply.outer(norms, norms))
    projected = directions.project(moments.projections[usable] / norms)
    fit = EvidenceFit.of(directions.eigenvalues, projected, resolved_energy(moments), moments.n_samples)
    return fit.score(fit.best_ridge())


def few_instead_of(fit: Fit, moments: Moments, budget: Budget, *, is_interpolating: bool) -> Indices | None:
    """Return the few functions that take the place of a fit, in ascending order. None if the fit stays.

    They are worth more than all candidates together, and more than those of the fit. The evidence of a fit that interpolates is too
    large, because every precision fits a row of its own, so such a fit is not asked.
    """
    whole = moments.gram.whole()  # many blocks of it are needed
    if whole is not None:
        moments = replace(moments, gram=whole)
    sets = FewFunctions(moments, budget)
    few = sets.found()
    is_worth_more = few.worth + CLEAR >= worth_of_all(moments)
    if is_worth_more and not is_interpolating:
        is_worth_more = few.worth >= sets.worth_of(fit.active, fit.ridges)
    return np.sort(few.active) if is_worth_more else None


def of_few(fit: Fit, few: Indices) -> Fit:
    """Return a fit on the few candidates in terms of all candidates."""
    trace = fit.trace.copy()
    is_candidate = (trace["index"] >= 0) & (trace["action"] != "undo")
    trace["index"][is_candidate] = few[trace["index"][is_candidate]]
    nested = None if fit.nested is None else fit.nested._replace(order=few[fit.nested.order])
    return replace(fit, active=few[fit.active], nested=nested, trace=trace)
