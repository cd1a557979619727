"""Searches that add and take away one function at a time: every search with every criterion, starts, limits."""

import time

import numpy as np
import pytest

from skarce import SparseRegressor
from skarce.criteria import OrthogonalGCV, SharedEvidence
from skarce.searches import Backward, BestAction, Floating, Oscillating, PlusTakeAway
from skarce.states.budget import Budget
from skarce.states.eigen_set import EigenSet
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import random_problem, shared_evidence
from tests.problems import moments_of
from tests.searches.every_search import (
    CRITERIA,
    GROWING,
    SEARCHES,
    TOL,
    even_problem,
    every_criterion,
    every_search,
    replayed,
    run,
    with_,
)
from tests.searches.test_forward import Scripted
from tests.searches.test_oscillating import scored

# Every search, every criterion -----------------------------------------------------------------------------------------------


@every_search
@every_criterion
@pytest.mark.parametrize("seed", range(2))
def test_every_search_with_every_criterion(seed, criterion, search):
    phi, t = even_problem(seed, n=50, m=25)
    found, trace = run(search, criterion, phi, t)
    sets = replayed(trace, range(25) if search.goes_down else ())
    assert set(found.active.tolist()) in sets
    assert len(set(found.active.tolist())) == len(found.active) >= 3
    assert found.outcome in (Outcome.NONE_BETTER_FOUND, Outcome.NO_ADDITION_HELPS)
    if not hasattr(criterion, "worth"):
        most = trace["criterion"][trace["n_active"] == len(found.active)].max()
        np.testing.assert_allclose(scored(criterion, phi, t, found), most, rtol=1e-5)
    model = SparseRegressor("passthrough", criterion, search).fit(phi, t)
    mean, std = model.predict(phi, return_std=True)
    assert model.score(phi, t) > 0.7
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@every_search
@every_criterion
def test_more_candidates_than_rows_copies_and_zeros(criterion, search):
    phi, t = even_problem(0, n=15, m=14)
    phi = np.column_stack([phi, phi, np.zeros(15), phi[:, 0] * (1 + 1e-13)])
    found, _ = run(search, criterion, phi, t)
    assert 28 not in found.active
    assert np.isfinite(found.ridges).all()
    model = SparseRegressor("passthrough", criterion, search, max_iter=200).fit(phi, t)
    assert np.isfinite(model.predict(phi, return_std=True)[1]).all()


@every_search
@every_criterion
def test_a_target_orthogonal_to_everything(criterion, search):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 8)))[0]
    found, _ = run(search, criterion, Q[:, :7] * 3, Q[:, 7])
    assert len(found.active) == 0
    assert not found.outcome.is_early


@pytest.mark.parametrize("kind", ["whole", "columns"])
@every_search
def test_whole_and_by_column_are_the_same_search(search, kind):
    phi, t = even_problem(1, n=50, m=25)
    journal = Journal()
    found = search.run(SharedEvidence(), moments_of(phi, t, kind), journal)
    expected, trace = run(search, SharedEvidence(), phi, t)
    np.testing.assert_array_equal(found.active, expected.active)
    np.testing.assert_array_equal(journal.trace()["index"], trace["index"])


def test_orders_that_matter_are_not_taken_apart():
    with pytest.raises(TypeError, match="depends on the order of entry"):
        run(Floating(), OrthogonalGCV(), *even_problem(0))


@every_search
@every_criterion
def test_members_that_are_always_in_stay(criterion, search):
    phi, t = even_problem(0, n=50, m=25)
    found, trace = run(with_(search, always_in=[17, 12]), criterion, phi, t)
    assert {12, 17} <= set(found.active.tolist())
    assert not {12, 17} & set(trace["index"][trace["action"] != "undo"].tolist())


@pytest.mark.parametrize("name", GROWING)
@every_criterion
def test_a_search_starts_from_what_it_is_given(criterion, name):
    phi, t = even_problem(0, n=50, m=25)
    initial = np.array([3, 20, 1])
    _, trace = run(with_(SEARCHES[name], initial=initial), criterion, phi, t)
    assert len(trace) == 0 or trace["n_active"][0] in (2, 4)
    replayed(trace, initial)
    if name == "forward":
        assert not set(trace["index"]) & set(initial)


def test_going_down_can_start_from_a_few():
    found, trace = run(Backward(initial=range(10)), SharedEvidence(), *even_problem(0))
    assert trace["n_active"].tolist() == list(range(9, -1, -1))
    assert set(found.active) <= set(range(10))


