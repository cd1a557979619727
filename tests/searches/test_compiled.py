"""Compiled steps on nearly dependent functions: what they promise is what a new computation finds."""

import numpy as np
import pytest

from skarce.criteria import GCV, IndividualEvidence
from skarce.searches import BestAction, GreedyBatches
from skarce.searches.best_action import LARGE_MODEL, NEARLY, nearby
from skarce.searches.compiled import take_steps
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import stable_gcv
from tests.problems import kernel_moments


def score(phi, t, active, ridges, n):
    return -0.5 * n * np.log(stable_gcv(phi[:, active], t, ridges, n))


@pytest.mark.parametrize("gamma", [0.3, 0.1, 0.03])
def test_promised_gains_are_kept(gamma):
    moments, phi, t = kernel_moments(gamma, n=100, noise=0.01, fit_intercept=False)
    start = np.arange(0, 100, 8)
    criterion, state = GCV(), ActiveSet(moments, start, 1e-7 * moments.gram.diagonal[start], squares=True)
    conditions = []
    for _ in range(20):
        before = score(phi, t, state.active.copy(), state.ridges.copy(), 100)
        steps = take_steps(criterion.compiled_rule(), state, 1e-3, 16, 100, 1000)
        if not len(steps.gains):
            break
        after = score(phi, t, state.active, state.ridges, 100)
        assert after - before == pytest.approx(steps.gains.sum(), rel=0.25, abs=1e-3)  # a search asks for half
        conditions.append(state.factor.lower.diagonal().max() ** 2 / state.factor.lower.diagonal().min() ** 2)
    assert max(conditions) > 1e5


@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_no_single_change_and_no_several_lower_v(kind):
    """A search on nearly dependent functions ends no worse than the same search without trials of several functions."""
    moments, phi, t = kernel_moments(0.03, n=80, noise=0.05, fit_intercept=False, kind=kind)
    journal = Journal(Budget(tol=1e-3))
    found = GreedyBatches().run(GCV(), moments, journal)
    assert found.outcome in (Outcome.CONVERGED, Outcome.ILL_CONDITIONED)
    assert journal.score == pytest.approx(score(phi, t, found.active, found.ridges, 80), abs=1e-2)
    limited = GreedyBatches().run(GCV(), moments, Journal(Budget(tol=1e-3, max_active=len(found.active))))
    assert len(limited.active) <= len(found.active)


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()])
@pytest.mark.parametrize("together", [1, 3, 32])
def test_changes_that_candidates_see_later_gain_what_they_promise(criterion, together):
    """Also the additions after them: each gain is computed from what candidates have seen."""
    moments, *_ = kernel_moments(3.0, n=300, noise=0.3, fit_intercept=False)
    state = criterion.new_state(moments)
    for _ in range(4):
        before = criterion.score(state, moments.n_samples)
        steps = take_steps(criterion.compiled_rule(), state, 1e-6, 40, 300, 1000, together)
        assert criterion.score(state, moments.n_samples) - before == pytest.approx(steps.gains.sum(), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()])
def test_the_end_is_the_same_certificate_if_changes_wait(criterion):
    moments, *_ = kernel_moments(1.0, n=200, noise=0.3, fit_intercept=False)
    found = BestAction(together=8).run(criterion, moments, Journal(Budget(tol=1e-4)))
    assert found.outcome is Outcome.CONVERGED
    *_, gain = BestAction.best(criterion, criterion.new_state(moments, found.active, found.ridges), room=200)
    assert gain <= 1e-4


def test_too_many_changes_that_wait():
    with pytest.raises(ValueError, match="together must be a whole number from 1 to 32, got 33"):
        BestAction(together=33)


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()])
def test_steps_that_see_all_candidates_as_near_are_the_same(criterion):
    moments, *_ = kernel_moments(3.0, n=200, noise=0.3, fit_intercept=False)
    found = []
    for near in (None, np.arange(moments.n_candidates)):
        state = criterion.new_state(moments, np.arange(0, 200, 20), 1e-2 * moments.gram.diagonal[::20])
        steps = take_steps(criterion.compiled_rule(), state, 1e-3, 60, 200, 1000, near=near)
        assert {"add", "change"} <= set(steps.actions)
        found.append((steps.actions.tolist(), steps.candidates.tolist(), state.active.tolist(), state.ridges))
    assert found[0][:3] == found[1][:3]
    np.testing.assert_allclose(found[0][3], found[1][3], rtol=1e-8)


def test_only_near_candidates_enter_and_gain_what_they_promise():
    moments, phi, t = kernel_moments(3.0, n=200, noise=0.3, fit_intercept=False)
    start, near = np.arange(0, 200, 20), np.arange(5, 200, 10)
    criterion, state = GCV(), ActiveSet(moments, start, 1e-2 * moments.gram.diagonal[start], squares=True)
    before = score(phi, t, start, state.ridges.copy(), 200)
    steps = take_steps(criterion.compiled_rule(), state, 1e-6, 200, 200, 1000, near=near)
    assert len(steps.actions) > 20
    assert set(steps.candidates[steps.actions == "add"]) <= {*start, *near}
    assert score(phi, t, state.active, state.ridges, 200) - before == pytest.approx(steps.gains.sum(), rel=1e-6)


def test_candidates_are_near_only_if_few_help_a_large_model():
    moments, *_ = kernel_moments(60.0, n=400, noise=0.3, fit_intercept=False)
    assert nearby(GCV(), GCV().new_state(moments)) is None
    found = GreedyBatches().run(GCV(), moments, Journal(Budget(tol=1e-3)))
    state = GCV().new_state(moments, found.active, found.ridges)
    assert len(state) >= LARGE_MODEL
    near, ranking = nearby(GCV(), state), GCV().ranking(state)
    assert near is None or (ranking[np.setdiff1d(np.arange(400), near)] <= NEARLY).all()
    *_, gain = BestAction.best(GCV(), state, room=400)
    assert gain <= 1e-3


@pytest.mark.parametrize("gamma", [10.0, 0.3])
def test_sums_that_are_updated_rank_the_same_changes(gamma):
    """Many steps in one call find the moves of many calls with one step each, which compute everything anew."""
    moments, *_ = kernel_moments(gamma, n=150, noise=0.3, fit_intercept=False)
    start = np.arange(0, 150, 5)
    states = [ActiveSet(moments, start, 0.1 * moments.gram.diagonal[start], squares=True) for _ in range(2)]
    at_once = take_steps(GCV().compiled_rule(), states[0], 1e-3, 50, 150, 1000)
    single = [take_steps(GCV().compiled_rule(), states[1], 1e-3, 1, 150, 1000) for _ in at_once.actions]
    assert at_once.actions.tolist() == [steps.actions[0] for steps in single]
    assert at_once.candidates.tolist() == [steps.candidates[0] for steps in single]
    np.testing.assert_allclose(at_once.gains, [steps.gains[0] for steps in single], rtol=1e-5, atol=1e-8)
