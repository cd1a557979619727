"""Expectation maximization from all candidates."""

import numpy as np

from skarce import KernelBasis
from skarce.likelihoods import Bernoulli, Observations, Poisson
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
    X = np.arange(4.0)[:, None]
    observed = Observations.of(Bernoulli(), np.array([0.0, 1.0, 0.0, 1.0]), np.array([5.0, 0.02, 1e4, 1e-6]))
    journal = Journal(Budget(max_steps=5000))
    _, limit = run_em(KernelBasis(gamma=0.1).fit(X).on(X), observed, journal, fit_intercept=True)
    assert limit is None


def test_dependent_candidates_have_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    observed = Observations.of(Poisson(), np.floor(10.0 ** rng.uniform(0, 15, 25)))
    model, _ = run_em(KernelBasis(gamma=0.003).fit(X).on(X), observed, Journal(Budget(max_steps=20)), fit_intercept=True)
    assert np.isfinite(model.score)
    assert np.isfinite(model.weights).all()
