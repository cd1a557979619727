"""The weights of a variational model, by columns and by rows."""

import numpy as np
import pytest

from skarce._linalg import RISES
from skarce.methods.variational_classes.solution import _by_columns, _by_rows, solved


def problem(seed, n, m):
    rng = np.random.default_rng(seed)
    curvature = rng.uniform(0.1, 2.0, n)
    curvature[0] = 0.0  # a row of weight zero
    halves = rng.choice([-0.5, 0.5], n) * (curvature > 0.0)
    return rng.normal(size=(n, m)), 10.0 ** rng.uniform(-2, 2, m), curvature, halves


@pytest.mark.parametrize("form", [_by_columns, _by_rows])
@pytest.mark.parametrize("shape", [(12, 5), (6, 30), (1, 3)])
def test_both_forms_are_the_dense_posterior(form, shape):
    design, alpha, curvature, halves = problem(0, *shape)
    precision = design.T @ (curvature[:, None] * design) + np.diag(alpha)
    covariance = np.linalg.inv(precision)
    found = form(design, alpha, curvature, halves, RISES)
    weights = covariance @ design.T @ halves
    np.testing.assert_allclose(found.weights, weights, atol=1e-12)
    np.testing.assert_allclose(found.spread, covariance.diagonal(), rtol=1e-8)
    np.testing.assert_allclose(found.row_variances, np.einsum("ij,jk,ik->i", design, covariance, design), rtol=1e-8)
    assert found.explained == pytest.approx(weights @ precision @ weights, abs=1e-12)
    assert found.log_ratio == pytest.approx(0.5 * np.log(alpha).sum() - 0.5 * np.linalg.slogdet(precision)[1])


def test_wide_problems_never_form_the_matrix_of_all_candidates():
    design, alpha, curvature, halves = problem(1, 5, 100_000)  # whose square would take 80 GB
    found = solved(design, alpha, curvature, halves, RISES)
    assert found.weights.shape == found.spread.shape == (100_000,)
    assert (found.row_variances >= 0.0).all()


def test_dependent_columns_with_huge_curvatures_have_an_answer():
    design, alpha, curvature, halves = problem(2, 30, 10)
    design[:, 5:] = design[:, :5]
    found = solved(design, 1e-6 * alpha, 1e14 * curvature, 1e14 * halves, RISES)
    assert all(np.isfinite(part).all() for part in found)
