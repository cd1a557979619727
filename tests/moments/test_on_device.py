"""Sums on a device are those of NumPy, to 1e-12."""

import numpy as np
import pytest

import skarce._device
from skarce import KernelBasis
from skarce.moments.block_sums import block_sums
from skarce.moments.on_device import DeviceSums
from tests.devices import LIBRARIES, Device


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


def summed(device, basis, X, targets, weights, parts):
    total = DeviceSums(basis.n_candidates, targets.shape[1], device(targets))
    for part in parts:
        total.add(basis.on_device(device(X[part])), device(targets[part]), None if weights is None else device(weights[part]))
    return total.moved().sums


def assert_equal_to_twelve_digits(found, expected):
    assert found.n_samples == pytest.approx(expected.n_samples, rel=1e-15)
    for name in ("candidate_means", "target_means", "gram", "projections", "target_energies"):
        values, exact = getattr(found, name), getattr(expected, name)
        assert type(values) is np.ndarray
        np.testing.assert_allclose(values, exact, rtol=0.0, atol=1e-12 * np.abs(exact).max(), err_msg=name)


@pytest.fixture(params=["plain", "weighted"])
def data(request):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 3))
    targets = np.column_stack([np.sin(X[:, 0]) + 5.0, 1e4 * X[:, 1]])
    return X, targets, rng.integers(0, 3, 700) + 0.25 * (X[:, 0] > 0.0) if request.param == "weighted" else None


@pytest.mark.parametrize("rows_at_a_time", [1, 64, 10_000])
def test_sums_are_those_of_numpy(device, data, rows_at_a_time, monkeypatch):
    monkeypatch.setattr(skarce._device, "HOST_BYTES", 8 * 40 * rows_at_a_time)
    monkeypatch.setattr(skarce._device, "DEVICE_BYTES", 8 * 40 * rows_at_a_time)
    monkeypatch.setattr(skarce._device, "LEAST_ROWS", 1)
    X, targets, weights = data
    basis = KernelBasis(gamma=0.4, centers=X[:40]).fit(X)
    found = summed(device, basis, X, targets, weights, [slice(0, 300), slice(300, 301), slice(301, 301), slice(301, None)])
    assert_equal_to_twelve_digits(found, block_sums(basis, X, targets, weights))


def test_rows_of_weight_zero_do_not_count(device, data):
    X, targets, _ = data
    basis = KernelBasis(gamma=0.4, centers=X[:10]).fit(X)
    weights = np.zeros(700)
    assert summed(device, basis, X, targets, weights, [slice(None)]).n_samples == 0.0
    weights[:50] = 2.0
    found = summed(device, basis, X, targets, weights, [slice(50, None), slice(0, 50)])
    assert_equal_to_twelve_digits(found, block_sums(basis, X[:50], targets[:50], weights[:50]))


def test_nearly_constant_columns_keep_their_digits(device, data):
    """A kernel so wide that it varies by 1e-6: its squares about the mean are 1e-12 of the raw ones."""
    X, targets, weights = data
    basis = KernelBasis(gamma=1e-6, centers=X[:3]).fit(X)
    found, expected = summed(device, basis, X, targets, weights, [slice(None)]), block_sums(basis, X, targets, weights)
    np.testing.assert_allclose(found.gram, expected.gram, rtol=1e-3)
    np.testing.assert_allclose(found.candidate_means, expected.candidate_means, rtol=1e-14)


def test_single_precision_is_summed_in_double(device, data):
    X, targets, weights = data
    X = X.astype(np.float32)
    basis = KernelBasis(gamma=0.4, centers=X[:40].astype(np.float64)).fit(X.astype(np.float64))
    found = summed(device, basis, X, targets, weights, [slice(None)])
    assert_equal_to_twelve_digits(found, block_sums(basis, X.astype(np.float64), targets, weights))


def test_sums_may_be_changed_on_the_host(device, data):
    """They must not share memory with the device, and have the order that updates in place need."""
    X, targets, weights = data
    basis = KernelBasis(gamma=0.4, centers=X[:10]).fit(X)
    halves = [summed(device, basis, X, targets, weights, [part]) for part in (slice(0, 350), slice(350, None))]
    halves[0].include(halves[1])
    assert_equal_to_twelve_digits(halves[0], block_sums(basis, X, targets, weights))
