"""Expectation maximization from all candidates."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, Outcome, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor
from skarce.methods.latent.em import run_em
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.methods.latent.problems import moons


def test_em_ends_at_its_fixed_point(kind):
    evaluation, observed = moons(120, kind=kind)
    model, limit = run_em(evaluation, observed, Journal(Budget(tol=1e-7)), fit_intercept=True)
    assert limit is None
    alpha, weights = model.precisions[1:], model.weights[1:]
    spread = np.linalg.inv(model.factor @ model.factor.T).diagonal()[1:]
    determined = 1.0 - alpha * spread
    kept = determined > 0.01  # the others are still on their way out
    np.testing.assert_allclose((alpha * weights**2)[kept], (determined + 2.0 * model.penalties)[kept], rtol=2e-2)
    assert kept.any()


def test_steps_that_go_round_in_circles_end():
    X = np.random.default_rng(0).normal(size=(4, 40))
    weights = np.array([5.6, 0.02, 3.6e5, 2e-8])
    model = RelevanceVectorClassifier(KernelBasis(gamma=0.0133), solver="em", max_iter=2000).fit(X, [0, 1, 0, 1], weights)
    assert model.outcome_ is Outcome.CONVERGED


def test_dependent_candidates_have_a_model():
    X = np.random.default_rng(0).normal(size=(25, 3))
    counts, weights = np.where(np.arange(25) == 0, 1e15, 0.0), np.full(25, 5e11)
    basis = KernelBasis(gamma=0.0034)
    with pytest.warns(ConvergenceWarning):
        model = RelevanceVectorPoissonRegressor(basis, solver="em", max_iter=5).fit(X, counts, weights)
    assert np.isfinite(model.predict(X)).all()
