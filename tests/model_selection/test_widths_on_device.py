"""The evidence of widths on a device is that of the host, and so are its derivatives and the widths that are learned."""

import numpy as np
import pytest

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce._device import to_host
from skarce._linalg import NotPositiveDefiniteError
from skarce.designs import DeviceRows
from skarce.model_selection import learn_widths, width_objective
from skarce.model_selection.dense import DeviceFactored, Factored
from skarce.model_selection.flatness_prior import FlatnessPrior
from skarce.model_selection.kernel_slopes import NAMES, KernelSlopes
from skarce.model_selection.neighbor_prior import NeighborPrior
from skarce.model_selection.slopes_on_device import DeviceKernelSlopes
from skarce.model_selection.width_evidence import WeightedTargets, WidthEvidence
from skarce.moments.directions import Directions
from tests.devices import LIBRARIES, Device, dispatched, needs_dispatch


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


@pytest.fixture
def always(monkeypatch):
    """Few rows are computed on the device, too."""
    monkeypatch.setattr(width_objective, "WORTH_DEVICE", 0)


def problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("name", NAMES)
def test_slopes_are_those_of_the_host(device, name):
    X, _ = problem()
    widths, centers = np.array([0.7, 0.1]), X[:20] + 0.1  # at distance zero, the root of rounding is in the slope
    host, there = KernelSlopes(name, X, centers), DeviceKernelSlopes(name, X, centers, device([0.0]))
    for found, expected in zip(there.values_and_slopes(widths), host.values_and_slopes(widths), strict=True):
        assert device.holds(found)
        np.testing.assert_allclose(to_host(found), expected, rtol=1e-12, atol=1e-14)
    factors = np.random.default_rng(1).normal(size=(60, 20))
    np.testing.assert_allclose(there.sums_over_pairs(device(factors)), host.sums_over_pairs(factors), rtol=1e-10)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_centers", [60, 20])
def test_evidence_and_its_derivatives_are_those_of_the_host(device, covariance, fit_intercept, weighted, n_centers):
    X, y = problem()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 60) if weighted else None
    targets = WeightedTargets.of(np.column_stack([y, X[:, 1]]), weights, fit_intercept=fit_intercept)
    centers = X if covariance == "kernel" else X[:n_centers]
    priors = (NeighborPrior.of(X, centers, weights), FlatnessPrior.of(2.0, 60, weights))
    given = None if covariance == "kernel" or n_centers == 60 else np.array([2.0, 3.0])
    host = WidthEvidence(KernelSlopes("rbf", X, centers), targets, covariance, given, 2.0, priors)
    kernel = DeviceKernelSlopes("rbf", X, centers, device([0.0]))
    there = WidthEvidence(kernel, targets.on(device([0.0])), covariance, given, 2.0, priors)
    widths = np.array([0.8, 0.3])
    found, expected = there.at(widths, 20.0), host.at(widths, 20.0)
    for name in found._fields:
        assert not hasattr(getattr(found, name), "device") or type(getattr(found, name)) is np.ndarray
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8, err_msg=name)
    assert there.best_ratio(widths) == pytest.approx(host.best_ratio(widths), rel=1e-4)


def test_factors_are_those_of_the_host(device):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 12))
    found, expected = DeviceFactored(device(A.T @ A), 0.3), Factored(A.T @ A, 0.3)
    assert found.log_determinant == pytest.approx(expected.log_determinant, rel=1e-12)
    assert found.freedom == pytest.approx(expected.freedom, rel=1e-12)
    right = rng.normal(size=(12, 2))
    np.testing.assert_allclose(to_host(found.solve(device(right))), expected.solve(right), rtol=1e-9)
    (there, freedom), (here, expected_freedom) = found.shrunk(device(A)), expected.shrunk(A)
    np.testing.assert_allclose(to_host(there), here, rtol=1e-9)
    assert freedom == pytest.approx(expected_freedom, rel=1e-12)


def test_a_matrix_that_rounding_made_singular_is_raised(device):
    column = np.linspace(1.0, 2.0, 8)
    found = DeviceFactored(device(np.outer(column, column)), 1e-18)
    assert np.isfinite(found.log_determinant)


def test_a_matrix_that_is_not_a_number_is_an_error(device):
    with pytest.raises((NotPositiveDefiniteError, ArithmeticError)):
        DeviceFactored(device(np.full((3, 3), np.nan)), 1.0)


def test_directions_are_those_of_the_host(device):
    """The last three columns are sums of the others, so there are as many directions as other columns."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 9))
    A = np.hstack([A, A[:, :3] + A[:, 3:6]])
    found, expected = Directions.of(device(A.T @ A)), Directions.of(A.T @ A)
    np.testing.assert_allclose(np.sort(found.eigenvalues), np.sort(expected.eigenvalues), rtol=1e-10)
    b = A.T @ rng.normal(size=50)
    weights = [one.weights(one.project(b), 0.5) for one in (found, expected)]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-9)


@needs_dispatch
@pytest.mark.parametrize("options", [{}, {"covariance": "kernel"}, {"gamma": "evidence"}, {"kernel": "auto"}], ids=str)
def test_learned_widths_are_those_of_the_host(device, always, monkeypatch, options):
    X, y = problem(80)
    expected = learn_widths(X, y, **options)
    with dispatched(monkeypatch):
        found = learn_widths(device(X), device(y), **options)
    assert found.kernel == expected.kernel
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=0.05)  # the search ends within its tolerance
    assert found.n_rows == expected.n_rows
    assert isinstance(found.gamma, (float, np.ndarray))


@needs_dispatch
def test_no_more_rows_than_asked_for_are_moved(device, always, monkeypatch):
    X, y = problem(300)
    weights = np.where(X[:, 0] > 0.0, 1.0, 0.0)
    with dispatched(monkeypatch):
        assert learn_widths(device(X), device(y), sample_weight=device(weights), max_rows=50).n_rows == 50
        with pytest.raises(TypeError, match="nothing is moved between devices silently"):
            learn_widths(device(X), y)


def test_a_basis_learns_its_widths_on_the_device(device, always, monkeypatch):
    """The rows of the sample are on the host, and their pairs on the device."""
    seen = []
    there = DeviceKernelSlopes.values_and_slopes
    monkeypatch.setattr(DeviceKernelSlopes, "values_and_slopes", lambda self, widths: seen.append(1) or there(self, widths))
    X, y = problem(100)
    rows = DeviceRows.from_arrays(X, y, device=device.place, library=device.library)
    model = RelevanceVectorRegressor(KernelBasis(gamma="ard"), calibrate_std=False).fit(rows)
    assert seen
    expected = RelevanceVectorRegressor(KernelBasis(gamma="ard"), calibrate_std=False).fit(X, y)
    assert model.basis_.gamma_[0] == pytest.approx(expected.basis_.gamma_[0], rel=0.05)


def test_few_rows_are_computed_on_the_host(device, monkeypatch):
    monkeypatch.setattr(DeviceKernelSlopes, "values_and_slopes", lambda *_: pytest.fail("few rows went to the device"))
    X, y = problem()
    assert learn_widths(X, y, device=device([0.0])).n_rows == 60
