"""Expectation maximization from all candidates."""

import numpy as np

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
