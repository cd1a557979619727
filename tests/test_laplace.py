"""Sparse Bayesian models of latent functions: the mode, the evidence, what candidates would do, and the search."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_moons

from skarce import KernelBasis
from skarce.basis.candidates import ColumnsEvaluation
from skarce.designs.centered import centered
from skarce.likelihoods import Bernoulli, Observations, Poisson
from skarce.methods.latent.em import run_em
from skarce.methods.latent.functions import Functions, weighted_gram
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.scan import scan
from skarce.methods.latent.sparse import SparseLatent
from skarce.methods.latent.steps import capped, settle, superfluous
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import laplace_log_evidence, laplace_score, latent_mode, log_density

ACTIVE = np.array([0, 2, 5])
PRECISIONS = np.array([0.3, 2.0, 0.05])
LIKELIHOODS = {"bernoulli": Bernoulli(), "poisson": Poisson()}
SCALE = 10.0  # tau


@pytest.fixture(params=LIKELIHOODS)
def kind(request):
    return request.param


def drawn(kind, latent, rng):
    """Labels or counts of about 3 on average."""
    if kind == "bernoulli":
        return (rng.uniform(size=len(latent)) < 1.0 / (1.0 + np.exp(-latent))).astype(float)
    return rng.poisson(2.0 * np.exp(0.4 * latent)).astype(float)


def problem(seed, kind, n=40, m=9, *, intercept=True):
    """Columns of different norms, targets that depend on three of them, and rows that count unequally."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-0.5, 0.5, m)
    phi[:, 3] = phi[:, 2] + 0.3 * rng.normal(size=n)
    latent = phi[:, [0, 2, 5]] @ rng.normal(size=3) * 1.5 + 0.5
    targets = drawn(kind, np.clip(latent, -6.0, 6.0), rng)
    return phi, Observations.of(LIKELIHOODS[kind], targets, rng.choice([0.5, 1.0, 2.0], n), has_constant=intercept)


def model_of(phi, observations, active=ACTIVE, precisions=PRECISIONS, *, intercept=True):
    return Laplace.empty(observations, fit_intercept=intercept).with_added(phi[:, active], precisions, active)


def kind_of(observations):
    return next(name for name, likelihood in LIKELIHOODS.items() if likelihood == observations.likelihood)


def dense_score(phi, observations, active, precisions, *, intercept=True):
    targets, weights = observations.targets, observations.weights
    return laplace_score(phi[:, active], targets, weights, precisions, intercept=intercept, kind=kind_of(observations))


def moons(n, seed=0, kind="bernoulli"):
    """Labels of two moons, or counts whose rates differ between them."""
    X, y = make_moons(n, noise=0.3, random_state=seed)
    targets = y.astype(float) if kind == "bernoulli" else np.random.default_rng(seed).poisson(1.0 + 4.0 * y).astype(float)
    return KernelBasis().fit(X).on(X), Observations.of(LIKELIHOODS[kind], targets)