@every_search
@every_criterion
def test_max_active(criterion, search):
    phi, t = even_problem(0, n=50, m=25)
    found, _ = run(search, criterion, phi, t, Budget(max_active=3))
    if search.goes_down:
        assert 1 <= len(found.active) <= 3
        assert found.outcome is Outcome.NONE_BETTER_FOUND
    else:
        assert (len(found.active), found.outcome) == (3, Outcome.SIZE_LIMIT)


def test_going_down_comes_below_the_cap_from_more():
    found, _ = run(Backward(initial=range(10)), SharedEvidence(), *even_problem(0), Budget(max_active=3))
    assert 1 <= len(found.active) <= 3


@pytest.mark.parametrize("search", [PlusTakeAway(1, 0), PlusTakeAway(2, 1), Floating()])
def test_a_cap_that_was_not_the_reason_is_not_blamed(search):
    found, _ = run(search, Scripted(scores=(0, 5, 1, 1, 1, 1, 1)), *even_problem(0), Budget(max_active=3))
    assert (len(found.active), found.outcome) == (1, Outcome.NONE_BETTER_FOUND)


@every_search
@pytest.mark.parametrize("name", ["shared evidence", "shared GCV", "explained variance"])
@pytest.mark.parametrize("size", [1, 4, 10])
def test_exactly_n_basis(name, size, search):
    found, _ = run(with_(search, n_basis=size), CRITERIA[name], *even_problem(0, n=50, m=25))
    assert (len(found.active), found.outcome) == (size, Outcome.GOAL_REACHED)


@every_search
@every_criterion
def test_limits_say_so_and_the_best_model_comes_back(criterion, search):
    phi, t = even_problem(0, n=50, m=25)
    found, trace = run(search, criterion, phi, t, Budget(max_steps=5))
    assert (len(trace), found.outcome) == (5, Outcome.STEP_LIMIT)
    assert set(found.active.tolist()) in replayed(trace, range(25) if search.goes_down else ())
    found, trace = run(search, criterion, phi, t, Budget(deadline=time.monotonic() - 1.0))
    assert (len(trace), found.outcome) == (0, Outcome.TIME_LIMIT)


def test_best_action_says_so_too():
    phi, t = even_problem(0, n=50, m=25)
    for limits, outcome in ((Budget(max_steps=2), Outcome.STEP_LIMIT), (Budget(max_active=2), Outcome.SIZE_LIMIT)):
        found, trace = run(BestAction(), SharedEvidence(), phi, t, limits)
        assert (len(found.active), len(trace), found.outcome) == (2, 2, outcome)


@pytest.mark.parametrize(
    ("worths", "size"),
    [
        ((0, 1, 2, 3, 4, 5, 4, 3, 2), 5),
        ((0, 1, 2, 3, 5 - 0.9e-3, 5, 4, 3, 2), 4),  # a larger model must be better by what counts
        ((0, 1, 2, 5 - 1.7e-3, 5 - 0.9e-3, 5, 4, 3, 2), 4),  # and small steps down do not add up
        ((0, 1, 9, 3, 4, 5, 4, 3, 2), 2),
    ],
)
def test_of_models_that_are_equal_the_smallest(worths, size):
    for search in (Backward(), PlusTakeAway(1, 2)):
        found, _ = run(search, Scripted(scores=worths), *even_problem(0, m=8))
        assert len(found.active) == size


@every_search
@pytest.mark.parametrize("seed", range(4))
def test_columns_of_unequal_lengths(seed, search):
    """One precision suits the long columns only. The model is still the best on the way, and its evidence is the dense one."""
    phi, t = random_problem(seed, n=40, m=12)
    found, trace = run(search, SharedEvidence(), phi, t)
    sets = replayed(trace, range(12) if search.goes_down else ())[1:]
    values = trace["criterion"][[each == set(found.active.tolist()) for each in sets]]
    # Swings compare models of one size; all other searches compare every model on the way.
    rivals = trace[trace["n_active"] == len(found.active)] if isinstance(search, Oscillating) else trace
    assert len(found.active) >= 1
    assert values.max() > rivals["criterion"].max() - TOL
    noise = SharedEvidence().noise_at(EigenSet(moments_of(phi, t), found.active, found.ridges), 40)
    dense = shared_evidence(phi[:, found.active], t, found.ridges[0] / noise, 1 / noise)
    np.testing.assert_allclose(values.max(), dense, rtol=1e-8)
    np.testing.assert_allclose(found.ridges, found.ridges[0])
