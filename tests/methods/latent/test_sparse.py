"""The search."""

import time

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skarce.basis.candidates import ColumnsEvaluation
from skarce.likelihoods import Bernoulli, Observations
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.scan import scan
from skarce.methods.latent.sparse import SparseLatent
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.methods.latent.problems import LIKELIHOODS, dense_score, moons


def best_addition(phi, observed, active, precisions, m):
    """The most that candidate m can do, by a search over its precision with a mode for each."""

    def loss(log_precision):
        return -dense_score(phi, observed, [*active, m], np.append(precisions, np.exp(log_precision)))

    return -minimize_scalar(loss, bounds=(-8.0, 12.0), method="bounded", options={"xatol": 0.1}).fun


@pytest.mark.parametrize("seed", range(2))
def test_no_single_change_raises_the_dense_score(seed, kind):
    evaluation, observed = moons(45, seed, kind)
    phi = evaluation.columns(np.arange(45))
    tol = 1e-3
    start = Laplace.empty(observed, fit_intercept=True)
    journal = Journal(Budget(tol=tol))
    ((model, _),) = SparseLatent().search(ColumnsEvaluation(phi), [start], [journal])
    active, precisions = model.indices, model.precisions[1:]
    reached = dense_score(phi, observed, active, precisions)
    assert model.score == pytest.approx(reached, abs=1e-7)
    assert (np.diff(journal.trace()["criterion"]) > -1e-6).all()
    for j in range(len(active)):
        rest = np.delete(active, j), np.delete(precisions, j)
        assert dense_score(phi, observed, *rest) <= reached
        assert best_addition(phi, observed, *rest, active[j]) <= reached + tol
    for m in np.setdiff1d(np.arange(45), active):
        # the gains by which it ended hold B, which moves a little with every addition
        assert best_addition(phi, observed, active, precisions, m) <= reached + 5.0 * tol


def test_pools_end_where_no_candidate_of_all_helps(kind):
    evaluation, observed = moons(1500, kind=kind)
    journal = Journal()
    ((model, outcome),) = SparseLatent().search(evaluation, [Laplace.empty(observed, fit_intercept=True)], [journal])
    gains = np.delete(scan(evaluation, [model])[0].gains(), model.indices)
    assert outcome.name == "CONVERGED"
    assert gains.max() <= journal.budget.tol
    assert len(model) < 20


def test_classes_together_end_as_each_alone():
    evaluation, observed = moons(200)
    other = Observations.of(Bernoulli(), (np.arange(200) % 3 == 0).astype(float))
    starts = [Laplace.empty(each, fit_intercept=True) for each in (observed, other)]
    together = SparseLatent().search(evaluation, starts, [Journal(), Journal()])
    for start, (model, _) in zip(starts, together, strict=True):
        ((alone, _),) = SparseLatent().search(evaluation, [start], [Journal()])
        np.testing.assert_array_equal(np.sort(alone.indices), np.sort(model.indices))
        assert alone.score == pytest.approx(model.score, abs=1e-6)


class Clock:
    """A clock that goes on only if it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def likelihood(self, kind):
        """Return a likelihood that needs a second for each question of a Newton step."""
        clock, parent = self, type(LIKELIHOODS[kind])

        class Slow(parent):
            def slopes(self, targets, latent):
                clock.now += 1.0
                return super().slopes(targets, latent)

        return Slow()


def slow_problem(kind, likelihood, n_targets=1, n=300):
    evaluation, observed = moons(n, kind=kind)
    rng = np.random.default_rng(1)
    targets = [observed.targets, *(rng.permutation(observed.targets) for _ in range(n_targets - 1))]
    return evaluation, [Observations.of(likelihood, each) for each in targets]


@pytest.mark.parametrize("max_time", [10.0, 20.0, 40.0, 80.0])
def test_the_time_limit_is_asked_before_every_model(kind, max_time, monkeypatch):
    clock = Clock(monkeypatch)
    evaluation, (observed,) = slow_problem(kind, clock.likelihood(kind))
    start = Laplace.empty(observed, fit_intercept=True)
    journal = Journal(Budget(tol=1e-6, deadline=clock.now + max_time))
    ((model, outcome),) = SparseLatent().search(evaluation, [start], [journal])
    assert outcome is Outcome.TIME_LIMIT
    assert clock.now <= journal.budget.deadline + 12.0  # one model more than there was time for takes some Newton steps
    assert len(model) > 0


def test_classes_share_the_time(monkeypatch):
    clock = Clock(monkeypatch)
    evaluation, observed = moons(300)
    labels = [observed.targets, 1.0 - observed.targets, (np.arange(300) % 7 < 3) * observed.targets]
    likelihood = clock.likelihood("bernoulli")
    starts = [Laplace.empty(Observations.of(likelihood, each), fit_intercept=True) for each in labels]
    budget = Budget(tol=1e-6, deadline=clock.now + 60.0)
    found = SparseLatent().search(evaluation, starts, [Journal(budget) for _ in starts])
    assert all(len(model) > 0 for model, _ in found)
    assert clock.now <= budget.deadline + 12.0


@pytest.mark.parametrize("max_steps", [1, 2, 3, 4, 5])
def test_no_step_is_taken_beyond_the_limit(kind, max_steps):
    evaluation, observed = moons(200, kind=kind)
    journal = Journal(Budget(max_steps=max_steps))
    SparseLatent().search(evaluation, [Laplace.empty(observed, fit_intercept=True)], [journal])
    assert len(journal.trace()) <= max_steps
