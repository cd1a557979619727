"""Tiles of rows and near centers: nothing that counts is left out."""

import numpy as np
import pytest

from skarce.basis import KernelBasis, near_costs
from skarce.basis.candidates import project_near
from skarce.basis.kernels import DISTANCE_KERNELS, Decaying, make_kernel
from skarce.basis.near import TOLERANCE, NearTiles
from skarce.basis.splits import LEAST_ROWS, find_splits, parts_of

GAMMAS = {"rbf": 2000.0, "matern32": 2e4, "matern52": 1e4, "laplacian": 400.0}  # narrow kernels on inputs from 0 to 1
every_kernel = pytest.mark.parametrize("name", DISTANCE_KERNELS)


def evaluation_at(X, centers, name="rbf", gamma=None):
    gamma = GAMMAS[name] if gamma is None else gamma
    return KernelBasis(name, gamma=gamma, centers=centers).fit(X[:1]).on(X)


def tiles_of(evaluation):
    return NearTiles(evaluation._kernel, evaluation._rows, evaluation._centers)


def dense(evaluation):
    return evaluation.columns(np.arange(evaluation.n_candidates))


def left_out(evaluation, tiles):
    """Return where Phi is left out by the tiles."""
    out = np.ones((evaluation.n_rows, evaluation.n_candidates), dtype=bool)
    for rows, near in tiles:
        out[np.ix_(rows, near)] = False
    return out


def check_what_is_left_out(evaluation, *, least=0.0):
    """Check that kernels are left out only if they are too small to count, and at least a share of them."""
    tiles = tiles_of(evaluation).tiles
    phi, out = dense(evaluation), left_out(evaluation, tiles)
    most = np.where(out, phi, 0.0).max(axis=0)
    assert (most <= TOLERANCE / evaluation.n_rows * phi.max(axis=0)).all()
    assert out.mean() >= least
    rows = np.concatenate([rows for rows, _ in tiles]) if tiles else np.empty(0)
    assert len(np.unique(rows)) == len(rows)
    return phi, tiles


@every_kernel
def test_the_kernel_has_the_share_at_its_reach(name):
    kernel = make_kernel(name, 1.0, 3, 1.0, None, np.zeros(1))
    assert isinstance(kernel, Decaying)
    zero = kernel.prepare_rows(np.zeros((1, 1)))
    units = kernel.coordinates(kernel.prepare_rows(np.ones((1, 1))))[0, 0]  # of scaled inputs
    for share in (1e-10, 1e-18, 1e-30):
        out = np.empty((1, 1))
        kernel.fill(zero, kernel.prepare_centers(np.array([[kernel.reach(share) / units]])), out)
        assert out[0, 0] == pytest.approx(share, rel=1e-6)


@every_kernel
def test_kernels_fall_with_depth_at_least_as_products_of_kernels(name, rng):
    kernel = make_kernel(name, 1.0, 3, 1.0, None, np.zeros(1))

    def value(depth):  # the separation of a given depth by bisection of a difference in one input
        low, high = 0.0, 100.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if kernel.depth(kernel.separation(np.array(middle))) < depth else (low, middle)
        units = kernel.coordinates(kernel.prepare_rows(np.ones((1, 1))))[0, 0]
        out = np.empty((1, 1))
        kernel.fill(kernel.prepare_rows(np.zeros((1, 1))), kernel.prepare_centers(np.array([[low / units]])), out)
        return out[0, 0]

    for a, b in rng.uniform(0.0, 30.0, size=(20, 2)):
        assert value(a + b) <= value(a) * value(b) * (1 + 1e-9)


@every_kernel
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_only_what_is_too_small_is_left_out(name, d, dtype, rng):
    X = rng.uniform(size=(5000, d)).astype(dtype)
    check_what_is_left_out(evaluation_at(X, X[:200], name), least=0.3 if d < 3 else 0.05)


def test_one_width_for_each_input_and_inputs_that_do_not_matter(rng):
    X = rng.uniform(size=(5000, 3)) * [1.0, 1e6, 1e-3]
    check_what_is_left_out(evaluation_at(X, X[:200], gamma=[500.0, 0.0, 5e8]), least=0.5)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_clusters_far_from_the_origin(name, rng):
    X = np.concatenate([rng.normal(size=(2000, 2)) * 1e-3, 1e6 + rng.normal(size=(2000, 2)), 1e9 + rng.normal(size=(2000, 2))])
    check_what_is_left_out(evaluation_at(X, X[::40], name, gamma=1.0), least=0.6)


