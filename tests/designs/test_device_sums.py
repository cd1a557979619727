"""Sums of rows on a device: the whole Gram matrix, its columns by passes, and the memory that they take."""

import numpy as np
import pytest
import sklearn

from skarce import EvidenceRegressor, RelevanceVectorRegressor
from skarce.designs import DeviceRows
from skarce.designs.device import DeviceDesign
from skarce.moments.block_sums import block_sums
from tests.designs.test_device import N, basis, problem, separated
from tests.devices import LIBRARIES, Device, dispatched, needs_dispatch

pytestmark = needs_dispatch


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


@pytest.fixture
def dispatch(monkeypatch):
    with dispatched(monkeypatch):
        yield


def test_sums_of_a_design_are_those_of_numpy(device, dispatch):
    X, y, weights = problem(3000)
    design = DeviceDesign.of(device(X), device(y), device(weights), recipe_of(X))
    (moments,) = design.moments()
    expected = block_sums(basis().fit(X), X, y, weights).moments(about_mean=True)[0]
    scale = np.abs(expected.gram.diagonal).max()
    np.testing.assert_allclose(moments.gram.columns(np.arange(36)), expected.gram.columns(np.arange(36)), atol=1e-12 * scale)
    np.testing.assert_allclose(moments.projections, expected.projections, atol=1e-12 * np.abs(expected.projections).max())
    assert moments.target_energy == pytest.approx(expected.target_energy, rel=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_those_of_the_whole_matrix(device, dispatch, monkeypatch, fit_intercept, weighted):
    """One candidate is constant. Rows are read in blocks, and evaluated a few at a time."""
    monkeypatch.setattr("skarce._device.HOST_BYTES", 8 * 4 * 100)
    X, y, weights = problem()
    X = np.column_stack([X + 50.0, np.full(N, 3.0), X[:, 0] * X[:, 1]])
    parts = [slice(0, 150), slice(150, None)]
    given = (X, y, weights) if weighted else (X, y)
    rows = DeviceRows(lambda: [tuple(device(values[part]) for values in given) for part in parts])
    recipe = recipe_of(X)._replace(basis=None, fit_intercept=fit_intercept)
    by_column, whole = (DeviceDesign.of(rows, None, None, recipe).moments(kind)[0] for kind in ("columns", "whole"))
    assert not by_column.gram.is_whole
    some, others, every = np.array([3, 0]), np.array([2, 1, 0]), np.arange(4)
    expected = whole.gram.columns(every)
    scale = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(by_column.gram.block(some, others), expected[np.ix_(some, others)], atol=scale)
    np.testing.assert_allclose(by_column.gram.columns(some), expected[some], atol=scale)
    np.testing.assert_allclose(by_column.gram.diagonal, expected.diagonal(), atol=scale)
    np.testing.assert_allclose(by_column.projections, whole.projections, atol=1e-12 * np.abs(whole.projections).max())
    assert by_column.target_energy == pytest.approx(whole.target_energy, rel=1e-12)
    assert by_column.n_samples == whole.n_samples
    assert (by_column.gram.diagonal[2] == 0.0) == fit_intercept


def test_more_candidates_than_fit_are_refused_or_kept_by_column(device, dispatch, monkeypatch):
    monkeypatch.setattr("skarce.designs.stream.KEPT_BYTES", 0)  # no stream goes on with all of the Gram matrix
    kernels, X, y = separated()
    model = RelevanceVectorRegressor(kernels, calibrate_std=False)
    by_column = RelevanceVectorRegressor(kernels, calibrate_std=False, moments="columns")
    with sklearn.config_context(working_memory=0.01):
        with pytest.raises(ValueError, match=r'36 x 36 .* or moments="columns", or .*set_config\(working_memory=1\)'):
            model.fit(device(X), device(y))
        found = by_column.fit(device(X), device(y)).predict(X)
    expected = by_column.fit(X, y).predict(X)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.std(y))


def test_a_device_without_enough_memory_is_named(device, dispatch, monkeypatch):
    monkeypatch.setattr("skarce._device.free_bytes", lambda like: 2**14)
    X, y, _ = problem()
    with pytest.raises(ValueError, match=r"the Gram matrix of all 36 candidates, and some blocks of rows, takes about 0 MiB on"):
        EvidenceRegressor(basis()).fit(device(X), device(y))


def recipe_of(X):
    from skarce.designs import Recipe, Rows

    def check(X, y, weights, is_whole=True):
        return Rows(X, np.asarray(y).reshape(len(X), -1), weights)

    return Recipe(check, basis())
