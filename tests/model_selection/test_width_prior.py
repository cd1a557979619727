"""The priors of widths: derivatives, what they measure, and what they exclude."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from skarce.model_selection.kernel_slopes import NAMES, KernelSlopes
from skarce.model_selection.neighbor_prior import STRENGTH, NeighborPrior
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_objective import Model, Objective
from skarce.model_selection.width_prior import DESCENT, FAR, WidthPrior, spacing_and_range


def a_table(seed=0, n=30):
    """A continuous input, a grid, a flag, a heavy tail, and a constant."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(6, size=n), rng.integers(2, size=n), np.exp(2 * rng.normal(size=n)), np.full(n, 3.0)]
    )
    return X, np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.3 * rng.normal(size=n)


def objective_of(X, y, kernel, covariance, one_for_all=False, weights=None):
    data = Data(X, y[:, None], weights, None)
    scale = Scale.of(data, kernel, one_for_all=one_for_all)
    return Objective(data, scale, Model(kernel, True, covariance, None), WidthPrior.of(data, scale)), scale


@pytest.mark.parametrize("one_for_all", [True, False])
@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("kernel", NAMES)
def test_the_gradient_of_the_objective_agrees_with_differences(kernel, covariance, one_for_all):
    X, y = a_table()
    for weights in (None, np.random.default_rng(1).uniform(0.3, 1.5, len(y))):
        objective, scale = objective_of(X, y, kernel, covariance, one_for_all, weights)
        for shift in (-3.0, 0.0, 3.0):
            at = np.append(np.linspace(-1.0, 1.0, scale.n_widths) + shift, 1.5)
            expected = approx_fprime(at, lambda point: objective(point)[0], 1e-6)  # noqa: B023
            np.testing.assert_allclose(objective(at)[1], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", NAMES)
def test_the_gradient_of_the_prior_agrees_with_differences(kernel):
    X, y = a_table()
    data = Data(X, y[:, None], None, None)
    prior = WidthPrior.of(data, Scale.of(data, kernel, one_for_all=False))
    for shift in (-12.0, -5.0, 0.0, 5.0):
        at = np.linspace(-2.0, 2.0, 5) + shift
        np.testing.assert_allclose(prior.at(at)[1], approx_fprime(at, lambda point: prior.at(point)[0], 1e-6), rtol=1e-4, atol=1e-5)
    assert prior.at(np.zeros(5))[1][4] == 0.0  # the constant has no say


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([0.0, 1.0, 2.0, 3.0], (1.0, 3.0)),
        ([3.0, 0.0, 0.0, 3.0, 3.0], (3.0, 3.0)),  # a flag: neighbors are as far apart as the ends
        ([7.0, 7.0], (0.0, 0.0)),
        ([0.0, 1.0, 1.0 + 1e-12, 5.0, 11.0], (4.0, 11.0)),  # equal up to rounding
        ([0.0, 1.0, 3.0, 1000.0], (2.0, 1000.0)),  # a heavy tail does not stretch the spacing
    ],
)
def test_spacing_and_range_are_those_of_the_distinct_values(column, expected):
    assert spacing_and_range(np.array(column)) == pytest.approx(expected)
    assert spacing_and_range(np.repeat(column, 3)) == pytest.approx(expected)


def test_the_prior_is_flat_between_spacing_and_range_and_falls_outside():
    data = Data(np.arange(14.0)[:, None], np.zeros((14, 1)), None, None)
    scale = Scale.of(data, "rbf", one_for_all=False)
    prior = WidthPrior.of(data, scale)

    def at_length(length):
        return prior.at(np.log(0.5 / length**2 / scale.units))[0]

    inside = [at_length(length) for length in (1.0, 3.0, 13.0, 130.0)]
    assert np.ptp(inside) < 0.6
    assert at_length(1.0 / 10.0) == pytest.approx(-50.0, rel=1e-2)  # exp(-g delta) with g = 1 / (2 l^2), delta = 1
    assert inside[-1] - 1.0 < at_length(1e6) < inside[-1]
    assert at_length(1e6) == pytest.approx(-DESCENT * np.log1p(FAR / (0.5e-12 * 13**2)), rel=1e-6)


def test_units_and_repeats_do_not_change_the_prior():
    X, y = a_table()
    factors = np.array([1e5, 1e-3, 2.0, 1.0, 1.0])
    priors = []
    for table in (X, X * factors, np.repeat(X, 2, axis=0)):
        data = Data(table, np.resize(y, (len(table), 1)), None, None)
        priors.append(WidthPrior.of(data, Scale.of(data, "rbf", one_for_all=False)))
    for other in priors[1:]:
        np.testing.assert_allclose(other.spacings, priors[0].spacings)
        np.testing.assert_allclose(other.spans, priors[0].spans)


def test_neighbors_are_counted_at_other_places():
    """Against a slow version: pairs of rows at the same place do not count."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (20, 2)).astype(float)
    weights = rng.uniform(0.5, 2.0, 20)
    for centers in (X, X[[0, 5, 7]], np.unique(X, axis=0), rng.normal(size=(4, 2))):
        phi, _ = KernelSlopes("rbf", X, centers).values_and_slopes(np.array([0.3, 0.7]))
        sums = [sum(phi[i, j] for j in range(len(centers)) if (X[i] != centers[j]).any()) for i in range(20)]
        share = np.average([m / (1 + m) for m in sums], weights=weights)
        assert NeighborPrior.of(X, centers, weights).at(phi)[0] == pytest.approx(STRENGTH * np.log(share))


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("covariance", ["weights", "kernel"])
def test_a_signal_that_imitates_noise_is_worse_than_noise(kernel, covariance):
    """All widths are far below the distances of the rows: the evidence is that of noise, at any ratio of signal to noise."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    objective, _ = objective_of(X, y, kernel, covariance)
    noise = objective(np.array([0.0, 0.0, 0.0, np.log(1e-6)]))[0]
    for log_ratio, width in itertools.product((0.0, 4.0, 12.0), (6.0, 8.0, 10.0)):
        assert objective(np.array([width, width, width, log_ratio]))[0] < noise - 10.0
