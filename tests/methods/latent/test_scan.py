"""What candidates would do."""

import numpy as np
import pytest

from skarce.basis.candidates import ColumnsEvaluation
from skarce.likelihoods import Bernoulli, Observations
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.scan import scan
from tests.methods.latent.problems import ACTIVE, PRECISIONS, dense_score, model_of, moons, problem
from tests.oracles import log_density


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
        precision = found.precisions(np.array([m]))[0]
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
