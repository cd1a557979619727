"""The original iteration, where rounding would keep it going."""

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from skarce import Outcome, RelevanceVectorRegressor
from skarce.criteria import IndividualEvidence
from skarce.methods.relevance_em import run_relevance_em
from skarce.moments import Moments, WholeGram
from skarce.states.budget import Budget
from skarce.states.journal import Journal


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_dependent_columns_do_not_keep_the_iteration_going(seed):
    """With every column twice, rounding moves the score up and down by more than the tolerance, without end."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(16, 5)), 2, axis=0)[:31]
    X = np.hstack([X, X])
    y = np.repeat(np.sin(2.0 * X[::2, 0]) + X[::2, 4] + 0.01 * rng.normal(size=16), 2)[:31]
    model = RelevanceVectorRegressor(PolynomialFeatures(2), solver="em", size_prior=None, tol=1e-8, max_iter=3_000).fit(X, y)
    assert model.outcome_ is not Outcome.STEP_LIMIT
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("seed", range(4))
def test_a_gram_matrix_with_few_digits_does_not_end_the_fit(seed):
    """A limit may come right after an update, at ridges that are too small for what rounding has left of dependent columns."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 30))
    t = phi[:, 0] + 0.01 * rng.normal(size=60)
    errors = 1e-4 * rng.normal(size=(30, 30)) * np.abs(phi.T @ phi)
    moments = Moments(WholeGram(phi.T @ phi + errors + errors.T), phi.T @ t, t @ t, 60.0)
    for max_steps in range(1, 12):
        fit = run_relevance_em(IndividualEvidence(), moments, Journal(Budget(max_steps=max_steps, max_active=2)))
        assert len(fit.active) <= 2
        assert np.isfinite(fit.ridges).all()
