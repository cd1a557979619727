"""Stricter rules for what stays: their limits."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from skarce import VBLSClassifier, VBLSRegressor
from skarce.methods.variational.choice import FEW_ROWS, choose
from skarce.methods.variational.direct import run_direct
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.problems import moments_of


@pytest.mark.parametrize(("significance", "strict"), [(1e-300, 0), ("bound", None)])
def test_models_that_are_tried_count_against_the_steps(rng, significance, strict):
    phi = rng.normal(size=(200, 12)) + rng.normal(size=(200, 1))
    moments = moments_of(phi, phi @ np.linspace(0.1, 1.0, 12) + rng.normal(size=200))
    free = Journal(Budget(tol=1e-8))
    model = run_direct(moments, free, np.arange(12))
    n_solved = free.n_steps
    smallest, outcome = choose(model, free, significance, None)
    assert outcome is Outcome.CONVERGED
    assert strict is None or len(smallest) == strict
    assert free.n_steps > len(free.trace()) >= n_solved  # steps of models that were tried are not in the trace

    journal = Journal(Budget(tol=1e-8, max_steps=n_solved + 3))
    model = run_direct(moments, journal, np.arange(12))
    chosen, outcome = choose(model, journal, significance, None)
    assert outcome is Outcome.STEP_LIMIT
    assert len(smallest) <= len(chosen) <= len(model)
    assert journal.n_steps <= n_solved + 4  # the deletion itself may come after the last step


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_last_step_may_be_the_one_that_ends_the_fit():
    """To keep the strongest functions means to solve for their weights again, which was noted beyond the limit."""
    X, y = make_moons(40, noise=0.3, random_state=0)
    n_iter = VBLSClassifier("rbf", significance=0.05).fit(X, y).n_iter_
    for max_iter in range(max(n_iter - 3, 1), n_iter + 4):
        model = VBLSClassifier("rbf", significance=0.05, max_active=1, max_iter=max_iter).fit(X, y)
        assert model.n_iter_ <= max_iter
        assert len(model.active_) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_ends_early_keeps_no_more_functions_than_the_data_determine(rng):
    """All 2500 would need a matrix of that size at the end, after the limit."""
    X = rng.normal(size=(20, 2500))
    y = X[:, 0] + 0.1 * rng.normal(size=20)
    model = VBLSRegressor("passthrough", start="all", max_iter=2).fit(X, y)
    assert model.outcome_ is Outcome.STEP_LIMIT
    assert len(model.active_) == FEW_ROWS
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.99
