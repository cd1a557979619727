"""Sparse Bayesian classification: the mode, the evidence, what candidates would do, and the search."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_moons

from skarce import KernelBasis
from skarce.basis.candidates import ColumnsEvaluation
from skarce.designs.centered import centred
from skarce.likelihoods import Labels
from skarce.methods.latent.em import run_em
from skarce.methods.latent.laplace import SCALE, Laplace, weighted_gram
from skarce.methods.latent.scan import scan
from skarce.methods.latent.sparse import SparseLaplace
from skarce.methods.latent.steps import capped, settle, superfluous
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import laplace_log_evidence, laplace_score, log_density, logistic_mode

ACTIVE = np.array([0, 2, 5])
PRECISIONS = np.array([0.3, 2.0, 0.05])


def problem(seed, n=40, m=9):
    """Columns of different lengths, labels that depend on three of them, and rows that count unequally."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-0.5, 0.5, m)
    phi[:, 3] = phi[:, 2] + 0.3 * rng.normal(size=n)
    latent = phi[:, [0, 2, 5]] @ rng.normal(size=3) * 1.5 + 0.5
    targets = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-latent))).astype(float)
    return phi, Labels(targets, rng.choice([0.5, 1.0, 2.0], n))


def model_of(phi, labels, active=ACTIVE, precisions=PRECISIONS, *, intercept=True):
    return Laplace.empty(labels, fit_intercept=intercept).with_added(phi[:, active], precisions, active)


def dense_score(phi, labels, active, precisions, *, intercept=True):
    return laplace_score(phi[:, active], labels.targets, labels.weights, precisions, intercept=intercept)


def moons(n, seed=0):
    X, y = make_moons(n, noise=0.3, random_state=seed)
    return KernelBasis().fit(X).on(X), Labels(y.astype(float), np.ones(n))


# At given precisions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("intercept", [True, False])
def test_mode_and_hessian_are_those_of_a_general_optimiser(seed, intercept):
    phi, labels = problem(seed)
    model = model_of(phi, labels, intercept=intercept)
    columns, precisions = phi[:, ACTIVE], PRECISIONS
    if intercept:
        columns, precisions = np.column_stack([np.ones(len(phi)), columns]), np.concatenate([[1.0 / SCALE**2], precisions])
    mode, _, hessian = logistic_mode(columns, labels.targets, labels.weights, precisions)
    np.testing.assert_allclose(model.weights, mode, atol=1e-7)
    np.testing.assert_allclose(model.factor @ model.factor.T, hessian, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.covariance, np.linalg.inv(hessian), rtol=1e-6, atol=1e-9)


