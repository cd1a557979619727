"""Products with the inverse of a factorized matrix, and sums of outer products, beside their definitions."""

import numpy as np
import pytest

from skarce.model_selection.dense import PANEL, Factored, add_outer


@pytest.mark.parametrize("n_columns", [1, 7, PANEL, 2 * PANEL + 5])
@pytest.mark.parametrize("order", ["C", "F"])
def test_shrunk_is_the_product_with_the_inverse(n_columns, order):
    A = np.random.default_rng(0).normal(size=(300, n_columns)).copy(order)
    matrix = A.T @ A
    shrunk, freedom = Factored(matrix.copy(), 40.0).shrunk(A)
    inverse = np.linalg.inv(matrix + 40.0 * np.eye(n_columns))
    np.testing.assert_allclose(shrunk, A @ inverse, atol=1e-13)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert freedom == pytest.approx((eigenvalues / (eigenvalues + 40.0)).sum(), rel=1e-12)


def test_both_ways_to_the_degrees_of_freedom_agree():
    A = np.random.default_rng(1).normal(size=(60, 90))
    factors = Factored(A.T @ A, 0.3)
    assert factors.shrunk(A)[1] == pytest.approx(factors.freedom, rel=1e-10)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n_rows", "n_columns", "n_terms"), [(5, 3, 1), (4, 6, 3), (1, 1, 2), (0, 3, 1)])
def test_outer_products_are_added_in_place(order, n_rows, n_columns, n_terms):
    rng = np.random.default_rng(0)
    matrix, left, right = (rng.normal(size=size) for size in ((n_rows, n_columns), (n_rows, n_terms), (n_columns, n_terms)))
    expected, changed = matrix + left @ right.T, matrix.copy(order)
    add_outer(changed, left, right)
    np.testing.assert_allclose(changed, expected, atol=1e-14)
