"""The mode and the evidence at given precisions."""

import numpy as np
import pytest

from skarce.likelihoods import Observations
from skarce.methods.latent.functions import Functions, weighted_gram
from skarce.methods.latent.laplace import Laplace
from tests.methods.latent.problems import ACTIVE, PRECISIONS, SCALE, dense_score, model_of, problem
from tests.oracles import laplace_log_evidence, latent_mode


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
