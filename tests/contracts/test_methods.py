"""One body for every method on moments. A new method is one line in `EVERY_METHOD`."""

import time
from dataclasses import replace

import numpy as np
import pytest

from skarce import KernelBasis
from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, PenalizedError, SharedEvidence, SharedGCV
from skarce.designs import InMemoryDesign, Rows
from skarce.likelihoods import Gaussian
from skarce.methods.all_candidates import AllCandidates
from skarce.methods.elimination.method import Elimination
from skarce.methods.elimination.path import StopRule
from skarce.methods.held_precision import HeldPrecision
from skarce.methods.jeffreys import Jeffreys
from skarce.methods.l1.path import L1Path
from skarce.methods.local_ridge import LocalRidge
from skarce.methods.method import Method
from skarce.methods.pursuit import BasicPursuit, CorrelationOrder, HuberPursuit
from skarce.methods.relevance_em import RelevanceEM
from skarce.methods.selection import Selection
from skarce.methods.stepwise import Stepwise
from skarce.methods.variational.method import VariationalLeastSquares
from skarce.methods.variational.prior import Prior
from skarce.methods.variational.student_noise import RobustLeastSquares
from skarce.searches import Backward, BestAction, Floating, Forward, GreedyBatches
from skarce.states.budget import Budget
from skarce.states.outcome import Outcome

EVERY_METHOD = {
    "relevance vectors": Selection(IndividualEvidence(), GreedyBatches()),
    "relevance vectors, one by one": Selection(IndividualEvidence(), BestAction()),
    "relevance vectors, EM": RelevanceEM(),
    "fast GCV": Selection(GCV(), GreedyBatches()),
    "fast GCV, to the letter": HeldPrecision(),
    "local smoothing": LocalRidge(),
    "regularized forward": Selection(SharedGCV(), Forward()),
    "orthogonal least squares": Selection(ExplainedVariance(), Forward()),
    "matching pursuit": Selection(CorrelationOrder(), Forward()),
    "matching pursuit, basic": BasicPursuit(),
    "matching pursuit, Huber": HuberPursuit(),
    "evidence search": Selection(SharedEvidence(), Floating()),
    "penalized error": Selection(PenalizedError(), Backward()),
    "all candidates": AllCandidates(),
    "all candidates, prior given": AllCandidates(2.0),
    "elimination": Elimination(StopRule()),
    "elimination, prior given": Elimination(StopRule(direction="forward"), weight_variance=1.0),
    "L1": L1Path(),
    "L1, not finished": L1Path(finish=False),
    "Jeffreys": Jeffreys(),
    "stepwise": Stepwise(),
    "variational": VariationalLeastSquares(),
    "variational, shared": VariationalLeastSquares(Prior("shared")),
    "variational, no prior": VariationalLeastSquares(Prior("none")),
    "variational, Student": RobustLeastSquares(VariationalLeastSquares(), 4.0),
}
BUDGET = Budget(tol=1e-4, max_steps=10_000)


@pytest.fixture(params=EVERY_METHOD)
def method(request):
    return EVERY_METHOD[request.param]


def problems_of(targets, method, *, fit_intercept=True):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 1))
    basis = KernelBasis(gamma=1.0, centers=np.linspace(-3, 3, 12)[:, None]).fit(X)
    t = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    columns = np.column_stack([target(t) for target in targets])
    design = InMemoryDesign(basis, Rows(X, columns, is_one_output=False), fit_intercept=fit_intercept)
    return design.problems(Gaussian(), access=method.access), basis.transform(X), columns


def test_a_fit_becomes_a_posterior_that_predicts(method):
    assert isinstance(method, Method)
    assert method.sense in (-1, 1)
    assert method.kind
    (problem,), phi, targets = problems_of([lambda t: t], method)
    fit = method.run(problem, BUDGET)
    posterior = method.posterior(fit, problem)
    assert not posterior.outcome.is_early
    assert (np.diff(posterior.active) > 0).all()
    own = phi[:, posterior.active]
    residual = targets[:, 0] - posterior.predict(own)
    assert np.sqrt(np.mean(residual**2)) < 0.2
    assert 0.003 < posterior.noise_variance < 0.03  # 0.01 is the truth
    assert (posterior.variance(own) > posterior.noise_variance).all()
    assert np.isfinite(posterior.criterion)
    assert posterior.n_iter == len(posterior.trace)


def test_the_units_of_the_target_do_not_matter(method):
    if method == EVERY_METHOD["all candidates, prior given"]:
        method = replace(method, weight_variance=2.0 * 4.0**20)  # in user units, so it goes with the target
    (small,), phi, _ = problems_of([lambda t: t], EVERY_METHOD["all candidates"])
    (large,), _, _ = problems_of([lambda t: 2.0**20 * t], method)
    there = method.posterior(method.run(large, BUDGET), large)
    if isinstance(method, AllCandidates) and method.weight_variance is not None:
        method = replace(method, weight_variance=2.0)
    (small,), _, _ = problems_of([lambda t: t], method)
    here = method.posterior(method.run(small, BUDGET), small)
    np.testing.assert_array_equal(here.active, there.active)
    np.testing.assert_allclose(
        there.predict(phi[:, there.active]), 2.0**20 * here.predict(phi[:, here.active]), rtol=1e-7, atol=1e-3
    )
    assert there.noise_variance == pytest.approx(4.0**20 * here.noise_variance, rel=1e-6)


def test_several_targets_are_fitted_as_each_by_itself(method):
    together, _, _ = problems_of([lambda t: t, lambda t: t**2], method)
    fits = method.run_all(together, BUDGET)
    for problem, fit in zip(together, fits, strict=True):
        alone = method.run(problem, BUDGET)
        np.testing.assert_array_equal(fit.active, alone.active)
        np.testing.assert_array_equal(fit.ridges, alone.ridges)


def test_a_target_that_does_not_vary_gives_its_mean(method):
    (problem,), phi, _ = problems_of([lambda t: np.full(60, 3.0)], method)
    posterior = method.posterior(method.run(problem, BUDGET), problem)
    assert posterior.outcome is Outcome.CONSTANT_TARGET
    assert len(posterior.active) == 0
    np.testing.assert_allclose(posterior.predict(phi[:, :0]), 3.0)


def test_limits_end_a_fit_and_there_is_a_model_all_the_same(method):
    (problem,), phi, _ = problems_of([lambda t: t], method)
    for budget in (replace(BUDGET, max_steps=1), replace(BUDGET, deadline=time.monotonic() - 1.0), replace(BUDGET, max_active=2)):
        posterior = method.posterior(method.run(problem, budget), problem)
        assert np.isfinite(posterior.predict(phi[:, posterior.active])).all()
        if budget.max_active is not None:
            assert len(posterior.active) <= budget.max_active
