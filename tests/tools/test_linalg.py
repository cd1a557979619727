import numpy as np
import pytest

from skarce._linalg import (
    LARGE,
    GrowingCholesky,
    NotPositiveDefiniteError,
    add_square,
    cholesky,
    cholesky_of_nearly_singular,
    inverse_of_lower,
    lower_product,
    solve_lower,
    squared_lower,
    symmetric_inverse,
    symmetric_product,
)


def spd(rng, n):
    half = rng.normal(size=(2 * n, n))
    return half.T @ half + 0.1 * np.eye(n)


@pytest.mark.parametrize("n", [0, 1, 7, 64, 65, 150, 300])
def test_inverse_by_halves_inverts(rng, n):
    lower = np.linalg.cholesky(spd(rng, n)) if n else np.empty((0, 0))
    np.testing.assert_allclose(inverse_of_lower(lower) @ lower, np.eye(n), atol=1e-9)


def test_factor_follows_a_matrix_through_any_changes(rng):
    matrix, factor = np.empty((0, 0)), GrowingCholesky()
    for _ in range(300):
        n, move = len(matrix), rng.integers(3)
        if move == 0 or n == 0:
            larger = spd(rng, n + 1)
            larger[:n, :n] = matrix
            larger[n, :n] = larger[:n, n] = 0.1 * rng.normal(size=n)
            factor.append(larger[:n, n], larger[n, n])
            matrix = larger
        elif move == 1:
            position = rng.integers(n)
            factor.remove(position)
            matrix = np.delete(np.delete(matrix, position, 0), position, 1)
        else:
            position, amount = rng.integers(n), rng.uniform(0.0, 3.0)
            factor.shift(position, amount)
            matrix[position, position] += amount
        np.testing.assert_allclose(factor.lower @ factor.lower.T, matrix, atol=1e-9)
        assert np.allclose(factor.lower, np.tril(factor.lower))
        right = rng.normal(size=len(matrix))
        np.testing.assert_allclose(matrix @ factor.solve(right), right, atol=1e-8)


def test_dependent_columns_are_refused_not_factored(rng):
    with pytest.raises(NotPositiveDefiniteError):
        cholesky(np.ones((2, 2)) - 1e-3 * np.eye(2))
    factor = GrowingCholesky()
    factor.append(np.array([]), 1.0)
    with pytest.raises(NotPositiveDefiniteError):
        factor.append(np.array([1.0]), 1.0)


@pytest.mark.parametrize("error", [1e-9, 1e-7, 1e-3, 0.1])
def test_a_matrix_that_rounding_has_made_indefinite_always_has_a_factor(rng, error):
    """Kernels in single precision, and centered sums of rows far from zero, have large errors."""
    lengths = 10.0 ** rng.uniform(-8, 8, 40)
    noise = rng.uniform(-error, error, (40, 40))
    matrix = (np.ones((40, 40)) + noise + noise.T) * np.multiply.outer(lengths, lengths)
    lower = cholesky_of_nearly_singular(matrix.copy())
    difference = (lower @ lower.T - matrix) / np.multiply.outer(lengths, lengths)
    assert np.abs(difference).max() < 3000.0 * error


def test_lower_product(rng):
    lower, right = np.tril(rng.normal(size=(20, 20))), rng.normal(size=(20, 50))
    out = np.full((40, 50), np.nan)[:20]
    lower_product(lower, right, out)
    np.testing.assert_allclose(out, lower @ right)
    lower_product(lower, right, out, transposed=True)
    np.testing.assert_allclose(out, lower.T @ right)


@pytest.mark.parametrize("size", [0, 1, LARGE, LARGE + 1])
def test_squares_of_triangular_matrices_are_symmetric_whatever_their_size(rng, size):
    lower = np.tril(rng.normal(size=(size, size)))
    square = squared_lower(lower)
    np.testing.assert_allclose(square, lower.T @ lower, atol=1e-10)
    np.testing.assert_array_equal(square, square.T)
    symmetric, diagonal = lower + lower.T, rng.uniform(size=size)
    np.testing.assert_allclose(symmetric_product(symmetric, diagonal), symmetric @ np.diag(diagonal) @ symmetric, atol=1e-10)
    out = np.empty((size, 3))
    right = rng.normal(size=(size, 3))
    lower_product(lower, right, out, transposed=True)
    np.testing.assert_allclose(out, lower.T @ right, atol=1e-10)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_the_square_of_a_vector_is_added_in_place(rng, size):
    matrix, vector = spd(rng, size) if size else np.empty((0, 0)), rng.normal(size=size)
    before = matrix.copy()
    add_square(matrix, -0.3, vector)
    np.testing.assert_allclose(matrix, before - 0.3 * np.outer(vector, vector), rtol=1e-12)


def test_solves_and_inverse(rng):
    matrix = spd(rng, 9)
    lower, right = cholesky(matrix), rng.normal(size=9)
    np.testing.assert_allclose(lower @ solve_lower(lower, right), right)
    np.testing.assert_allclose(lower.T @ solve_lower(lower, right, transposed=True), right)
    np.testing.assert_allclose(symmetric_inverse(lower) @ matrix, np.eye(9), atol=1e-10)
