"""Factors from left-out rows, against slow versions of their definitions."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import expit

from skarce.model_selection.calibration import (
    dispersion,
    is_too_sure,
    log_loss,
    log_odds_of_shares,
    outlying,
    slopes_of_log_loss,
    std_scale,
    temperature,
)


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return 2.0 * rng.normal(size=n), rng.uniform(0.5, 2.0, n), rng.uniform(0.0, 3.0, n)


def test_the_scale_is_the_weighted_root_mean_square_of_errors_in_units_of_the_std():
    errors, variances, weights = rows()
    by_hand = np.sqrt(sum(w * (e / np.sqrt(v)) ** 2 for e, v, w in zip(errors, variances, weights, strict=True)) / weights.sum())
    np.testing.assert_allclose(std_scale(errors, variances, weights), by_hand)


def test_the_scale_of_the_bulk_is_the_weighted_median_and_outliers_do_not_move_it():
    errors, variances, _ = rows()
    weights = np.random.default_rng(1).integers(1, 4, len(errors)).astype(float)
    weights[0] += 1.0 - weights.sum() % 2.0  # an odd number of rows has one in the middle
    sizes = np.repeat(np.abs(errors) / np.sqrt(variances), weights.astype(int))
    by_hand = np.sort(sizes)[(len(sizes) + 1) // 2 - 1] / stats.norm.ppf(0.75)
    np.testing.assert_allclose(std_scale(errors, variances, weights, of_bulk=True), by_hand, rtol=1e-4)
    far = np.where(np.abs(errors) > 4.0, 1e6 * errors, errors)
    assert std_scale(far, variances, weights, of_bulk=True) == std_scale(errors, variances, weights, of_bulk=True)
    assert std_scale(far, variances, weights) > 1e4


@pytest.mark.parametrize("n_rows", [5, 200])
def test_a_smaller_std_is_believed_as_if_ten_more_rows_had_asked_for_none(n_rows):
    errors, variances, weights = rows(n_rows)
    errors = 0.1 * errors
    squares = np.append(errors**2 / variances, np.ones(10))
    by_hand = np.sqrt(np.average(squares, weights=np.append(weights, np.ones(10))))
    np.testing.assert_allclose(std_scale(errors, variances, weights), by_hand)


def test_a_row_with_an_unusual_target_that_holds_most_of_the_squared_errors_is_outlying():
    errors, variances, weights = rows()
    targets = np.linspace(-1.0, 1.0, 200) + errors
    assert len(outlying(targets, errors, variances, weights)) == 0
    errors[[3, 50]] = 1e3, -2e3
    assert len(outlying(targets, errors, variances, weights)) == 0  # predictions are wild, not targets
    targets[[3, 50]] += 1e3, -2e3
    np.testing.assert_array_equal(outlying(targets, errors, variances, weights), [3, 50])
    few = slice(25)
    assert len(outlying(targets[few], errors[few], variances[few], weights[few])) == 0  # too few rows to tell
    weights[[3, 50]] = 0.0
    assert len(outlying(targets, errors, variances, weights)) == 0
    errors, variances, weights = rows()
    errors[3] = 22.0 * np.median(np.abs(errors))  # far beyond the others, but only a small part of the sum
    assert len(outlying(targets, errors, variances, weights)) == 0


def test_a_model_is_too_sure_if_its_errors_matter():
    targets = np.linspace(-1.0, 1.0, 50)
    errors, weights = 0.5 * np.ones(50), np.ones(50)
    assert is_too_sure(6.0, errors, targets, weights)
    assert not is_too_sure(4.0, errors, targets, weights)
    assert not is_too_sure(600.0, 1e-3 * errors, targets, weights)


def test_weight_two_equals_the_row_twice():
    errors, variances, _ = rows()
    twice = np.repeat(np.arange(200), 2)
    weights = np.full(200, 2.0)
    for freedom in (np.inf, 4.0):
        once = std_scale(errors, variances, weights, freedom)
        np.testing.assert_allclose(once, std_scale(errors[twice], variances[twice], np.ones(400), freedom))


@pytest.mark.parametrize("freedom", [2.5, 4.0, 30.0])
def test_the_scale_of_student_noise_has_the_largest_likelihood(freedom):
    errors, variances, weights = rows()
    z, unit = errors / np.sqrt(variances), np.sqrt((freedom - 2.0) / freedom)
    loss = lambda log: -weights @ stats.t.logpdf(z, freedom, scale=np.exp(log) * unit)  # noqa: E731
    best = np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-10}).x)
    np.testing.assert_allclose(std_scale(errors, variances, weights, freedom), best, rtol=1e-5)


def test_student_noise_of_many_degrees_of_freedom_is_normal():
    np.testing.assert_allclose(std_scale(*rows(), 1e7), std_scale(*rows()), rtol=1e-5)


def test_rows_that_say_nothing_leave_the_std_as_it_is():
    nothing, some = np.zeros(3), np.ones(3)
    assert std_scale(some, nothing, some) == 1.0  # no factor changes a std of zero
    assert std_scale(nothing, some, some) == 1.0
    assert std_scale(nothing, nothing, some) == 1.0
    assert std_scale(some, some, nothing) == 1.0
    assert std_scale(1e200 * some, 1e-300 * some, some) == 1.0  # the squares overflow
    assert std_scale(np.array([3.0, 5.0]), np.array([1.0, 0.0]), np.ones(2)) == 3.0
    assert dispersion(nothing, nothing, nothing) == pytest.approx(1.0, abs=1e-6)


def drawn_classes(n, n_classes, true, seed=0):
    rng = np.random.default_rng(seed)
    log_odds = 3.0 * rng.normal(size=(n, 1 if n_classes == 2 else n_classes))
    if n_classes == 2:
        return log_odds * true, (rng.uniform(size=(n, 1)) < expit(log_odds)).astype(float)
    share = expit(log_odds) / expit(log_odds).sum(axis=1, keepdims=True)
    drawn = (rng.uniform(size=(n, 1)) > np.cumsum(share, axis=1)).sum(axis=1)
    return log_odds * true, np.eye(n_classes)[drawn]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("true", [0.5, 1.0, 3.0])
def test_the_temperature_is_that_of_the_log_odds(n_classes, true):
    log_odds, targets = drawn_classes(20_000, n_classes, true)
    center = np.full(log_odds.shape[1], 0.3)
    moved = center + (log_odds / true - center) * true
    np.testing.assert_allclose(temperature(moved, targets, np.ones(20_000), center), true, rtol=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_other_temperature_is_better(n_classes):
    log_odds, targets = drawn_classes(50, n_classes, 2.0)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 50)
    center = np.array([0.3, -0.2, 0.1])[: log_odds.shape[1]]
    objective = lambda t: log_loss(center + (log_odds - center) / t, targets, weights) + 0.5 * (np.log(t) / np.log(2.0)) ** 2  # noqa: E731
    found = temperature(log_odds, targets, weights, center)
    assert objective(found) <= min(objective(t) for t in np.geomspace(0.05, 50.0, 2000)) + 1e-8


def test_the_log_loss_is_that_of_the_probabilities():
    log_odds, targets = drawn_classes(50, 3, 1.0)
    share = expit(log_odds) / expit(log_odds).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(log_loss(log_odds, targets, np.ones(50)), -np.log((share * targets).sum(axis=1)).sum())
    log_odds, targets = drawn_classes(50, 2, 1.0)
    p = np.where(targets == 1.0, expit(log_odds), expit(-log_odds))
    np.testing.assert_allclose(log_loss(log_odds, targets, np.ones(50)), -np.log(p).sum())


def test_the_temperature_stays_finite_if_no_row_is_wrong():
    targets = np.array([[0.0], [1.0]]).repeat(500, axis=0)
    assert 0.0 < temperature(20.0 * (targets - 0.5), targets, np.ones(1000), np.zeros(1)) < 1.0
    assert temperature(np.empty((0, 1)), np.empty((0, 1)), np.empty(0), np.zeros(1)) == pytest.approx(1.0, abs=1e-6)


def test_log_odds_without_information_become_those_of_the_shares():
    rng = np.random.default_rng(0)
    targets = (rng.uniform(size=(2000, 1)) < 0.1).astype(float)
    center = log_odds_of_shares(targets, np.ones(2000))
    np.testing.assert_allclose(expit(center), targets.mean(), rtol=1e-2)
    assert temperature(center + rng.normal(size=(2000, 1)), targets, np.ones(2000), center) > 5.0
    assert np.isfinite(log_odds_of_shares(np.zeros((5, 1)), np.ones(5))).all()


@pytest.mark.parametrize("true", [1.0, 3.0])
def test_counts_that_vary_more_have_that_dispersion(true):
    rng = np.random.default_rng(0)
    means = rng.uniform(5.0, 50.0, 20_000)
    counts = rng.poisson(means) if true == 1.0 else rng.negative_binomial(means / (true - 1.0), 1.0 / true)
    np.testing.assert_allclose(dispersion(counts, means, means), true, rtol=0.03)


def test_the_dispersion_is_at_least_one_and_stands_a_count_that_was_not_expected():
    assert dispersion(np.full(500, 10.0), np.full(500, 10.0), np.full(500, 10.0)) == pytest.approx(1.0, abs=1e-5)
    counts = np.random.default_rng(0).poisson(10.0, 500)
    means = np.where(np.arange(500) == 0, 1e-6, 10.0)
    assert 1.0 <= dispersion(counts, means, means) < 3.0
    assert np.isfinite(dispersion(np.array([1e12, 0.0]), np.array([1e-300, 0.0]), np.array([1e-300, 0.0])))


@pytest.mark.parametrize("n_functions", [1, 3])
def test_slopes_of_the_log_loss_are_differences(rng, n_functions):
    log_odds, weights = rng.normal(0.0, 2.0, (8, n_functions)), rng.uniform(0.5, 2.0, 8)
    classes = rng.integers(0, max(n_functions, 2), 8)
    targets = (classes[:, None] == np.arange(n_functions)).astype(float)
    slopes, step = slopes_of_log_loss(log_odds, targets, weights), 1e-6
    for place in np.ndindex(log_odds.shape):
        moved = np.zeros(log_odds.shape)
        moved[place] = step
        difference = log_loss(log_odds + moved, targets, weights) - log_loss(log_odds - moved, targets, weights)
        assert slopes[place] == pytest.approx(difference / (2.0 * step), abs=1e-7)
