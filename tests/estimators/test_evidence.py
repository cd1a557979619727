"""All candidates with one precision."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from skarce import EvidenceRegressor, KernelBasis, Outcome
from skarce.designs import RowBlocks
from skarce.moments.directions import Directions
from tests.oracles import log_evidence, profiled_log_evidence, rbf


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_optimum_is_that_of_the_dense_evidence(seed, intercept):
    phi = np.random.default_rng(seed).normal(size=(30, 12))
    t = phi[:, :4] @ [2.0, -1.0, 0.5, 3.0] + np.random.default_rng(100 + seed).normal(size=30) + 1.0
    model = EvidenceRegressor("passthrough", fit_intercept=intercept).fit(phi, t)
    ridge = model.weight_precision_[0] * model.noise_variance_
    np.testing.assert_array_equal(model.active_, np.arange(12))
    assert np.ptp(model.weight_precision_) == 0.0

    def dense(log_ridge):
        return -profiled_log_evidence(phi, t, np.full(12, np.exp(log_ridge)), intercept=intercept)

    best = minimize_scalar(dense, bracket=(np.log(ridge) - 1.0, np.log(ridge) + 1.0), tol=1e-10)
    np.testing.assert_allclose(model.criterion_, -best.fun, rtol=1e-9)
    np.testing.assert_allclose(np.log(ridge), best.x, atol=1e-4)
    expected = log_evidence(phi, t, model.weight_precision_, model.noise_variance_, intercept=intercept)
    np.testing.assert_allclose(model.criterion_, expected, rtol=1e-9)
    np.testing.assert_allclose(model.trace_["criterion"][-1], model.criterion_, rtol=1e-8)
    assert model.outcome_ is Outcome.CONVERGED


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("variance", [1e-3, 1.0, 50.0])
def test_given_weight_variance_is_kept_and_the_noise_is_best(sinc, intercept, variance):
    X, y = sinc
    model = EvidenceRegressor(KernelBasis(gamma=0.3), weight_variance=variance, fit_intercept=intercept).fit(X, 3.0 * y)
    phi = rbf(X, X, 0.3)
    np.testing.assert_allclose(model.weight_precision_, 1.0 / variance, rtol=1e-10)

    def dense(noise):
        return log_evidence(phi, 3.0 * y, model.weight_precision_, noise, intercept=intercept)

    np.testing.assert_allclose(model.criterion_, dense(model.noise_variance_), rtol=1e-8)
    for factor in (0.99, 1.01):
        assert dense(model.noise_variance_ * factor) < model.criterion_
    learned = EvidenceRegressor(KernelBasis(gamma=0.3), fit_intercept=intercept).fit(X, 3.0 * y)
    assert learned.criterion_ > model.criterion_
    same = EvidenceRegressor(
        KernelBasis(gamma=0.3), weight_variance=1.0 / learned.weight_precision_[0], fit_intercept=intercept
    ).fit(X, 3.0 * y)
    assert same.criterion_ == pytest.approx(learned.criterion_, rel=1e-8)
    assert same.noise_variance_ == pytest.approx(learned.noise_variance_, rel=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
def test_predictions_are_those_of_the_gaussian_process(sinc, intercept):
    X, y = sinc
    model = EvidenceRegressor(KernelBasis(gamma=0.3), fit_intercept=intercept, calibrate_std=False).fit(X, y)
    new = np.array([[0.3], [4.0], [30.0]])
    phi, query = rbf(X, X, 0.3), rbf(new, X, 0.3)
    # The constant under a (nearly) flat prior, in the space of the rows.
    flat = 1e4 * intercept
    alpha, noise = model.weight_precision_[0], model.noise_variance_
    covariance = phi @ phi.T / alpha + flat + noise * np.eye(120)
    cross = query @ phi.T / alpha + flat
    own = np.einsum("ij,ij->i", query, query) / alpha + flat
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(covariance, y), atol=1e-5)
    expected = own + noise - np.einsum("ij,ij->i", cross, np.linalg.solve(covariance, cross.T).T)
    np.testing.assert_allclose(std, np.sqrt(expected), rtol=1e-4)


def test_augmented_std_grows_away_from_the_data(sinc):
    X, y = sinc
    model = EvidenceRegressor(KernelBasis(gamma=0.3)).fit(X, y)
    plain, augmented = (model.predict([[0.0], [40.0]], return_std=True, std=kind)[1] for kind in ("plain", "augmented"))
    assert augmented[0] == pytest.approx(plain[0], rel=0.05)
    assert augmented[1] > 1.5 * plain[1]


def test_outputs_share_one_decomposition_and_have_their_own_precision(rng, monkeypatch):
    X = rng.uniform(-4, 4, (80, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 100 * np.cos(X[:, 1])]) + rng.normal(0, [0.1, 10.0], (80, 2))
    single = [EvidenceRegressor("rbf", calibrate_std=False).fit(X, Y[:, k]) for k in range(2)]
    calls, decompose = [], Directions.of
    monkeypatch.setattr(Directions, "of", lambda matrix: calls.append(1) or decompose(matrix))
    model = EvidenceRegressor("rbf", calibrate_std=False).fit(X, Y)
    assert len(calls) == 1
    mean, std = model.predict(X[:9], return_std=True)
    for k in range(2):
        expected = single[k].predict(X[:9], return_std=True)
        np.testing.assert_allclose(mean[:, k], expected[0], rtol=1e-6)
        np.testing.assert_allclose(std[:, k], expected[1], rtol=1e-6)
    assert model.criterion_ == pytest.approx(sum(s.criterion_ for s in single))


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_weight_two_is_the_row_twice(rng, moments):
    X = rng.uniform(-4, 4, (70, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 70)
    # Many rows repeated with their noise would speak for no noise at all, and then rounding decides.
    weights = rng.choice([0, 1, 1, 1, 1, 1, 1, 2], 70)
    model = EvidenceRegressor(KernelBasis(gamma=0.5), moments=moments)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-8)
    np.testing.assert_allclose(weighted.predict(X, return_std=True), repeated.predict(X, return_std=True), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("factor", [1e7, 1e-7, 1e150, 1e-150])
def test_units_of_the_target_do_not_matter(sinc, factor):
    X, y = sinc
    model, scaled = EvidenceRegressor("rbf").fit(X, y), EvidenceRegressor("rbf").fit(X, y * factor)
    np.testing.assert_allclose(scaled.predict(X) / factor, model.predict(X), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(scaled.noise_variance_) / factor, np.sqrt(model.noise_variance_), rtol=1e-6)


def test_row_blocks_give_the_model_of_the_rows(rng):
    X = rng.uniform(-4, 4, (3000, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 3000)
    basis = KernelBasis(gamma=0.5, centers=X[:40])
    streamed = EvidenceRegressor(basis).fit(RowBlocks.from_arrays(X, y, block_rows=501))
    at_once = EvidenceRegressor(basis).fit(X, y)
    np.testing.assert_allclose(streamed.criterion_, at_once.criterion_, rtol=1e-9)
    np.testing.assert_allclose(streamed.predict(X[:50]), at_once.predict(X[:50]), rtol=1e-6, atol=1e-8)


def test_bounds_are_told_in_the_outcome(rng):
    X = rng.normal(size=(60, 1))
    exact = EvidenceRegressor("passthrough").fit(X, 2.0 * X[:, 0])
    assert exact.outcome_ is Outcome.NO_NOISE
    assert exact.coef_[0] == pytest.approx(2.0)
    nothing = EvidenceRegressor("passthrough").fit([[1.0], [-1.0], [1.0], [-1.0]], [1.0, 1.0, -1.0, -1.0])
    assert nothing.outcome_ is Outcome.NOTHING_HELPS
    assert len(nothing.active_) == 0
    given = EvidenceRegressor("passthrough", weight_variance=1.0).fit([[1.0], [-1.0], [1.0], [-1.0]], [1.0, 1.0, -1.0, -1.0])
    assert len(given.active_) == 1


def test_limits(sinc):
    X, y = sinc
    some = EvidenceRegressor("rbf", max_active=7).fit(X, y)
    assert len(some.active_) == 7
    assert some.outcome_ is Outcome.SIZE_LIMIT
    with pytest.warns(match="step limit"):
        assert EvidenceRegressor("rbf", max_iter=1).fit(X, y).outcome_ is Outcome.STEP_LIMIT
    with config_context(working_memory=0.2), pytest.raises(ValueError, match="all 120 candidates"):
        EvidenceRegressor("rbf", moments="columns").fit(X, y)
    for wrong in ("much", -1.0, 0.0, np.inf, True):
        with pytest.raises(ValueError, match="weight_variance must be"):
            EvidenceRegressor("rbf", weight_variance=wrong).fit(X, y)


def test_learned_widths_make_it_the_better_model():
    X_test, y_test = make_friedman1(1000, random_state=999)
    X, y = make_friedman1(240, noise=1.0, random_state=0)
    each, one = (EvidenceRegressor(KernelBasis(gamma=rule)).fit(X, y) for rule in ("ard", "evidence"))
    assert np.mean((each.predict(X_test) - y_test) ** 2) < 0.4
    assert each.criterion_ > one.criterion_ + 100