def test_an_outlier_does_not_spoil_the_tiles_of_the_others(rng):
    X = rng.uniform(size=(5000, 2))
    X[17] = 1e100
    check_what_is_left_out(evaluation_at(X, X[100:300]), least=0.5)


def test_centers_far_from_all_rows_keep_the_kernels_that_they_have(rng):
    X = rng.uniform(size=(5000, 1))
    centers = np.array([[0.5], [1.3], [1.5], [-0.6], [3.0]])  # kernels down to exp(-0.09 * 500), exp(-0.25 * 500), ...
    evaluation = evaluation_at(X, centers, gamma=500.0)
    phi, tiles = check_what_is_left_out(evaluation, least=0.3)
    assert phi[:, 2].max() < 1e-50
    _, squares = project_near(evaluation, tiles, np.ones((5000, 1)), np.ones(5000))
    np.testing.assert_allclose(squares, (phi**2).sum(axis=0), rtol=1e-11)


@pytest.mark.parametrize("X", [np.zeros((1, 2)), np.zeros((3000, 2)), np.repeat(np.arange(5.0), 1000)[:, None]])
def test_one_row_and_repeated_rows(X):
    evaluation = evaluation_at(X, np.unique(X, axis=0) + 0.01)
    phi, tiles = check_what_is_left_out(evaluation)
    product, _ = project_near(evaluation, tiles, np.ones((len(X), 1)), None)
    np.testing.assert_allclose(product[:, 0], phi.sum(axis=0), rtol=1e-12)


def test_most_rows_are_the_same(rng):
    X = np.ones((8000, 1))
    X[::10] = rng.uniform(size=(800, 1))
    check_what_is_left_out(evaluation_at(X, X[::40], gamma=5000.0), least=0.3)


@every_kernel
@pytest.mark.parametrize("weights", [None, "one", "two"])
@pytest.mark.parametrize("k", [1, 3, 120])
def test_projections_are_those_of_the_matrix(name, weights, k, rng):
    X, right = rng.uniform(size=(4000, 2)), np.asfortranarray(rng.normal(size=(4000, k)))
    counts = {None: None, "one": rng.uniform(size=4000), "two": rng.uniform(size=(4000, 2))}[weights]
    evaluation = evaluation_at(X, X[:150], name).without(np.array([3, 7]))
    phi = dense(evaluation)
    product, squares = project_near(evaluation, tiles_of(evaluation).tiles, right, counts)
    np.testing.assert_allclose(product, phi.T @ right, rtol=1e-10, atol=1e-12)
    expected = np.zeros(150) if counts is None else (phi**2).T @ counts
    assert squares.shape == expected.shape
    np.testing.assert_allclose(squares, expected, rtol=1e-11)


def test_projections_take_tiles_by_themselves_if_these_pay(rng, monkeypatch):
    X, right = rng.uniform(size=(20_000, 2)), rng.normal(size=(20_000, 1))
    evaluation = evaluation_at(X, X[:400], gamma=5000.0)
    plain = evaluation.project(right)[0]
    assert not evaluation._near.are_made  # a pass so short is not worth a look
    monkeypatch.setattr(near_costs, "LEAST", 0.0)
    monkeypatch.setattr(near_costs, "CALL", 0.0)
    with_tiles = evaluation.project(right)[0]
    assert evaluation._near.are_made
    np.testing.assert_allclose(with_tiles, plain, rtol=1e-12, atol=1e-11)
    wide = evaluation_at(X, X[:400], gamma=1.0)
    wide.project(right)
    assert not wide._near.are_made


def test_kernels_of_products_have_no_tiles(rng):
    X = rng.normal(size=(50, 2))
    assert evaluation_at(X, X[:5], "polynomial", gamma=1.0)._near is None
    assert evaluation_at(X, X[:5], lambda A, B: A @ B.T, gamma="scale")._near is None


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_forecast_is_near_what_comes(d, rng):
    X = rng.uniform(size=(60_000, d))
    near = tiles_of(evaluation_at(X, X[:300], gamma=800.0))
    forecast, shape = near.forecast, near.shape
    assert forecast.times * forecast.rows.sum() == pytest.approx(60_000, rel=0.1)
    assert forecast.times * (forecast.rows @ forecast.near) == pytest.approx(shape.rows @ shape.near, rel=0.25)


def test_parts_are_of_similar_size_and_narrow(rng):
    X = rng.normal(size=(50_000, 2))
    levels = find_splits(X[::8], len(X), side=0.05)
    counts = np.bincount(parts_of(X, levels))
    assert len(counts) == 2 ** len(levels)
    assert counts.min() > LEAST_ROWS / 2
    assert counts.max() < 5 * LEAST_ROWS
    assert not find_splits(X[::8], len(X), side=100.0)
