"""Sweeps and expectation maximization for classes."""

import numpy as np
import pytest

from skarce import Outcome
from skarce.methods.variational_classes.fake_targets import FakeTargets, run_factorized, run_sweeps
from skarce.methods.variational_classes.jaakkola_jordan import run, run_em
from skarce.methods.variational_classes.model import Variational
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.methods.variational_classes.test_jaakkola_jordan import problem, start


def explicit_sweep(X, y, c, mu, level, psi, alpha, xi):
    """One sweep with all fake targets written out: means (n, m) and covariances (n, m, m) of each row's, by dense inverses.

    Section 4.6 of the paper with the corrections of its errata; every candidate has a precision of its own.
    """
    m = X.shape[1]
    phi = np.tanh(xi / 2.0) / (4.0 * xi)
    ones = np.ones((m, m))
    covariances = np.array([np.linalg.inv(np.diag(1.0 / psi) + 2.0 * f * ones) for f in phi])
    z = np.array([C @ (mu * x / psi + t / 2.0 - 2.0 * f * level) for C, x, t, f in zip(covariances, X, y, phi, strict=True)])
    h = c @ X**2
    variances = 1.0 / (h / psi + alpha)
    mean = variances * (c @ (X * z)) / psi
    new_psi = (c @ ((z - mean * X) ** 2 + np.einsum("imm->im", covariances)) + variances * h) / c.sum()
    sums = z.sum(axis=1)
    new_level = c @ (y / 2.0 - 2.0 * phi * sums) / (2.0 * c @ phi + 0.01)
    new_xi = np.sqrt((new_level + sums) ** 2 + covariances.sum(axis=(1, 2)))
    return mean, new_level, new_psi, 1.0 / (mean**2 + variances), new_xi


def test_a_sweep_is_the_one_with_all_fake_targets_written_out():
    columns, labels = problem(5, 40, 3)
    design = np.column_stack([np.ones(40), columns])
    now = FakeTargets.start(Variational.start(labels, design, np.arange(3), np.arange(3), fit_intercept=True)).solved()
    y, c = 2.0 * labels.targets - 1.0, labels.weights
    state = (now.own, now.weights[0], now.fake_variances, now.alpha, now.model.xi)
    for _ in range(30):
        now, state = now.swept(), explicit_sweep(columns, y, c, *state)
    ours = (now.own, now.weights[0], now.fake_variances, now.alpha, now.model.xi)
    for one, other in zip(ours, state, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


@pytest.mark.parametrize("solve", [run_em, run_sweeps])
@pytest.mark.parametrize("seed", range(3))
def test_expectation_maximization_never_lowers_the_bound(seed, solve):
    journal = Journal(Budget(tol=1e-9, max_steps=3000))
    solve(start(seed, (0, 1, 2, 2, 3), n=60), journal)
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()


def test_expectation_maximization_ends_where_the_direct_steps_do():
    direct, _ = run(start(2, (0, 0, 1), n=200), Journal(Budget(tol=1e-10)))
    em, outcome = run_em(start(2, (0, 0, 1), n=200), Journal(Budget(tol=1e-7)))
    assert outcome is Outcome.CONVERGED
    np.testing.assert_array_equal(em.candidates, direct.candidates)
    np.testing.assert_allclose(em.weights, direct.weights, rtol=2e-3)
    assert em.bound == pytest.approx(direct.bound, abs=1e-3)


def test_the_papers_sweeps_come_near_the_direct_answer_of_its_form():
    direct, _ = run_factorized(start(2, (0, 1), n=60), Journal(Budget(tol=1e-10)))
    swept, _ = run_sweeps(start(2, (0, 1), n=60), Journal(Budget(tol=1e-10, max_steps=4000)))
    np.testing.assert_array_equal(swept.candidates, direct.candidates)
    np.testing.assert_allclose(swept.weights, direct.weights, rtol=0.02)
    assert swept.bound <= direct.bound + 1e-6
