"""Kernel dimension reduction: the contrast against dense matrices, gradients by finite differences, and minima on the manifold."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import special_ortho_group

from skarce.methods.dimension_reduction import (
    Plan,
    choose_n_components,
    enough_components,
    label_features,
    number_features,
    reduce_inputs,
)
from skarce.methods.dimension_reduction.contrast import Contrast, gaussian
from skarce.methods.dimension_reduction.reduction import draw_landmarks
from skarce.methods.dimension_reduction.subspaces import chart, minimize_over_subspaces, slope_at

PLAN = Plan(1, 0.5, (4.0, 2.0), 1e-3, 3, 100, 1e-4, 200)


def orthonormal(rng, d, K):
    return np.linalg.qr(rng.normal(size=(d, K)))[0]


def problem(rng, n=50, d=4):
    X = rng.normal(size=(n, d))
    y = X[:, :1] ** 2 + 0.1 * rng.normal(size=(n, 1))
    return X, number_features((y - y.mean()) / y.std(), np.arange(n), 1.0)


def centered(kernel):
    H = np.eye(len(kernel)) - 1.0 / len(kernel)
    return H @ kernel @ H


def test_with_all_rows_the_contrast_is_the_trace_of_the_paper(rng):
    (X, Y), B, ridge, width = problem(rng), orthonormal(rng, 4, 2), 1e-3, 1.2
    n, Z = len(X), X @ B
    inverse = np.linalg.inv(centered(gaussian(Z, Z, width)) + n * ridge * np.eye(n))
    expected = np.trace(Y @ Y.T @ inverse) * n * ridge / np.trace(Y @ Y.T)
    found, _ = Contrast(X, Y, np.arange(n), ridge)(B, width)
    assert found == pytest.approx(expected, rel=1e-5)  # up to what is added to the diagonal of the kernel


def test_with_landmarks_the_kernel_is_nystroems(rng):
    (X, Y), B, ridge, width = problem(rng), orthonormal(rng, 4, 2), 1e-2, 1.2
    n, Z, landmarks = len(X), X @ B, np.arange(0, 50, 4)
    across, among = gaussian(Z, Z[landmarks], width), gaussian(Z[landmarks], Z[landmarks], width)
    low_rank = centered(across @ np.linalg.inv(among) @ across.T)
    expected = np.trace(Y.T @ np.linalg.inv(low_rank + n * ridge * np.eye(n)) @ Y) * n * ridge / np.sum(Y**2)
    assert Contrast(X, Y, landmarks, ridge)(B, width)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n_landmarks", [50, 12])
@pytest.mark.parametrize("K", [1, 3])
def test_the_gradient_is_that_of_finite_differences(n_landmarks, K, rng):
    X, Y = problem(rng)
    contrast = Contrast(X, Y, draw_landmarks(50, n_landmarks, np.random.RandomState(0)), 1e-2)
    B = orthonormal(rng, 4, K)
    _, slope = contrast(B, 1.2)
    step = 1e-5 * np.eye(4 * K).reshape(-1, 4, K)
    numeric = [(contrast(B + one, 1.2)[0] - contrast(B - one, 1.2)[0]) / 2e-5 for one in step]
    np.testing.assert_allclose(slope.ravel(), numeric, atol=1e-6)


def test_only_the_subspace_matters(rng):
    X, Y = problem(rng)
    contrast, B = Contrast(X, Y, np.arange(50), 1e-2), orthonormal(rng, 4, 2)
    turned = B @ special_ortho_group.rvs(2, random_state=0)
    assert contrast(turned, 1.0)[0] == pytest.approx(contrast(B, 1.0)[0], rel=1e-9)
    slope = contrast(B, 1.0)[1]
    np.testing.assert_allclose(B.T @ slope - slope.T @ B, 0.0, atol=1e-9)  # no slope along rotations


def test_the_gradient_in_a_chart_is_that_of_finite_differences(rng):
    (X, Y), B = problem(rng), orthonormal(rng, 4, 2)
    contrast = Contrast(X, Y, np.arange(50), 1e-2)
    score = chart(lambda basis: contrast(basis, 1.2), B)
    step = rng.normal(size=4)
    np.testing.assert_allclose(score(step)[1], approx_fprime(step, lambda at: score(at)[0], 1e-7), atol=1e-5)


@pytest.mark.parametrize("K", [1, 2, 4])
def test_the_minimum_over_subspaces_of_a_quadratic_form(K, rng):
    """tr(B'AB) is least in the span of the eigenvectors with the smallest eigenvalues."""
    root = rng.normal(size=(6, 6))
    A = root @ root.T
    values, vectors = np.linalg.eigh(A)
    found = minimize_over_subspaces(
        lambda B: (float(np.trace(B.T @ A @ B)), 2.0 * A @ B), orthonormal(rng, 6, K), tol=1e-7, max_iter=1000
    )
    assert found.score == pytest.approx(values[:K].sum())
    np.testing.assert_allclose(found.basis @ found.basis.T, vectors[:, :K] @ vectors[:, :K].T, atol=1e-5)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(K), atol=1e-12)


