"""Compiled Gaussian kernels against NumPy and against the definition."""

import numpy as np
import pytest

from skarce.basis import KernelBasis, _rbf, fused
from skarce.basis.kernels import Rbf
from skarce.basis.tiles import project_blocks, project_symmetric_blocks

pytestmark = pytest.mark.skipif(not _rbf.TILE, reason="the compiler has no vector types, so NumPy does this work")

SIZES = [1, 2, 3, 4, 5, 63, 256, 257, 700]


def squared_distances(X, C):
    return np.sum((X[:, None, :] - C[None, :, :]) ** 2, axis=2)


def prepared(X, C, gamma=0.7):
    kernel = Rbf(np.sqrt(gamma), X.mean(axis=0))
    return kernel.prepare_rows(X), kernel.prepare_centers(C)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", SIZES)
def test_blocks_of_every_shape_and_order(rng, n, m):
    X, C = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    expected = np.exp(-0.7 * squared_distances(X, C))
    for order in "CF":
        room = np.full((n + 2, m + 2), np.nan, order=order)
        fused.fill(*prepared(X, C), room[1:-1, 1:-1])
        np.testing.assert_allclose(room[1:-1, 1:-1], expected, rtol=1e-13)
        room[1:-1, 1:-1] = np.nan
        assert np.isnan(room).all()  # nothing was written beside the block


def test_as_exact_as_the_exponential_of_numpy(rng):
    u = np.concatenate([np.linspace(0.0, 26.0, 4001), 10.0 ** rng.uniform(-9, 1, size=1000)])
    out = np.empty((len(u), 1))
    fused.fill(np.column_stack([np.zeros_like(u), -(u**2), np.ones_like(u)]), np.array([[0.0, 1.0, 0.0]]), out)
    np.testing.assert_allclose(out[:, 0], np.exp(-(u**2)), rtol=2e-13)  # |x| up to 676, whose rounding is that of exp(x)
    near = u**2 < 1.0
    np.testing.assert_allclose(out[near, 0], np.exp(-(u[near] ** 2)), rtol=5e-16)


def test_one_at_the_center_nothing_far_away_and_nan_stays():
    rows = np.array([[0.0, 0.0, 1.0], [0.0, -1e9, 1.0], [0.0, -np.inf, 1.0], [0.0, 1e-9, 1.0], [0.0, np.nan, 1.0]])
    out = np.empty((5, 1))
    fused.fill(rows, np.array([[0.0, 1.0, 0.0]]), out)
    np.testing.assert_array_equal(out[:, 0], [1.0, 0.0, 0.0, 1.0, np.nan])


@pytest.mark.parametrize("n", [1, 3, 255, 256, 257, 1111])
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_are_those_of_the_matrix(rng, n, k, weighted):
    X, C, right = rng.normal(size=(n, 4)), rng.normal(size=(301, 4)), rng.normal(size=(n, k))
    weights = rng.uniform(0.0, 3.0, size=n) if weighted else None
    for centers, symmetric in ((C, False), (X, True)):
        phi = np.exp(-0.7 * squared_distances(X, centers))
        product, squares = fused.project(*prepared(X, centers), right, weights, symmetric=symmetric)
        np.testing.assert_allclose(product, phi.T @ right, rtol=1e-11, atol=1e-11)
        assert squares.shape == (len(centers),)
        np.testing.assert_allclose(squares, weights @ phi**2 if weighted else 0.0, rtol=1e-11)


@pytest.mark.parametrize("symmetric", [False, True])
def test_as_the_tiles_of_numpy(rng, symmetric):
    X, right, weights = rng.normal(size=(1300, 4)), rng.normal(size=(1300, 3)), rng.uniform(size=1300)
    rows, centers = prepared(X, X)

    def fill(some, columns, out):
        np.exp(rows[some] @ centers[columns].T, out=out)

    tiles = project_symmetric_blocks if symmetric else project_blocks
    expected = tiles(fill, 1300, right, weights, np.dtype(np.float64))
    for ours, theirs in zip(fused.project(rows, centers, right, weights, symmetric=symmetric), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_inputs", [1, fused.MAX_TERMS - 2, fused.MAX_TERMS - 1])
def test_wide_inputs_go_another_way_to_the_same_values(rng, n_inputs):
    X = rng.normal(size=(40, n_inputs))
    kernel = KernelBasis("rbf", gamma=1.0 / n_inputs).fit(X)
    assert fused.suits(*prepared(X, X)) == (n_inputs <= fused.MAX_TERMS - 2)
    np.testing.assert_allclose(kernel.transform(X), np.exp(-squared_distances(X, X) / n_inputs), rtol=1e-12)


@pytest.mark.parametrize("columns", [fused.MAX_COLUMNS, fused.MAX_COLUMNS + 1])
def test_many_columns_go_another_way_to_the_same_products(rng, columns):
    X, right = rng.normal(size=(50, 2)), rng.normal(size=(50, columns))
    product, _ = KernelBasis("rbf", gamma=0.5).fit(X).on(X).project(right)
    np.testing.assert_allclose(product, np.exp(-0.5 * squared_distances(X, X)).T @ right, rtol=1e-11, atol=1e-12)


def test_the_same_numbers_every_time(rng):
    X, right = rng.normal(size=(3000, 3)), rng.normal(size=(3000, 2))
    first, second = (fused.project(*prepared(X, X), right, None, symmetric=True)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_arrays_that_do_not_fit_are_refused(rng):
    rows, centers = np.ones((5, 4)), np.ones((3, 4))
    with pytest.raises(ValueError, match="do not fit"):
        _rbf.fill(rows, centers, np.empty((5, 4)))
    with pytest.raises(ValueError, match="do not fit"):
        _rbf.fill(rows, np.ones((3, 5)), np.empty((5, 3)))
    with pytest.raises(ValueError, match="doubles"):
        _rbf.fill(rows.astype(np.float32), centers, np.empty((5, 3)))
    with pytest.raises(ValueError, match="contiguous rows"):
        _rbf.fill(rows, centers, np.empty((3, 5)).T)
    good = [rows, centers, np.ones((2, 5)), np.ones((1, 5)), np.zeros((2, 3)), np.zeros((1, 3)), 0, 5, False]
    _rbf.project(*good)
    wrong_shapes = {2: np.ones((2, 4)), 3: np.ones((1, 4)), 4: np.zeros((1, 3)), 5: np.zeros((1, 5))}
    for place, wrong in {**wrong_shapes, 6: 5, 7: 6, 8: True}.items():
        with pytest.raises(ValueError, match="do not fit"):
            _rbf.project(*good[:place], wrong, *good[place + 1 :])
