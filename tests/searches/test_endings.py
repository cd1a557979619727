"""Searches end if they gain nothing more, at any tolerance."""

from dataclasses import dataclass
from itertools import count, product

import numpy as np
import pytest

from skarce import FastGCVRegressor, KernelBasis, RelevanceVectorRegressor, SparseRegressor
from skarce.criteria import IndividualEvidence, SharedEvidence
from skarce.searches import BestAction, GreedyBatches
from skarce.searches.best_action import broken_promise
from skarce.searches.pace import FIRST_STEPS, Pace
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.problems import moments_of

MOST = 10_000  # steps of a search on a small problem


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("basis", ["passthrough", KernelBasis(gamma=100.0), KernelBasis(gamma=0.01)])
@pytest.mark.parametrize("make", [FastGCVRegressor, RelevanceVectorRegressor])
@pytest.mark.parametrize("solver", ["fast", "sequential"])
def test_a_tolerance_of_zero_ends_where_gains_are_rounding(make, solver, basis):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=24)
    model = make(basis, solver=solver, tol=0.0, max_iter=MOST).fit(X, y)
    assert not model.outcome_.is_early


@dataclass(frozen=True)
class Boaster(IndividualEvidence):
    """Promises a gain for every change of a ridge, so that nothing ever seems to be the best."""

    def compiled_rule(self):
        return None

    def changes(self, members, n_samples):
        ridges, gains = super().changes(members, n_samples)
        return np.where(np.isfinite(ridges), members.ridges, ridges), np.where(np.isfinite(ridges), 1.0, gains)


@pytest.mark.parametrize("search", [BestAction(), GreedyBatches(few=0), GreedyBatches()])
def test_promises_that_are_not_kept_end_the_search(search):
    rng = np.random.default_rng(2)
    phi = rng.normal(size=(40, 10))
    t = phi[:, 0] + 0.1 * rng.normal(size=40)
    journal = Journal(Budget(max_steps=MOST))
    found = search.run(Boaster(), moments_of(phi, t), journal)
    assert not found.outcome.is_early
    assert 0 in found.active


def test_a_promise_of_next_to_nothing_may_be_broken():
    assert broken_promise(3, 1e-9) is Outcome.CONVERGED
    assert broken_promise(3, 1e-3) is Outcome.ILL_CONDITIONED


@pytest.mark.filterwarnings("ignore:The fit reached the time limit")
def test_a_limit_between_two_questions_still_gives_a_model(monkeypatch):
    """The time may run out between the choice of a removal and the removal."""
    for seed, seconds in product((1, 4, 6), range(40)):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3.0, 3.0, (30, 1))
        y = np.sin(2.0 * X[:, 0]) + 0.2 * rng.normal(size=30)
        asked = count()
        monkeypatch.setattr("time.monotonic", lambda asked=asked: float(next(asked)))
        basis, limit = KernelBasis(gamma=1.0), float(seconds)
        model = SparseRegressor(basis, SharedEvidence(), BestAction(), max_time=limit, calibrate_std=False).fit(X, y)
        assert model.outcome_ in (Outcome.TIME_LIMIT, Outcome.CONVERGED)


def test_a_stretch_has_as_many_steps_as_end_in_time(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    assert Pace(Journal()).begin(400) == 400
    journal = Journal(Budget(deadline=100.0))
    pace = Pace(journal)
    assert pace.begin(400) == FIRST_STEPS
    for _ in range(FIRST_STEPS):
        journal.note("add", 0, 0.0, 1)
    clock[0] = float(FIRST_STEPS)  # a second for each step
    pace.end()
    assert 1 <= pace.begin(400) <= 100 - FIRST_STEPS
    clock[0] = 99.9
    assert pace.begin(400) == 1
