"""The autocorrelation time against its definition, its exact value, and simulated means."""

import numpy as np
import pytest
from scipy.signal import savgol_coeffs, savgol_filter

from skarce import KernelBasis
from skarce.criteria import IndividualEvidence
from skarce.designs import InMemoryDesign, Rows
from skarce.likelihoods import Bernoulli, Gaussian
from skarce.methods.latent import SparseLatent
from skarce.methods.selection import Selection
from skarce.model_selection.dependent_rows import (
    GROWTH,
    WINDOW,
    autocorrelation_time,
    autocorrelations,
    dependence,
    largest_density,
    pearson_residuals,
)
from skarce.searches import BestAction
from skarce.states.budget import Budget

SEEDS = range(20)


def autoregressive(rho, n, rng):
    """A stationary series with x_t = rho x_(t-1) + e_t, whose autocorrelation time is (1 + rho) / (1 - rho)."""
    series = np.empty(n)
    series[0] = rng.normal() / np.sqrt(1 - rho**2)
    noise = rng.normal(size=n)
    for t in range(1, n):
        series[t] = rho * series[t - 1] + noise[t]
    return series


def slow_autocorrelations(series, weights):
    """The definition, one pair of rows at a time."""
    series, weights = series[weights > 0], weights[weights > 0]
    n, centered = len(series), series - np.average(series, weights=weights)
    pairs = [[np.sqrt(weights[t] * weights[t + k]) * centered[t] * centered[t + k] for t in range(n - k)] for k in range(n)]
    return np.array([sum(products) for products in pairs]) / sum(pairs[0])


@pytest.mark.parametrize("has_weights", [False, True])
def test_autocorrelations_are_sums_over_pairs(rng, has_weights):
    series = autoregressive(0.7, 50, rng)
    weights = rng.integers(0, 4, 50).astype(float) if has_weights else np.ones(50)
    np.testing.assert_allclose(autocorrelations(series, weights), slow_autocorrelations(series, weights), rtol=1e-9, atol=1e-12)


def slow_density(correlations, width, frequencies):
    """The largest of sums of cosines, one frequency at a time."""
    found = []
    for frequency in frequencies:
        total = 1.0
        for k in range(1, min(int(np.ceil(width)), len(correlations))):
            total += 2 * correlations[k] * 0.5 * (1 + np.cos(np.pi * k / width)) * np.cos(frequency * k)
        found.append(total)
    return max(found)


@pytest.mark.parametrize("width", [1.0, 2.3, 17.0, 1000.0])
def test_the_density_is_a_sum_of_cosines(rng, width):
    correlations = autocorrelations(autoregressive(-0.6, 60, rng), np.ones(60))
    expected = slow_density(correlations, width, np.linspace(0, np.pi, 2000))
    assert largest_density(correlations, width).time == pytest.approx(expected, rel=1e-2)


def test_a_period_is_named():
    """Residuals that repeat seem to be worth two observations, however many rows there are."""
    t = np.arange(4800)
    found = dependence(np.sin(2 * np.pi * t / 24) + 0.1 * np.random.default_rng(0).normal(size=4800))
    assert found.period == pytest.approx(24, rel=0.02)
    assert found.n_effective(4800.0) < 10
    assert "4800 rows for" in found.doubt(4800.0)
    assert "repeat after about 24 rows" in found.doubt(4800.0)
    slow = dependence(np.cumsum(np.random.default_rng(0).normal(size=1000)))
    assert "vary slowly" in slow.doubt(1000.0)
    white = dependence(np.random.default_rng(0).normal(size=1000))
    assert not white.doubt(1000.0)


def test_the_window_fits_the_result(rng):
    series = autoregressive(0.8, 2000, rng)
    correlations, time = autocorrelations(series, np.ones(2000)), autocorrelation_time(series)
    widths = GROWTH ** np.arange(1, 100)
    expected = next(density for m in widths if m >= WINDOW * (density := largest_density(correlations, m).time))
    assert time == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_an_autoregressive_series_has_its_known_time(rho):
    exact = (1 + rho) / (1 - rho)
    times = [autocorrelation_time(autoregressive(rho, 4000, np.random.default_rng(seed))) for seed in SEEDS]
    assert np.mean(times) == pytest.approx(exact, rel=0.1)
    assert np.std(times) < 0.25 * exact


