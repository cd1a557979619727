"""Whole sums of narrow kernels, tile by tile."""

import numpy as np
import pytest

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.basis import near_costs
from skarce.moments import Sums, block_sums, passes
from skarce.moments.near_sums import near_sums, tiles_for_sums

NAMES = ("n_samples", "candidate_means", "target_means", "gram", "projections", "target_energies")


@pytest.fixture
def eager(monkeypatch):
    """Let tiles pay for fewer rows than they do."""
    monkeypatch.setattr(near_costs, "LEAST", 0.0)
    monkeypatch.setattr(near_costs, "PAYS", np.inf)


def plain_sums(evaluation, targets, weights):
    sums = Sums.empty(evaluation.n_candidates, targets.shape[1])
    sums.absorb(evaluation.columns(np.arange(evaluation.n_candidates)), targets, weights)
    return sums


def check_same(sums, expected):
    """Check that all sums agree, relative to the norms of the columns."""
    scales = np.sqrt(expected.raw_squares)
    largest = np.sqrt(expected.target_energies)
    assert sums.n_samples == pytest.approx(expected.n_samples, rel=1e-14)
    np.testing.assert_allclose(sums.target_means, expected.target_means, rtol=1e-12)
    np.testing.assert_allclose(sums.target_energies, expected.target_energies, rtol=1e-12)
    means = np.abs(sums.candidate_means - expected.candidate_means) / (scales / np.sqrt(expected.n_samples))
    gram = np.abs(sums.gram - expected.gram) / np.multiply.outer(scales, scales)
    projections = np.abs(sums.projections - expected.projections) / np.multiply.outer(scales, largest)
    assert max(means.max(), gram.max(), projections.max()) < 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", [2000.0, 800.0]), ("matern52", 2e4), ("laplacian", 300.0)])
def test_sums_in_tiles_are_those_of_all_rows(kernel, gamma, dtype, weighted, rng, eager):
    X, targets = rng.uniform(size=(6000, 2)).astype(dtype), rng.normal([0.0, 1e3], size=(6000, 2))
    weights = rng.integers(0, 3, 6000).astype(float) if weighted else None
    evaluation = KernelBasis(kernel, gamma=gamma, centers=X[:150]).fit(X[:1]).on(X)
    tiles = tiles_for_sums(evaluation, weights)
    assert tiles is not None
    expected = plain_sums(evaluation, targets, weights)
    for workers in (1, 3):
        check_same(near_sums(evaluation, tiles, targets, weights, workers), expected)
    block = passes.Block(evaluation, targets, weights)
    twice = passes.absorbed(passes.absorbed(Sums.empty(150, 2), block), block)
    assert twice.n_samples == pytest.approx(2 * expected.n_samples)
    np.testing.assert_allclose(twice.gram, 2 * expected.gram, atol=1e-11 * expected.gram.max())


def test_candidates_that_hardly_vary_get_plain_sums(rng, eager):
    X = np.concatenate([rng.uniform(size=(6000, 1)), np.full((10, 1), 100.0)])
    centers = np.concatenate([[[0.5]], rng.uniform(50, 200, size=(200, 1))])
    evaluation = KernelBasis(gamma=1e-2, centers=centers).fit(X[:1]).on(X)
    assert evaluation.tiles_for_sums() is not None
    assert tiles_for_sums(evaluation, None) is None  # the first candidate is near 1 at nearly all rows


def test_rows_without_weight_get_plain_sums(rng, eager):
    X = rng.uniform(size=(3000, 1))
    evaluation = KernelBasis(gamma=1e4, centers=X[:50]).fit(X[:1]).on(X)
    assert tiles_for_sums(evaluation, np.zeros(3000)) is None
    assert tiles_for_sums(evaluation, np.ones(3000)) is not None


def test_wide_kernels_and_short_passes_have_no_tiles(rng, monkeypatch):
    X = rng.uniform(size=(20_000, 1))
    narrow, wide = (KernelBasis(gamma=gamma, centers=X[:200]).fit(X[:1]).on(X) for gamma in (1e5, 1.0))
    assert tiles_for_sums(narrow.at(np.arange(3000), np.arange(50)), None) is None  # it takes less than a look
    monkeypatch.setattr(near_costs, "LEAST", 0.0)
    assert tiles_for_sums(narrow, None) is not None
    assert tiles_for_sums(wide, None) is None
    assert not wide._near.are_made


def test_a_model_of_narrow_kernels_is_the_same_with_tiles(rng, monkeypatch):
    X = rng.uniform(size=(20_000, 1))
    y = np.sin(40 * X[:, 0]) + rng.normal(0, 0.1, 20_000)
    basis = KernelBasis(gamma=3000.0, centers=np.linspace(0, 1, 120)[:, None]).fit(X)
    plain = RelevanceVectorRegressor().fit_moments(basis, block_sums(basis, X, y))
    monkeypatch.setattr(near_costs, "LEAST", 0.0)
    monkeypatch.setattr(near_costs, "PAYS", np.inf)
    calls = []
    monkeypatch.setattr(passes, "near_sums", lambda *arguments: calls.append(1) or near_sums(*arguments))
    tiled = RelevanceVectorRegressor().fit_moments(basis, block_sums(basis, X, y))
    assert calls
    np.testing.assert_array_equal(tiled.active_, plain.active_)
    np.testing.assert_allclose(tiled.predict(X[:500]), plain.predict(X[:500]), atol=1e-9)
