"""One body for every search. A new search is one line in `EVERY_SEARCH`."""

import time

import numpy as np
import pytest

from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, OrthogonalGCV, SharedEvidence, SharedGCV
from skarce.methods.selection import Selection
from skarce.searches import (
    Backward,
    BestAction,
    Exhaustive,
    Floating,
    Forward,
    GreedyBatches,
    Oscillating,
    PlusTakeAway,
    Pools,
    Search,
)
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import random_problem
from tests.problems import moments_of

EVERY_SEARCH = {
    "best action": BestAction(),
    "best action, NumPy": BestAction(compiled=False),
    "greedy batches": GreedyBatches(),
    "greedy batches in pools": GreedyBatches(pools=Pools(20, 10)),
    "forward": Forward(),
    "backward": Backward(),
    "plus take away": PlusTakeAway(2, 1),
    "plus take away, down": PlusTakeAway(1, 2),
    "floating": Floating(),
    "oscillating": Oscillating(3),
    "exhaustive": Exhaustive(3),
}
CRITERIA = (IndividualEvidence(), GCV(), SharedGCV(), SharedEvidence(), ExplainedVariance(), OrthogonalGCV())


@pytest.fixture(params=EVERY_SEARCH)
def search(request):
    return EVERY_SEARCH[request.param]


@pytest.fixture
def problem():
    return random_problem(3, n=60, m=14)


def goes_with(search, criterion):
    try:
        search.check(criterion)
    except TypeError:
        return False
    return True


def test_it_is_a_search_and_says_how_it_asks_for_columns(search):
    assert isinstance(search, Search)
    assert search.access.n_columns is None or search.access.one_by_one


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: type(c).__name__)
def test_what_cannot_go_together_is_said_when_it_is_built(search, criterion, problem):
    moments = moments_of(*problem)
    if not goes_with(search, criterion):
        with pytest.raises(TypeError, match=type(search).__name__):
            Selection(criterion, search)
        with pytest.raises(TypeError, match=type(search).__name__):
            search.run(criterion, moments, Journal())
        return
    journal = Journal()
    fit = search.run(criterion, moments, journal)
    assert len(np.unique(fit.active)) == len(fit.active) == len(fit.ridges)
    assert isinstance(fit.outcome, Outcome)
    empty = criterion.state_score(criterion.new_state(moments))
    reached = criterion.state_score(criterion.new_state(moments, fit.active, fit.ridges)) if fit.mixing is None else np.inf
    assert reached >= empty - 1e-6
    assert len(journal.trace()) == journal.n_rows


def test_the_order_of_rows_does_not_matter(search, problem):
    phi, t = problem
    order = np.random.default_rng(0).permutation(len(t))
    here = search.run(IndividualEvidence(), moments_of(phi, t), Journal())
    there = search.run(IndividualEvidence(), moments_of(phi[order], t[order]), Journal())
    assert sorted(here.active) == sorted(there.active)


def test_a_cap_on_functions_is_kept(search, problem):
    fit = search.run(IndividualEvidence(), moments_of(*problem), Journal(Budget(max_active=2)))
    assert len(fit.active) <= 2


def test_a_step_limit_and_a_deadline_are_kept(search, problem):
    moments = moments_of(*problem)
    journal = Journal(Budget(max_steps=2))
    assert search.run(IndividualEvidence(), moments, journal).outcome is Outcome.STEP_LIMIT
    assert journal.n_steps <= 3
    late = search.run(IndividualEvidence(), moments, Journal(Budget(deadline=time.monotonic() - 1.0)))
    assert late.outcome is Outcome.TIME_LIMIT


def test_a_search_goes_on_from_a_start(search, problem):
    moments = moments_of(*problem)
    first = search.run(IndividualEvidence(), moments, Journal())
    journal = Journal()
    again = search.run(IndividualEvidence(), moments, journal, (first.active, first.ridges))
    criterion = IndividualEvidence()
    score = [criterion.score(criterion.new_state(moments, f.active, f.ridges), 60.0) for f in (first, again)]
    assert score[1] >= score[0] - 1e-6


def test_no_candidates_and_no_usable_ones_give_the_empty_model(search):
    fit = search.run(IndividualEvidence(), moments_of(np.zeros((20, 3)), np.arange(20.0)), Journal())
    assert len(fit.active) == 0