def test_white_noise_is_independent():
    times = [autocorrelation_time(np.random.default_rng(seed).normal(size=1000)) for seed in SEEDS]
    assert np.mean(times) < 1.15
    assert max(times) < 1.5


def test_the_mean_of_dependent_numbers_is_as_uncertain_as_that_of_fewer_independent_ones():
    series = np.array([np.convolve(np.random.default_rng(seed).normal(size=520), np.ones(21), "valid") for seed in range(400)])
    n_effective = np.mean([500 / autocorrelation_time(one) for one in series])
    assert n_effective == pytest.approx(series.var() / series.mean(axis=1).var(), rel=0.3)


def test_derivatives_of_smooth_noise_are_as_dependent_as_their_filter_says():
    """The autocorrelations of a derivative add up to zero, but there are functions in which its noise does not average out."""
    gain = np.abs(np.fft.rfft(savgol_coeffs(51, 3, deriv=1), 8192)) ** 2
    exact = gain.max() / np.sum(savgol_coeffs(51, 3, deriv=1) ** 2)
    series = [savgol_filter(np.random.default_rng(seed).normal(size=10_100), 51, 3, deriv=1)[50:-50] for seed in SEEDS]
    assert np.mean([autocorrelation_time(one) for one in series]) == pytest.approx(exact, rel=0.1)


def test_no_function_has_a_weight_that_is_more_uncertain():
    """The largest eigenvalue of the correlation matrix bounds the variance of a sum of residuals times any function."""
    rng, rho = np.random.default_rng(0), -0.7
    matrix = rho ** np.abs(np.arange(400)[:, None] - np.arange(400))
    times = [autocorrelation_time(autoregressive(rho, 4000, rng)) for _ in SEEDS]
    assert np.mean(times) == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=0.1)


def test_units_and_a_constant_do_not_matter(rng):
    series = autoregressive(0.8, 200, rng)
    for other in (1e150 * series, 1e-150 * series, series + 3.0, -series):
        assert autocorrelation_time(other) == pytest.approx(autocorrelation_time(series), rel=1e-8)


def test_rows_that_are_left_out_do_not_make_the_others_more_dependent():
    """A tenth of the rows, at random: their mean is as uncertain as the exact covariance says."""
    rng, rho, n = np.random.default_rng(0), 0.9, 20_000
    weights = (rng.uniform(size=n) < 0.1).astype(float)
    places = np.flatnonzero(weights)
    exact = np.sum(rho ** np.abs(places[:, None] - places)) / len(places)
    times = [autocorrelation_time(autoregressive(rho, n, np.random.default_rng(seed)), weights) for seed in SEEDS]
    assert np.mean(times) == pytest.approx(exact, rel=0.1)
    series = autoregressive(rho, n, rng)
    assert autocorrelation_time(np.where(weights > 0, series, 1e9), weights) == autocorrelation_time(series, weights)


@pytest.mark.parametrize("series", [np.zeros(5), np.full(7, 3.7), np.array([1.0]), np.empty(0)])
def test_series_that_say_nothing_are_independent(series):
    assert autocorrelation_time(series) == 1.0


@pytest.mark.parametrize("likelihood", [Gaussian(), Bernoulli()])
def test_residuals_are_in_standard_deviations_of_the_target(rng, likelihood):
    X = rng.uniform(-3, 3, (80, 1))
    targets = (np.sin(X) + rng.normal(0, 0.3, (80, 1))) if likelihood.has_moments else (X + rng.normal(size=(80, 1)) > 0) * 1.0
    design = InMemoryDesign(KernelBasis(gamma=0.5).fit(X), Rows(X, targets))
    method = Selection(IndividualEvidence(), BestAction()) if likelihood.has_moments else SparseLatent()
    (problem,) = design.problems(likelihood)
    posterior = method.posterior(method.run(problem, Budget()), problem)
    phi = KernelBasis(gamma=0.5).fit(X).transform(X)[:, posterior.active]
    expected = targets[:, 0] - posterior.predict(phi)
    if not likelihood.has_moments:
        share = likelihood.mean(posterior.predict(phi), posterior.variance(phi))
        expected = (targets[:, 0] - share) / np.sqrt(share * (1 - share))
    np.testing.assert_allclose(pearson_residuals(problem, posterior), expected, rtol=1e-9, atol=1e-9)
