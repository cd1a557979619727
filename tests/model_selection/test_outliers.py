"""Outliers while widths are learned: found by neighbors and by the process, and left out if that is more likely."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from skarce.model_selection import learn_widths
from skarce.model_selection.far_off import far_off
from skarce.model_selection.outliers import left_out_errors, log_density
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_objective import Model, Widths
from tests.oracles import rbf

robust = partial(learn_widths, robust=True)


def waves(rng, n_rows=120):
    X = rng.uniform(-3, 3, (n_rows, 2))
    return X, 3.0 * np.sin(X[:, 0]) + rng.normal(0, 0.2, n_rows)


@pytest.mark.parametrize("size", [-4.0, 12.0, 300.0])
def test_one_bad_target_leaves_the_widths_alone(rng, size):
    X, y = waves(rng)
    clean = robust(np.delete(X, 17, axis=0), np.delete(y, 17))
    y[17] += size
    learned = robust(X, y)
    assert (clean.n_outliers, learned.n_outliers) == (0, 1)
    np.testing.assert_allclose(learned.gamma[0], clean.gamma[0], rtol=0.05)
    np.testing.assert_allclose(learned.noise_variance, clean.noise_variance, rtol=0.05)


def test_rows_that_the_process_explains_stay(rng):
    X, y = waves(rng)
    peak = np.linspace(0.0, 0.01, 3)
    X = np.vstack([X, np.column_stack([peak, peak])])
    y = np.append(y, 100.0 + rng.normal(0, 0.2, 3))  # far from all others, but near each other
    assert robust(X, y).n_outliers == 0


def test_many_rows_far_off_are_no_outliers(rng):
    X, y = waves(rng)
    y[rng.choice(120, 12, replace=False)] += 100.0
    assert robust(X, y).n_outliers == 0
    heavy = 3.0 * np.sin(X[:, 0]) + 0.2 * rng.standard_t(3, 120)
    assert robust(X, heavy).n_outliers == 0


def test_labels_and_few_rows_have_none(rng):
    X, y = waves(rng, 25)
    y[3] = 1e3
    assert robust(X, y).n_outliers == 0
    labels = np.zeros(100)
    labels[4] = 1.0
    assert robust(rng.normal(size=(100, 2)), labels, noise_share=1.0).n_outliers == 0


def test_an_outlier_in_one_of_two_targets_is_found(rng):
    X, y = waves(rng)
    targets = np.column_stack([y, y[::-1]])
    targets[5, 1] -= 500.0
    assert robust(X, targets).n_outliers == 1


def test_far_off_counts_robust_deviations(rng):
    errors = rng.normal(size=(500, 1))
    assert len(far_off(errors)) == 0
    errors[[7, 9]] = [[40.0], [-40.0]]
    np.testing.assert_array_equal(far_off(errors), [7, 9])
    errors[:6] = 40.0  # more than one in a hundred
    assert len(far_off(errors)) == 0


def test_log_density_is_that_of_rare_rows_with_a_distribution_of_their_own(rng):
    targets = rng.normal(size=(40, 1))
    targets[[3, 8]] = [[30.0], [-50.0]]
    others = np.delete(targets, [3, 8])
    far = targets[[3, 8], 0] - others.mean()
    std = np.sqrt(np.mean(far**2))
    by_hand = norm.logpdf(far, 0.0, std).sum() + 2 * np.log(1 / 40) + 38 * np.log(39 / 40)
    data = Data(rng.normal(size=(40, 2)), targets, None, None)
    assert log_density(data, np.array([3, 8])) == pytest.approx(by_hand)
    twice = data._replace(weights=np.full(40, 2.0))
    by_hand = 2 * norm.logpdf(far, 0.0, std).sum() + 4 * np.log(1 / 40) + 76 * np.log(39 / 40)
    assert log_density(twice, np.array([3, 8])) == pytest.approx(by_hand)


@pytest.mark.parametrize("covariance", ["kernel", "weights"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_left_out_errors_are_those_of_fits_without_each_row(rng, covariance, fit_intercept):
    X, y, weights = rng.normal(size=(15, 2)), rng.normal(size=15), rng.uniform(0.5, 2.0, 15)
    gamma = np.array([0.3, 1.2])
    found = Widths(gamma, 0.0, np.array([0.1]), np.array([0.5]), 0, 15, "rbf")
    data = Data(X, y[:, None], weights, None)
    scale = Scale.of(data, "rbf", one_for_all=False)
    errors, variances = left_out_errors(data, scale, found, Model("rbf", fit_intercept, covariance, None))
    phi = rbf(X * np.sqrt(gamma), X * np.sqrt(gamma), 1.0)
    joint = (phi if covariance == "kernel" else phi @ phi.T) / 0.5 + np.diag(0.1 / weights) + 1e8 * fit_intercept
    for row in range(15):
        rest = np.delete(np.arange(15), row)
        gain = np.linalg.solve(joint[np.ix_(rest, rest)], joint[rest, row])
        assert errors[row, 0] == pytest.approx(y[row] - gain @ y[rest], rel=1e-4, abs=1e-4)
        assert variances[row, 0] == pytest.approx(joint[row, row] - gain @ joint[rest, row], rel=1e-4)


def test_the_chosen_model_is_more_likely(rng):
    """The evidence of the other rows with the density of the outlier is above that of a process for all rows."""
    X, y = waves(rng, 60)
    y[11] += 20.0
    found = robust(X, y, gamma="evidence", covariance="kernel")
    rest = np.delete(np.arange(60), 11)

    def log_evidence(rows, widths):
        matrix = rbf(X[rows], X[rows], widths.gamma) / widths.weight_precision + np.eye(len(rows)) * widths.noise_variance
        return multivariate_normal.logpdf(y[rows], np.zeros(len(rows)), matrix + 1e4)

    data = Data(X, y[:, None], None, None)
    outside = log_evidence(rest, found) + log_density(data, np.array([11]))
    for gamma in (0.01, 0.1, 1.0, 10.0):
        inside = [
            log_evidence(np.arange(60), replace(found, gamma=gamma, noise_variance=noise, weight_precision=precision))
            for noise in (0.05, 0.5, 5.0)
            for precision in (1e-3, 1e-1, 10.0)
        ]
        assert max(inside) < outside


def test_all_rows_count_unless_it_is_asked_for(rng):
    X, y = waves(rng)
    y[17] += 300.0
    assert learn_widths(X, y).n_outliers == 0


def test_a_target_that_does_not_vary_has_no_outliers_and_hides_none(rng):
    """Its density is a constant factor, the same for outliers and for draws; nothing takes the logarithm of zero."""
    X = rng.normal(size=(60, 1))
    y = np.sin(X[:, 0]) + 0.05 * rng.normal(size=60)
    y[7] = 40.0
    alone, beside = learn_widths(X, y, robust=True), learn_widths(X, np.column_stack([y, np.zeros(60)]), robust=True)
    assert alone.n_outliers == beside.n_outliers == 1
    data = Data(X, np.zeros((60, 2)), None, None)
    assert np.isfinite(log_density(data, np.array([3])))
