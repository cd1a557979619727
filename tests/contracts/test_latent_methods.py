"""One body for every method on rows whose likelihood is not normal. A new one is a line in `EVERY_METHOD`."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import expit

from skarce import KernelBasis
from skarce.designs import InMemoryDesign, RowBlocks, RowBlocksDesign, Rows
from skarce.likelihoods import Bernoulli, Gaussian, Likelihood, Poisson, StudentT
from skarce.methods.latent import SparseLatent
from skarce.methods.method import Method
from skarce.methods.pursuit import LogisticPursuit
from skarce.methods.variational.prior import Prior
from skarce.methods.variational_classes.method import VariationalClassification
from skarce.posteriors.latent import LatentPosterior
from skarce.states.budget import Budget
from skarce.states.outcome import Outcome
from tests.contracts.test_likelihoods import Exponential


@dataclass(frozen=True)
class Case:
    """A method and how its targets arise.

    Attributes
    ----------
    method : Method
    likelihood : Likelihood
    drawn : callable
        (latent, rng) -> targets of the same shape.
    impossible : float or None
        A target that cannot arise. None if every number can.
    """

    method: Method
    likelihood: Likelihood
    drawn: Callable
    impossible: float | None = -2.0


def labels(latent, rng):
    return (rng.uniform(size=latent.shape) < expit(latent)).astype(float)


def counts(latent, rng):
    return rng.poisson(np.exp(latent)).astype(float)


def numbers(latent, rng):
    return latent + rng.normal(0.0, 0.1, latent.shape)


def waiting_times(latent, rng):
    return rng.exponential(np.exp(latent))


EVERY_METHOD = {
    "relevance-vectors-labels": Case(SparseLatent(), Bernoulli(), labels),
    "relevance-vectors-labels-em": Case(SparseLatent("em"), Bernoulli(), labels),
    "relevance-vectors-counts": Case(SparseLatent(), Poisson(), counts),
    "relevance-vectors-counts-em": Case(SparseLatent("em"), Poisson(), counts),
    "relevance-vectors-numbers": Case(SparseLatent(), Gaussian(0.01), numbers, impossible=None),
    "relevance-vectors-waiting-times": Case(SparseLatent(), Exponential(), waiting_times),
    "matching-pursuit": Case(LogisticPursuit(), Bernoulli(), labels),
    "matching-pursuit-pre-fitting": Case(LogisticPursuit("pre-fitting"), Bernoulli(), labels),
    "matching-pursuit-basic": Case(LogisticPursuit("basic"), Bernoulli(), labels),
    "bound": Case(VariationalClassification(), Bernoulli(), labels),
    "bound-shared": Case(VariationalClassification(Prior("shared")), Bernoulli(), labels),
    "bound-em": Case(VariationalClassification(solver="em"), Bernoulli(), labels),
    "bound-factorized": Case(VariationalClassification(factorized=True), Bernoulli(), labels),
}
NUMBERS = EVERY_METHOD["relevance-vectors-numbers"]
BUDGET = Budget(tol=1e-4, max_steps=3000)


@pytest.fixture(params=EVERY_METHOD)
def case(request):
    return EVERY_METHOD[request.param]


def latents(X):
    """Two functions of the inputs."""
    return np.column_stack([2.0 * np.sin(1.5 * X[:, 0]), 1.0 - X[:, 0] ** 2 / 3.0])


def problems_of(case, *, fit_intercept=True, n=200, n_outputs=2):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (n, 1))
    basis = KernelBasis(gamma=1.0, centers=np.linspace(-3, 3, 12)[:, None]).fit(X)
    targets = case.drawn(latents(X), rng)[:, :n_outputs]
    design = InMemoryDesign(basis, Rows(X, targets, is_one_output=False), fit_intercept=fit_intercept)
    return design.problems(case.likelihood), basis.transform(X), X


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_fit_becomes_a_posterior_that_predicts(case, fit_intercept):
    method = case.method
    assert isinstance(method, Method)
    assert method.sense == 1
    problems, phi, X = problems_of(case, fit_intercept=fit_intercept)
    for problem, fit, truth in zip(problems, method.run_all(problems, BUDGET), latents(X).T, strict=True):
        posterior = method.posterior(fit, problem)
        assert isinstance(posterior, LatentPosterior)
        assert (np.diff(posterior.active) > 0).all()
        own = phi[:, posterior.active]
        predicted = posterior.predict(own)
        assert np.corrcoef(predicted, truth)[0, 1] > 0.75
        assert (posterior.variance(own) > 0.0).all()
        assert (posterior.intercept == 0.0) != fit_intercept
        assert posterior.n_iter == len(posterior.trace)
        # what expectation maximization takes out at its end is no step of its own
        assert posterior.trace["criterion"][-1] == pytest.approx(posterior.criterion, rel=1e-3)
        # the level of the observations is in the intercept
        assert case.likelihood.mean(predicted, np.zeros(len(X))).mean() == pytest.approx(
            problem.observations.targets.mean(), rel=0.1
        )


def test_several_targets_are_fitted_as_each_by_itself(case):
    method = case.method
    problems, _, _ = problems_of(case)
    for problem, fit in zip(problems, method.run_all(problems, BUDGET), strict=True):
        alone = method.run(problem, BUDGET)
        np.testing.assert_array_equal(fit.active, alone.active)
        np.testing.assert_allclose(fit.weights, alone.weights, rtol=1e-6, atol=1e-9)


def test_limits_are_kept_and_said(case):
    method = case.method
    (problem,), _, _ = problems_of(case, n_outputs=1)
    few = method.run(problem, replace(BUDGET, max_active=2))
    assert len(few.active) <= 2
    short = method.run(problem, replace(BUDGET, max_steps=1))
    assert short.outcome is Outcome.STEP_LIMIT
    late = method.run(problem, replace(BUDGET, deadline=time.monotonic() - 1.0))
    assert late.outcome is Outcome.TIME_LIMIT
    for fit in (few, short, late):
        assert np.isfinite(method.posterior(fit, problem).criterion)


@pytest.mark.usefixtures("rows_in_passes")
def test_rows_that_are_not_kept_are_read_again_or_asked_for(case):
    method = case.method
    (problem,), _, X = problems_of(case, n_outputs=1)
    targets = problem.observations.targets[:, None]
    blocks = RowBlocks(lambda: [(X, targets[:, 0])])
    design = RowBlocksDesign(problem.design.candidates, blocks, Rows(X, targets), len(X))
    passed = replace(problem, design=design)
    if isinstance(method, SparseLatent):
        assert method.run(passed, BUDGET).score > method.run(problem, BUDGET).score - 10 * BUDGET.tol
        return
    with pytest.raises(ValueError, match="needs them in memory"):
        method.run(passed, BUDGET)


@pytest.mark.parametrize("case", [pytest.param(c, id=name) for name, c in EVERY_METHOD.items() if c.impossible is not None])
def test_impossible_targets_are_refused(case):
    (problem,), _, _ = problems_of(case, n_outputs=1)
    targets = problem.design.rows.targets.copy()
    targets[3] = case.impossible
    design = InMemoryDesign(problem.design.candidates, problem.design.rows._replace(targets=targets))
    with pytest.raises(ValueError, match=f"{case.impossible:.6g}"):
        case.method.run(replace(problem, design=design), BUDGET)


def test_a_likelihood_that_is_not_log_concave_is_refused():
    (problem,), _, _ = problems_of(NUMBERS, n_outputs=1)
    with pytest.raises(ValueError, match="needs a log concave likelihood, and StudentT is none"):
        SparseLatent().run(replace(problem, likelihood=StudentT(4.0)), BUDGET)


def test_an_unknown_solver_is_named():
    with pytest.raises(ValueError, match="solver must be one of"):
        SparseLatent("newton")


def test_normal_noise_that_is_known_gives_the_evidence_of_the_dense_formula():
    """The Laplace approximation is exact there."""
    (problem,), phi, _ = problems_of(NUMBERS, fit_intercept=False, n_outputs=1)
    fit = SparseLatent().run(problem, BUDGET)
    own, n = phi[:, fit.active], len(phi)
    covariance = 0.01 * np.eye(n) + (own / fit.ridges) @ own.T
    targets = problem.observations.targets
    expected = -0.5 * (n * np.log(2.0 * np.pi) + np.linalg.slogdet(covariance)[1] + targets @ np.linalg.solve(covariance, targets))
    penalty = ((own**2).mean(axis=0) / (200.0 * fit.ridges)).sum()
    assert fit.score == pytest.approx(expected - penalty, abs=1e-6)