def test_steps_are_limited(rng):
    A = np.diag(np.arange(1.0, 8.0))
    score = lambda B: (float(np.trace(B.T @ A @ B)), 2.0 * A @ B)  # noqa: E731
    found = minimize_over_subspaces(score, orthonormal(rng, 7, 2), tol=1e-12, max_iter=3)
    assert found.n_iter == 3
    assert found.slope > 1e-12


def test_features_of_numbers_have_the_kernel_as_their_products(rng):
    y = rng.normal(size=(40, 1))
    Y = number_features(y, np.arange(40), 1.0)
    np.testing.assert_allclose(Y @ Y.T, centered(gaussian(y, y, 1.0)), atol=1e-4)
    assert Y.shape[1] < 12


def test_features_of_labels_tell_classes_apart(rng):
    labels = rng.choice(["a", "b", "c"], (30, 1))
    Y = label_features(labels)
    np.testing.assert_allclose(Y @ Y.T, centered((labels == labels.T).astype(float)), atol=1e-12)
    assert Y.shape[1] == 2


def test_no_small_turn_lowers_the_contrast_at_the_end(rng):
    X, Y = problem(rng, n=80)
    found = reduce_inputs(X, Y, PLAN.with_components(2), np.random.RandomState(0))
    assert found.is_converged
    contrast = Contrast(X, Y, np.arange(80), PLAN.ridge)
    value, slope = slope_at(lambda B: contrast(B, PLAN.final_width * np.sqrt(2.0)), found.directions)
    assert value == pytest.approx(found.contrast)
    assert slope <= PLAN.tol
    assert found.contrast == found.start_contrasts.min()
    for _ in range(20):
        turned = np.linalg.qr(found.directions + 0.05 * rng.normal(size=(4, 2)))[0]
        assert contrast(turned, PLAN.final_width * np.sqrt(2.0))[0] > found.contrast


@pytest.mark.parametrize("n", [90, 400])  # exact kernels, and landmarks
def test_the_directions_of_curved_functions_are_found(n, rng):
    X = rng.normal(size=(n, 6))
    y = np.sin(2.0 * X[:, :1]) + X[:, 1:2] ** 2 + 0.1 * rng.normal(size=(n, 1))
    Y = number_features((y - y.mean()) / y.std(), np.arange(n)[:100], 1.0)
    errors = choose_n_components(X, Y, PLAN, 5, np.random.RandomState(0))
    assert enough_components(errors) == 2
    assert list(errors) == [1, 2, 3]
    found = reduce_inputs(X, Y, PLAN.with_components(2), np.random.RandomState(0))
    truth = np.eye(6)[:, :2]
    assert np.linalg.norm(found.directions @ found.directions.T - truth @ truth.T) < 0.25


def test_one_more_direction_must_pay():
    assert enough_components({1: 1.0, 2: 0.5, 3: 0.495}) == 2
    assert enough_components({1: 1.0, 2: 1.1}) == 1
    assert enough_components({1: 1.0, 2: 0.5}) == 2


def test_the_direction_of_a_changing_noise_is_found(rng):
    """The mean does not depend on the inputs at all."""
    X = rng.normal(size=(500, 5))
    y = (0.5 * X[:, :1] ** 2) * rng.normal(size=(500, 1))
    Y = number_features((y - y.mean()) / y.std(), np.arange(100), 1.0)
    found = reduce_inputs(X, Y, PLAN, np.random.RandomState(0))
    assert abs(found.directions[0, 0]) > 0.95


def test_as_many_directions_as_inputs(rng):
    X, Y = problem(rng, d=2)
    found = reduce_inputs(X, Y, PLAN.with_components(2), np.random.RandomState(0))
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-12)
    assert found.is_converged


def test_left_out_errors_are_those_of_a_kernel_regression(rng):
    (X, Y), B, ridge, width = problem(rng), orthonormal(rng, 4, 2), 1e-2, 1.2
    kept, new = slice(0, 30), slice(30, 50)
    center = Y[kept].mean(axis=0)
    Z = X @ B
    kernel = gaussian(Z[kept], Z[kept], width)
    dual = np.linalg.solve(centered(kernel) + 30 * ridge * np.eye(30), Y[kept] - center)
    across = gaussian(Z[new], Z[kept], width)
    H = np.eye(30) - 1.0 / 30
    expected = np.mean(np.sum((Y[new] - center - (across - kernel.mean(axis=0)) @ H @ dual) ** 2, axis=1))
    found = Contrast(X[kept], Y[kept] - center, np.arange(30), ridge).left_out_share(B, width, X[new], Y[new] - center)
    assert found == pytest.approx(expected, rel=1e-4)
