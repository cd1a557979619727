"""Fast GCV with the noise update that the paper prints."""

import numpy as np

from skarce import FastGCVRegressor, Outcome
from skarce.criteria import GCV
from skarce.methods.held_precision import run_held_precision
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import random_problem
from tests.problems import moments_of


def test_held_precisions_follow_the_printed_steps():
    """Replayed densely: after every action the noise of eq. 8, and every ridge times its change."""
    phi, t = random_problem(2, n=40, m=15)
    noise, before = 0.1 * (t @ t) / 40, {}
    n_checked = 0
    for n_steps in range(1, 15):
        journal = Journal(Budget(max_steps=n_steps))
        found = run_held_precision(GCV(), moments_of(phi, t), journal)
        index = journal.trace()["index"][-1]
        after = dict(zip(found.active.tolist(), found.ridges, strict=True))
        if set(after) == {index}:
            p, o, tt = phi[:, index] @ phi[:, index], phi[:, index] @ t, t @ t
            acted = {index: max(p * (tt * p - o**2) / (40 * o**2 - tt * p), noise / (tt / 40) / 40)}
        else:
            factors = [after[j] / before[j] for j in before if j in after and j != index]
            np.testing.assert_allclose(factors, factors[0], rtol=1e-9)
            acted = {j: ridge / factors[0] for j, ridge in after.items()}
        fresh = noise_of(phi, t, acted)
        np.testing.assert_allclose(list(after.values()), np.array(list(acted.values())) * fresh / noise, rtol=1e-6)
        noise, before, n_checked = fresh, after, n_checked + 1
    assert n_checked == 14
    assert found.outcome is Outcome.STEP_LIMIT


def noise_of(phi, t, ridges):
    inside = phi[:, list(ridges)]
    P = np.linalg.inv(np.eye(len(t)) + (inside / list(ridges.values())) @ inside.T)
    return t @ P @ P @ t / np.trace(P)


def test_units_do_not_matter_to_the_printed_update_either(sinc):
    X, y = sinc
    models = [FastGCVRegressor("rbf", noise_update="paper").fit(X, factor * y) for factor in (1.0, 1e3, 1e-9)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].active_, other.active_)


def test_the_printed_noise_update_ends_without_a_tolerance():
    rng = np.random.default_rng(36)
    X = rng.normal(size=(3, 1))
    y = X[:, 0] + 0.01 * rng.normal(size=3)
    model = FastGCVRegressor("rbf", noise_update="paper", tol=0.0).fit(X, y)
    assert model.outcome_ is Outcome.CONVERGED
    assert model.n_iter_ < 100