# At given precisions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("intercept", [True, False])
def test_mode_and_hessian_are_those_of_a_general_optimizer(seed, intercept, kind):
    phi, observed = problem(seed, kind, intercept=intercept)
    model = model_of(phi, observed, intercept=intercept)
    columns, precisions = phi[:, ACTIVE], PRECISIONS
    if intercept:
        columns, precisions = np.column_stack([np.ones(len(phi)), columns]), np.concatenate([[1.0 / SCALE**2], precisions])
    mode, _, hessian = latent_mode(columns, observed.targets, observed.weights, precisions, kind, observed.level)
    np.testing.assert_allclose(model.weights, mode, atol=1e-7)
    np.testing.assert_allclose(model.factor @ model.factor.T, hessian, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.covariance, np.linalg.inv(hessian), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_mode_is_found_from_far_away(kind, sign):
    phi, observed = problem(0, kind)
    model = model_of(phi, observed)
    start = sign * np.array([40.0, -60.0, 80.0, -30.0])
    far = Laplace(observed, Functions.of(observed, model.columns), model.precisions, model.indices, start)
    np.testing.assert_allclose(far.weights, model.weights, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("intercept", [True, False])
def test_evidence_and_score_are_those_of_dense_matrices(seed, intercept, kind):
    phi, observed = problem(seed, kind, intercept=intercept)
    model = model_of(phi, observed, intercept=intercept)
    expected = laplace_log_evidence(phi[:, ACTIVE], observed.targets, observed.weights, PRECISIONS, intercept=intercept, kind=kind)
    assert model.evidence == pytest.approx(expected, abs=1e-8)
    assert model.score == pytest.approx(dense_score(phi, observed, ACTIVE, PRECISIONS, intercept=intercept), abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_is_that_of_the_dense_score(seed, kind):
    phi, observed = problem(seed, kind)
    gradient = model_of(phi, observed).gradient
    for j in range(len(ACTIVE)):
        step = np.zeros(len(ACTIVE))
        step[j] = 1e-4
        up, down = (dense_score(phi, observed, ACTIVE, PRECISIONS * np.exp(sign * step)) for sign in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-4, abs=1e-6)


def test_repeated_rows_equal_weights(kind):
    phi, observed = problem(1, kind)
    counts = np.random.default_rng(1).integers(1, 4, len(phi))
    repeated = Observations.of(observed.likelihood, np.repeat(observed.targets, counts))
    counted = Observations.of(observed.likelihood, observed.targets, counts.astype(float))
    several, once = model_of(np.repeat(phi, counts, axis=0), repeated), model_of(phi, counted)
    assert several.score == pytest.approx(once.score, abs=1e-8)


def test_weighted_gram_on_many_rows(rng):
    columns, weights = rng.normal(size=(3000, 120)), rng.uniform(size=3000)
    np.testing.assert_allclose(weighted_gram(columns, weights), (columns * weights[:, None]).T @ columns, rtol=1e-10, atol=1e-9)


# What candidates would do ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("intercept", [True, False])
def test_scan_agrees_with_dense_matrices(seed, intercept, kind):
    phi, observed = problem(seed, kind, intercept=intercept)
    model = model_of(phi, observed, intercept=intercept)
    found = scan(ColumnsEvaluation(phi), [model])[0]
    covariance = np.diag(1.0 / model.curvature) + (model.columns / model.precisions) @ model.columns.T
    np.testing.assert_allclose(found.sparsity, np.einsum("im,ij,jm->m", phi, np.linalg.inv(covariance), phi), rtol=1e-8, atol=1e-10)
    latent = observed.level + model.columns @ model.weights
    mean = 1.0 / (1.0 + np.exp(-latent)) if kind == "bernoulli" else np.exp(latent)
    np.testing.assert_allclose(found.quality, phi.T @ (observed.weights * (observed.targets - mean)), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_candidate_helps_as_the_dense_score_says_it_begins_to(seed, kind):
    """The slope of the score in the prior variance of one more function, at zero."""
    phi, observed = problem(seed, kind)
    found = scan(ColumnsEvaluation(phi), [model_of(phi, observed)])[0]
    slopes = 0.5 * (found.sparsity + 2.0 * found.rate) * (found.ratio - 1.0)
    without = dense_score(phi, observed, ACTIVE, PRECISIONS)
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        variances = np.array([1e-3, 2e-3]) / found.sparsity[m]
        rises = [dense_score(phi, observed, [*ACTIVE, m], np.append(PRECISIONS, 1.0 / v)) - without for v in variances]
        slope = 2.0 * rises[0] / variances[0] - rises[1] / variances[1]  # to second order
        assert slopes[m] == pytest.approx(slope, rel=1e-3, abs=1e-3 * found.sparsity[m])


@pytest.mark.parametrize("seed", range(3))
def test_gain_is_the_difference_of_two_dense_scores_with_b_held(seed, kind):
    """Working targets f + B^-1 (t - g) with noise B^-1 make a Gaussian problem of the neighborhood of the mode."""
    phi, observed = problem(seed, kind)
    model = model_of(phi, observed)
    found = scan(ColumnsEvaluation(phi), [model])[0]
    found = found._replace(pull=np.zeros_like(found.pull))
    working = model.latent + model.residual / model.curvature
    covariance = np.diag(1.0 / model.curvature) + (model.columns / model.precisions) @ model.columns.T
    others = np.setdiff1d(np.arange(phi.shape[1]), ACTIVE)
    for m in others:
        if found.gains()[m] == 0.0:
            continue
        precision = found.precisions()[m]
        larger = covariance + np.outer(phi[:, m], phi[:, m]) / precision
        penalty = (observed.weights @ phi[:, m] ** 2) / observed.weights.sum() / (200.0 * precision)
        expected = log_density(working, larger) - log_density(working, covariance) - penalty
        assert found.gains()[m] == pytest.approx(expected, rel=1e-7)
    assert found.gains()[others].max() > 0.0


def test_after_an_addition_all_is_as_if_scanned_again_with_b_held(kind):
    phi, observed = problem(2, kind)
    model = model_of(phi, observed)
    found = scan(ColumnsEvaluation(phi), [model])[0]
    before = np.diag(1.0 / model.curvature) + (model.columns / model.precisions) @ model.columns.T
    after = found.after(7, phi.T @ np.linalg.solve(before, phi[:, 7]), 0.4)
    covariance = before + np.outer(phi[:, 7], phi[:, 7]) / 0.4
    np.testing.assert_allclose(after.sparsity, np.einsum("im,ij,jm->m", phi, np.linalg.inv(covariance), phi), rtol=1e-8, atol=1e-10)
    working = model.latent + model.residual / model.curvature
    np.testing.assert_allclose(after.quality, phi.T @ np.linalg.solve(covariance, working), atol=1e-8)


def test_one_pass_serves_all_classes():
    evaluation, observed = moons(900)
    observed = Observations.of(Bernoulli(), observed.targets, np.linspace(0.5, 2.0, 900))
    other = Observations.of(Bernoulli(), (np.arange(900) % 3 == 0).astype(float), observed.weights)
    columns = evaluation.columns(np.array([3, 400]))
    models = [
        Laplace.empty(each, fit_intercept=True).with_added(columns, np.array([0.1, 2.0]), np.array([3, 400]))
        for each in (observed, other)
    ]
    for together, model in zip(scan(evaluation, models), models, strict=True):
        for one, alone in zip(together, scan(evaluation, [model])[0], strict=True):
            np.testing.assert_allclose(one, alone, rtol=1e-9, atol=1e-9)


# Joint steps -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_joint_steps_end_where_the_gradient_vanishes(seed, kind):
    phi, observed = problem(seed, kind, n=80)
    model = model_of(phi, observed)
    settled, converged = settle(model, 1e-7, 100)
    assert converged or len(settled) < len(model)
    settled, converged = settle(settled, 1e-7, 100)
    assert converged
    assert settled.score >= model.score
    assert np.abs(settled.gradient).max(initial=0.0) < 1e-2


def test_superfluous_functions_are_those_that_the_evidence_is_better_without(kind):
    phi, observed = problem(0, kind, n=200)
    noise = np.random.default_rng(5).normal(size=(200, 3))
    phi = np.column_stack([phi, noise])
    active = np.array([0, 2, 5, 9, 10, 11])
    model = model_of(phi, observed, active, np.full(6, 5.0))
    for position in superfluous(model):
        rest = np.delete(active, position)
        assert dense_score(phi, observed, rest, np.full(5, 5.0)) > dense_score(phi, observed, active, np.full(6, 5.0))
    assert len(superfluous(model))


def test_a_cap_takes_out_what_is_missed_least(kind):
    phi, observed = problem(3, kind, n=100)
    model = model_of(phi, observed)
    smaller = capped(model, 2)
    losses = {j: dense_score(phi, observed, np.delete(ACTIVE, j), np.delete(PRECISIONS, j)) for j in range(len(ACTIVE))}
    assert set(smaller.indices) == set(np.delete(ACTIVE, max(losses, key=losses.get)))


# The search ------------------------------------------------------------------------------------------------------------------


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


def test_centered_candidates_are_those_less_their_means(rng):
    X = rng.normal(size=(700, 2))
    X[:, 1] = 3.0
    weights = rng.uniform(0.5, 2.0, 700)
    for evaluation in (KernelBasis().fit(X).on(X), ColumnsEvaluation(X)):
        whole = evaluation.columns(np.arange(evaluation.n_candidates))
        phi = whole - weights @ whole / weights.sum()
        about, means = centered(evaluation, weights)
        np.testing.assert_allclose(means, weights @ whole / weights.sum())
        np.testing.assert_allclose(about.columns(np.arange(evaluation.n_candidates)), phi, atol=1e-12)
        right = rng.normal(size=(700, 3))
        product, squares = about.project(right, weights)
        np.testing.assert_allclose(product, phi.T @ right, atol=1e-9)
        np.testing.assert_allclose(squares, weights @ phi**2, atol=1e-9)
        np.testing.assert_allclose(about.project(right, right**2)[1], (phi**2).T @ right**2, atol=1e-9)
        np.testing.assert_allclose(about.project(right)[0], phi.T @ right, atol=1e-9)
        out = np.empty((10, evaluation.n_candidates))
        about.fill(slice(5, 15), slice(0, evaluation.n_candidates), out)
        np.testing.assert_allclose(out, phi[5:15], atol=1e-12)