def test_mode_is_found_from_far_away():
    phi, labels = problem(0)
    model = model_of(phi, labels)
    far = Laplace(labels, model.columns, model.precisions, model.indices, np.array([40.0, -60.0, 80.0, -30.0]))
    np.testing.assert_allclose(far.weights, model.weights, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("intercept", [True, False])
def test_evidence_and_score_are_those_of_dense_matrices(seed, intercept):
    phi, labels = problem(seed)
    model = model_of(phi, labels, intercept=intercept)
    expected = laplace_log_evidence(phi[:, ACTIVE], labels.targets, labels.weights, PRECISIONS, intercept=intercept)
    assert model.evidence == pytest.approx(expected, abs=1e-8)
    assert model.score == pytest.approx(dense_score(phi, labels, ACTIVE, PRECISIONS, intercept=intercept), abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_is_that_of_the_dense_score(seed):
    phi, labels = problem(seed)
    gradient = model_of(phi, labels).gradient
    for j in range(len(ACTIVE)):
        step = np.zeros(len(ACTIVE))
        step[j] = 1e-4
        up, down = (dense_score(phi, labels, ACTIVE, PRECISIONS * np.exp(sign * step)) for sign in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-4, abs=1e-6)


def test_repeated_rows_equal_weights():
    phi, labels = problem(1)
    counts = np.random.default_rng(1).integers(1, 4, len(phi))
    repeated = Labels(np.repeat(labels.targets, counts), np.ones(counts.sum()))
    counted = Labels(labels.targets, counts.astype(float))
    several, once = model_of(np.repeat(phi, counts, axis=0), repeated), model_of(phi, counted)
    assert several.score == pytest.approx(once.score, abs=1e-8)


def test_weighted_gram_on_many_rows(rng):
    columns, weights = rng.normal(size=(3000, 120)), rng.uniform(size=3000)
    np.testing.assert_allclose(weighted_gram(columns, weights), (columns * weights[:, None]).T @ columns, rtol=1e-10, atol=1e-9)


# What candidates would do ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("intercept", [True, False])
def test_scan_agrees_with_dense_matrices(seed, intercept):
    phi, labels = problem(seed)
    model = model_of(phi, labels, intercept=intercept)
    found = scan(ColumnsEvaluation(phi), [model])[0]
    covariance = np.diag(1.0 / model.curvature) + (model.columns / model.precisions) @ model.columns.T
    np.testing.assert_allclose(found.sparsity, np.einsum("im,ij,jm->m", phi, np.linalg.inv(covariance), phi), rtol=1e-8, atol=1e-10)
    probability = 1.0 / (1.0 + np.exp(-model.columns @ model.weights))
    np.testing.assert_allclose(found.quality, phi.T @ (labels.weights * (labels.targets - probability)), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_candidate_helps_as_the_dense_score_says_it_begins_to(seed):
    """The slope of the score in the prior variance of one more function, at zero."""
    phi, labels = problem(seed)
    found = scan(ColumnsEvaluation(phi), [model_of(phi, labels)])[0]
    slopes = 0.5 * (found.sparsity + 2.0 * found.rate) * (found.ratio - 1.0)
    without = dense_score(phi, labels, ACTIVE, PRECISIONS)
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        variances = np.array([1e-3, 2e-3]) / found.sparsity[m]
        rises = [dense_score(phi, labels, [*ACTIVE, m], np.append(PRECISIONS, 1.0 / v)) - without for v in variances]
        slope = 2.0 * rises[0] / variances[0] - rises[1] / variances[1]  # to second order
        assert slopes[m] == pytest.approx(slope, rel=1e-3, abs=1e-3 * found.sparsity[m])


@pytest.mark.parametrize("seed", range(3))
def test_gain_is_the_difference_of_two_dense_scores_with_b_held(seed):
    """Working targets f + B^-1 (t - g) with noise B^-1 make a Gaussian problem of the neighbourhood of the mode."""
    phi, labels = problem(seed)
    model = model_of(phi, labels)
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
        penalty = (labels.weights @ phi[:, m] ** 2) / labels.weights.sum() / (200.0 * precision)
        expected = log_density(working, larger) - log_density(working, covariance) - penalty
        assert found.gains()[m] == pytest.approx(expected, rel=1e-7)
    assert found.gains()[others].max() > 0.0


def test_after_an_addition_all_is_as_if_scanned_again_with_b_held():
    phi, labels = problem(2)
    model = model_of(phi, labels)
    found = scan(ColumnsEvaluation(phi), [model])[0]
    before = np.diag(1.0 / model.curvature) + (model.columns / model.precisions) @ model.columns.T
    after = found.after(7, phi.T @ np.linalg.solve(before, phi[:, 7]), 0.4)
    covariance = before + np.outer(phi[:, 7], phi[:, 7]) / 0.4
    np.testing.assert_allclose(after.sparsity, np.einsum("im,ij,jm->m", phi, np.linalg.inv(covariance), phi), rtol=1e-8, atol=1e-10)
    working = model.latent + model.residual / model.curvature
    np.testing.assert_allclose(after.quality, phi.T @ np.linalg.solve(covariance, working), atol=1e-8)


def test_one_pass_serves_all_classes():
    evaluation, labels = moons(900)
    labels = Labels(labels.targets, np.linspace(0.5, 2.0, 900))
    other = Labels((np.arange(900) % 3 == 0).astype(float), labels.weights)
    columns = evaluation.columns(np.array([3, 400]))
    models = [
        Laplace.empty(each, fit_intercept=True).with_added(columns, np.array([0.1, 2.0]), np.array([3, 400]))
        for each in (labels, other)
    ]
    for together, model in zip(scan(evaluation, models), models, strict=True):
        for one, alone in zip(together, scan(evaluation, [model])[0], strict=True):
            np.testing.assert_allclose(one, alone, rtol=1e-9, atol=1e-9)


# Joint steps -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_joint_steps_end_where_the_gradient_vanishes(seed):
    phi, labels = problem(seed, n=80)
    model = model_of(phi, labels)
    settled, converged = settle(model, 1e-7, 100)
    assert converged or len(settled) < len(model)
    settled, converged = settle(settled, 1e-7, 100)
    assert converged
    assert settled.score >= model.score
    assert np.abs(settled.gradient).max(initial=0.0) < 1e-2


def test_superfluous_functions_are_those_that_the_evidence_is_better_without():
    phi, labels = problem(0, n=200)
    noise = np.random.default_rng(5).normal(size=(200, 3))
    phi = np.column_stack([phi, noise])
    active = np.array([0, 2, 5, 9, 10, 11])
    model = model_of(phi, labels, active, np.full(6, 5.0))
    for position in superfluous(model):
        rest = np.delete(active, position)
        assert dense_score(phi, labels, rest, np.full(5, 5.0)) > dense_score(phi, labels, active, np.full(6, 5.0))
    assert len(superfluous(model))


def test_a_cap_takes_out_what_is_missed_least():
    phi, labels = problem(3, n=100)
    model = model_of(phi, labels)
    smaller = capped(model, 2)
    losses = {j: dense_score(phi, labels, np.delete(ACTIVE, j), np.delete(PRECISIONS, j)) for j in range(len(ACTIVE))}
    assert set(smaller.indices) == set(np.delete(ACTIVE, max(losses, key=losses.get)))


# The search ------------------------------------------------------------------------------------------------------------------


def best_addition(phi, labels, active, precisions, m):
    """The most that candidate m can do, by a search over its precision with a mode for each."""

    def loss(log_precision):
        return -dense_score(phi, labels, [*active, m], np.append(precisions, np.exp(log_precision)))

    return -minimize_scalar(loss, bounds=(-8.0, 12.0), method="bounded", options={"xatol": 0.1}).fun


@pytest.mark.parametrize("seed", range(2))
def test_no_single_change_raises_the_dense_score(seed):
    X, y = make_moons(45, noise=0.3, random_state=seed)
    phi, labels = KernelBasis().fit(X).transform(X), Labels(y.astype(float), np.ones(45))
    tol = 1e-3
    start = Laplace.empty(labels, fit_intercept=True)
    journal = Journal(Budget(tol=tol))
    ((model, _),) = SparseLaplace().run(ColumnsEvaluation(phi), [start], [journal])
    active, precisions = model.indices, model.precisions[1:]
    reached = dense_score(phi, labels, active, precisions)
    assert model.score == pytest.approx(reached, abs=1e-7)
    assert (np.diff(journal.trace()["criterion"]) > -1e-6).all()
    for j in range(len(active)):
        rest = np.delete(active, j), np.delete(precisions, j)
        assert dense_score(phi, labels, *rest) <= reached
        assert best_addition(phi, labels, *rest, active[j]) <= reached + tol
    for m in np.setdiff1d(np.arange(45), active):
        # the gains by which it ended hold B, which moves a little with every addition
        assert best_addition(phi, labels, active, precisions, m) <= reached + 5.0 * tol


def test_pools_end_where_no_candidate_of_all_helps():
    evaluation, labels = moons(1500)
    journal = Journal()
    ((model, outcome),) = SparseLaplace().run(evaluation, [Laplace.empty(labels, fit_intercept=True)], [journal])
    gains = np.delete(scan(evaluation, [model])[0].gains(), model.indices)
    assert outcome.name == "CONVERGED"
    assert gains.max() <= journal.limits.tol
    assert len(model) < 20


def test_classes_together_end_as_each_alone():
    evaluation, labels = moons(200)
    other = Labels((np.arange(200) % 3 == 0).astype(float), np.ones(200))
    starts = [Laplace.empty(each, fit_intercept=True) for each in (labels, other)]
    together = SparseLaplace().run(evaluation, starts, [Journal(), Journal()])
    for start, (model, _) in zip(starts, together, strict=True):
        ((alone, _),) = SparseLaplace().run(evaluation, [start], [Journal()])
        np.testing.assert_array_equal(np.sort(alone.indices), np.sort(model.indices))
        assert alone.score == pytest.approx(model.score, abs=1e-6)


def test_em_ends_at_its_fixed_point():
    evaluation, labels = moons(120)
    model, limit = run_em(evaluation, labels, Journal(Budget(tol=1e-7)), fit_intercept=True)
    assert limit is None
    alpha, weights = model.precisions[1:], model.weights[1:]
    spread = np.linalg.inv(model.factor @ model.factor.T).diagonal()[1:]
    determined = 1.0 - alpha * spread
    kept = determined > 0.01  # the others are still on their way out
    np.testing.assert_allclose((alpha * weights**2)[kept], (determined + 2.0 * model.penalties)[kept], rtol=2e-2)
    assert kept.any()


def test_centred_candidates_are_those_less_their_means(rng):
    X = rng.normal(size=(700, 2))
    X[:, 1] = 3.0
    weights = rng.uniform(0.5, 2.0, 700)
    for evaluation in (KernelBasis().fit(X).on(X), ColumnsEvaluation(X)):
        whole = evaluation.columns(np.arange(evaluation.n_candidates))
        phi = whole - weights @ whole / weights.sum()
        about, means = centred(evaluation, weights)
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
