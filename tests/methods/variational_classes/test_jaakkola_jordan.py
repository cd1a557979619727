"""The bounds of variational classification: below the evidence, never falling, settled at their fixed points."""

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp

from skarce import Outcome
from skarce.likelihoods import Bernoulli, Observations
from skarce.likelihoods.after import ObservationsAfter, Past
from skarce.methods.variational_classes.fake_targets import FakeTargets, run_factorized
from skarce.methods.variational_classes.jaakkola_jordan import Fitted, run
from skarce.methods.variational_classes.model import Variational, curvature_of_bound
from skarce.states.budget import Budget
from skarce.states.journal import Journal


def problem(seed, n=25, m=2):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, m))
    targets = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-2.0 * columns[:, 0]))).astype(float)
    return columns, Observations.of(Bernoulli(), targets, rng.choice([1.0, 2.0], n))


def start(seed, groups=(0, 1), n=25):
    columns, labels = problem(seed, n, len(groups))
    return Variational.start(labels, columns, np.arange(len(groups)), np.array(groups), fit_intercept=False)


def log_evidence_by_quadrature(model):
    """log of the integral of the likelihood under the prior, on a grid of the two weights.

    The integrand is smooth and vanishes at the ends, so the sum converges exponentially: 241 points give 13 digits.
    """
    alpha, labels = model.alpha, model.observations
    grid = np.linspace(-8.0, 8.0, 241)
    w = np.stack(np.meshgrid(grid / np.sqrt(alpha[0]), grid / np.sqrt(alpha[1]), indexing="ij"), axis=-1).reshape(-1, 2)
    signs = 2.0 * labels.targets - 1.0
    latent = w @ model.columns.T
    log_likelihood = log_expit(latent[:, : len(signs)] * signs) @ labels.weights
    log_likelihood -= 0.5 * ((latent[:, len(signs) :] - labels.past_targets) ** 2).sum(axis=1)
    log_prior = -0.5 * (w**2 @ alpha) + 0.5 * np.log(alpha).sum() - np.log(2.0 * np.pi)
    cell = np.log((grid[1] - grid[0]) ** 2) - 0.5 * np.log(alpha).sum()
    return logsumexp(log_likelihood + log_prior) + cell


def test_a_stretched_step_of_xi_goes_further_by_its_power_also_from_zero():
    """On a logarithmic scale; a row whose xi is zero has a bound that does not change up to much larger ones."""
    model = start(0)
    begun = Fitted(model)
    np.testing.assert_allclose(np.log(begun.quick(2.0).xi / model.xi), 2.0 * np.log(begun.best_xi / model.xi), rtol=1e-12)
    xi = model.xi.copy()
    xi[:3] = 0.0
    from_zero = Fitted(Variational(**{**vars(model), "xi": xi}))
    further = from_zero.quick(2.0).xi
    assert np.isfinite(further).all()
    assert (further[:3] > from_zero.best_xi[:3]).all()


def after_others(seed):
    """Labels, and two rows with normal noise of variance one that stand for earlier ones."""
    columns, labels = problem(seed)
    rng = np.random.default_rng(seed + 100)
    past = Past(np.zeros(2), rng.normal(size=(2, 2)), rng.normal(size=2))
    observations = ObservationsAfter(labels.likelihood, labels.targets, labels.weights, 0.0, past)
    return Variational.start(observations, np.vstack([columns, past.candidates]), np.arange(2), np.arange(2), fit_intercept=False)


@pytest.mark.parametrize("seed", range(4))
def test_a_past_is_counted_exactly(seed):
    """Below the evidence of all rows and close to it; at the evidence itself if no label counts."""
    model = after_others(seed)
    now = Fitted(model)
    for _ in range(20):
        now = Fitted(Variational(**{**vars(now.model), "xi": now.best_xi}))
    evidence = log_evidence_by_quadrature(model)
    assert evidence - 0.5 < now.bound < evidence
    alone = Variational(
        **{
            **vars(model),
            "observations": ObservationsAfter(
                model.observations.likelihood,
                model.observations.targets,
                0.0 * model.observations.weights,
                0.0,
                model.observations.past,
            ),
        }
    )
    assert Fitted(alone).bound == pytest.approx(log_evidence_by_quadrature(alone), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("groups", [(0, 1), (0, 0)])
def test_bounds_lie_below_the_evidence_and_the_full_one_is_closer(seed, groups):
    model = start(seed, groups)
    full = Fitted(model)
    for _ in range(200):  # at these precisions
        full = Fitted(Variational(**{**vars(full.model), "xi": full.best_xi}))
    evidence = log_evidence_by_quadrature(full.model)
    assert full.bound < evidence
    assert full.bound > evidence - 1.0
    fake = FakeTargets(model, np.full(2, 0.05), np.zeros(2))
    for _ in range(100):
        fake = fake.solved().settled(hold_total=False, is_sure=True)
        fake = FakeTargets(Variational(**{**vars(fake.model), "precisions": model.precisions}), fake.fake_variances, fake.weights)
        assert fake.bound < evidence
    assert fake.bound < full.bound


@pytest.mark.parametrize("seed", range(4))
def test_bounds_never_fall_and_end_at_their_fixed_points(seed):
    model = start(seed, (0, 1, 2, 2, 3), n=60)
    journal = Journal(Budget(tol=1e-10))
    fitted, outcome = run(model, journal)
    assert outcome is Outcome.CONVERGED
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()
    gamma = fitted.determined * fitted.model.groups.sizes
    np.testing.assert_allclose(fitted.model.precisions * fitted.model.groups.total(fitted.own**2), gamma, rtol=1e-3)
    np.testing.assert_allclose(fitted.best_xi, fitted.model.xi, rtol=1e-3)
    P = (
        2.0
        * (fitted.model.columns * (curvature_of_bound(fitted.model.xi) * model.observations.weights)[:, None]).T
        @ fitted.model.columns
    )
    P += np.diag(fitted.model.alpha)
    expected = np.linalg.solve(P, fitted.model.columns.T @ (model.observations.weights * (model.observations.targets - 0.5)))
    np.testing.assert_allclose(fitted.weights, expected, rtol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_papers_form_never_falls_while_none_is_pruned(seed):
    now = FakeTargets.start(start(seed, (0, 1, 2), n=60))
    bounds = []
    for _ in range(60):
        now = now.solved()
        bounds.append(now.bound)
        now = now.settled(hold_total=False, is_sure=True)
        bounds.append(now.bound)
    assert np.diff(bounds).min() > -1e-7


def test_the_papers_form_ends_settled():
    fake, outcome = run_factorized(start(1, (0, 1, 2), n=80), Journal(Budget(tol=1e-9)))
    assert outcome is Outcome.CONVERGED
    total = fake.model.groups.total
    np.testing.assert_allclose(fake.model.precisions * total(fake.own**2), total(fake.determined()), rtol=1e-2)
