"""The evidence of widths and its gradients against dense formulas."""

import itertools

import numpy as np
import pytest

from skarce import KernelBasis
from skarce.model_selection.flatness_prior import LEAST, FlatnessPrior
from skarce.model_selection.kernel_slopes import NAMES, KernelSlopes
from skarce.model_selection.width_evidence import WeightedTargets, WidthEvidence
from tests.oracles import contrasts, log_density, rbf

WIDTHS = np.array([0.3, 0.7, 0.1])

RATIO = 5.0


def small_problem(n_centers, n_outputs, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    C = X if n_centers == len(X) else rng.normal(size=(n_centers, 3))
    T = np.sin(X[:, :1] * np.array([1.0, 2.0])[:n_outputs]) + 0.3 * rng.normal(size=(20, n_outputs)) + 1.0
    return X, C, T, rng.integers(1, 4, 20).astype(float) if weighted else None


def dense_log_evidence(signal, t, ridge, noise, intercept):
    """log N(t | 0, noise (I + signal / ridge)), or of the contrasts of t."""
    covariance = noise * (np.eye(len(t)) + signal / ridge)
    if not intercept:
        return log_density(t, covariance)
    basis = contrasts(len(t))
    return log_density(basis.T @ t, basis.T @ covariance @ basis)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_evidence_is_that_of_the_dense_formula(name, weighted, intercept, covariance):
    for n_centers, n_outputs in itertools.product([20, 12, 33], [1, 2]):
        if covariance == "kernel" and n_centers != 20:
            continue
        X, C, T, weights = small_problem(n_centers, n_outputs, weighted)
        targets = WeightedTargets.of(T, weights, fit_intercept=intercept)
        seen = WidthEvidence(KernelSlopes(name, X, C), targets, covariance).at(WIDTHS, RATIO)
        counts = np.ones(20, dtype=int) if weights is None else weights.astype(int)
        phi = KernelBasis(name, gamma=WIDTHS, centers=C).fit(X).transform(X)
        if covariance == "kernel":
            phi = np.repeat(np.repeat(phi, counts, axis=0), counts, axis=1)
            signal = phi
        else:
            signal = np.repeat(phi, counts, axis=0) @ np.repeat(phi, counts, axis=0).T
        rows = np.repeat(T, counts, axis=0)
        expected = sum(
            dense_log_evidence(signal, t, seen.ridge, noise, intercept)
            for t, noise in zip(rows.T, seen.noise_variances, strict=True)
        )
        np.testing.assert_allclose(seen.log_evidence, expected, rtol=1e-10)
        left = contrasts(len(rows)).T if intercept else np.eye(len(rows))
        n = len(left)
        np.testing.assert_allclose(np.trace(left @ signal @ left.T) / (n * seen.ridge), RATIO, rtol=1e-10)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", [0.0, 1.5])
def test_gradients_agree_with_differences(name, weighted, intercept, covariance, prior):
    step = 1e-5
    for n_centers, n_outputs in itertools.product([20, 12, 33], [1, 2]):
        if covariance == "kernel" and n_centers != 20:
            continue
        X, C, T, weights = small_problem(n_centers, n_outputs, weighted)
        targets = WeightedTargets.of(T, weights, fit_intercept=intercept)
        evidence = WidthEvidence(KernelSlopes(name, X, C), targets, covariance, noise_prior=prior)
        seen = evidence.at(WIDTHS, RATIO)
        assert seen.posterior == pytest.approx(seen.log_evidence + prior * np.log(seen.noise_variances).sum())
        for p in range(3):
            factors = np.exp(step * np.eye(3)[p])
            difference = evidence.at(WIDTHS * factors, RATIO).posterior - evidence.at(WIDTHS / factors, RATIO).posterior
            assert seen.by_widths[p] == pytest.approx(difference / (2 * step), rel=1e-6, abs=1e-6)
        difference = evidence.at(WIDTHS, RATIO * np.exp(step)).posterior - evidence.at(WIDTHS, RATIO * np.exp(-step)).posterior
        assert seen.by_ratio == pytest.approx(difference / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n_centers", "n_outputs"), [(20, 1), (12, 2), (33, 2)])
def test_evidence_and_gradients_under_a_given_prior_of_the_weights(weighted, intercept, n_centers, n_outputs):
    X, C, T, weights = small_problem(n_centers, n_outputs, weighted)
    given = np.array([0.7, 0.02])[:n_outputs]
    targets = WeightedTargets.of(T, weights, fit_intercept=intercept)
    evidence = WidthEvidence(KernelSlopes("rbf", X, C), targets, "weights", given, noise_prior=3.0)  # has no effect here
    seen, step = evidence.at(WIDTHS, RATIO), 1e-5
    np.testing.assert_allclose(seen.noise_variances, seen.ridge * given)
    counts = np.ones(20, dtype=int) if weights is None else weights.astype(int)
    phi = np.repeat(rbf(X * np.sqrt(WIDTHS), C * np.sqrt(WIDTHS), 1.0), counts, axis=0)
    rows = np.repeat(T, counts, axis=0)
    expected = sum(
        dense_log_evidence(phi @ phi.T, t, seen.ridge, seen.ridge * v, intercept) for t, v in zip(rows.T, given, strict=True)
    )
    np.testing.assert_allclose(seen.log_evidence, expected, rtol=1e-10)
    for p in range(3):
        factors = np.exp(step * np.eye(3)[p])
        difference = evidence.at(WIDTHS * factors, RATIO).log_evidence - evidence.at(WIDTHS / factors, RATIO).log_evidence
        assert seen.by_widths[p] == pytest.approx(difference / (2 * step), rel=1e-5, abs=1e-5)
    ups = [evidence.at(WIDTHS, RATIO * np.exp(sign * step)).log_evidence for sign in (1, -1)]
    assert seen.by_ratio == pytest.approx((ups[0] - ups[1]) / (2 * step), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_evidence_and_gradients_with_the_noise_held(weighted, intercept, covariance):
    for n_centers in (20, 12, 33) if covariance == "weights" else (20,):
        X, C, T, weights = small_problem(n_centers, 2, weighted)
        targets = WeightedTargets.of(T, weights, fit_intercept=intercept)
        priors = [FlatnessPrior.of(3.0, len(X), weights)]
        kernel = KernelSlopes("rbf", X, C)
        evidence = WidthEvidence(kernel, targets, covariance, noise_prior=3.0, priors=priors, noise_variance=0.4)
        seen, step = evidence.at(WIDTHS, RATIO), 1e-5
        np.testing.assert_array_equal(seen.noise_variances, 0.4)
        counts = np.ones(20, dtype=int) if weights is None else weights.astype(int)
        kernels = rbf(X * np.sqrt(WIDTHS), C * np.sqrt(WIDTHS), 1.0)
        phi, rows = np.repeat(kernels, counts, axis=0), np.repeat(T, counts, axis=0)
        signal = phi @ phi.T if covariance == "weights" else np.repeat(phi, counts, axis=1)
        expected = sum(dense_log_evidence(signal, t, seen.ridge, 0.4, intercept) for t in rows.T)
        np.testing.assert_allclose(seen.log_evidence, expected, rtol=1e-10)
        assert seen.posterior == pytest.approx(expected + 3.0 * np.log(1.0 - phi.mean()))  # the prior of the noise has no effect
        for p in range(3):
            factors = np.exp(step * np.eye(3)[p])
            difference = evidence.at(WIDTHS * factors, RATIO).posterior - evidence.at(WIDTHS / factors, RATIO).posterior
            assert seen.by_widths[p] == pytest.approx(difference / (2 * step), rel=1e-5, abs=1e-5)
        ups = [evidence.at(WIDTHS, RATIO * np.exp(sign * step)).posterior for sign in (1, -1)]
        assert seen.by_ratio == pytest.approx((ups[0] - ups[1]) / (2 * step), rel=1e-5, abs=1e-5)


def test_kernels_that_are_the_same_everywhere_are_excluded():
    prior = FlatnessPrior.of(2.0, 5, None)
    assert prior.at(np.ones((5, 5)))[0] == 2.0 * np.log(LEAST)
    assert prior.at(np.eye(5))[0] == pytest.approx(2.0 * np.log(0.8))
