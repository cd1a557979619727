"""The measures of probabilities against slow versions of their definitions, and every table."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.probabilities import REPORT, TABLES, TUNE, calibration_error, count_error, of_classes, of_counts, split_of
from skarce.datasets.real import data_folder

REAL = {"banana", "pima", "synth"}


def test_true_probabilities_have_no_calibration_error_and_others_have():
    rng = np.random.default_rng(0)
    share = rng.uniform(size=100_000)
    happened = (rng.uniform(size=len(share)) < share).astype(float)
    assert calibration_error(share, happened) < 0.01
    assert calibration_error(np.full(len(share), 0.5), happened) < 0.05
    assert calibration_error(np.where(share > 0.5, 1.0, 0.0), happened) > 0.2


def test_measures_of_classes():
    shares, labels = np.array([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]), np.array([0, 1, 1])
    found = of_classes(np.repeat(shares, 10, axis=0), np.eye(2)[np.repeat(labels, 10)])
    assert found["log loss"] == pytest.approx(-np.mean(np.log([0.7, 0.8, 0.4])))
    assert found["score"] == pytest.approx(np.mean([0.3**2, 0.2**2, 0.6**2]))


def test_true_counts_have_no_calibration_error_and_others_have():
    rng = np.random.default_rng(0)
    rate = rng.uniform(0.2, 9.0, 30_000)
    counted = rng.poisson(rate).astype(float)
    assert count_error(rate, rate, counted) < 0.005
    assert count_error(1.3 * rate, 1.3 * rate, counted) > 0.03
    found = of_counts(rate, rate, counted)
    assert found["log loss"] == pytest.approx(-np.mean(stats.poisson.logpmf(counted, rate)))
    assert 0.0 < found["score"] < 0.5
    rare = np.full(30_000, 0.05)  # all quantiles are zero
    assert count_error(rare, rare, rng.poisson(rare).astype(float)) < 0.005


def test_tables_are_on_one_side_and_can_be_drawn():
    assert not TUNE.keys() & REPORT.keys()
    for name in TABLES:
        if name in REAL and data_folder() is None:
            continue
        split = split_of(name, 60, 0)
        assert len(split.X) == len(split.y) == 60
        assert len(split.new_inputs) == len(split.new_targets) > 60
        assert len(np.unique(split.y)) > 1
        again = split_of(name, 60, 0)
        np.testing.assert_array_equal(split.new_inputs, again.new_inputs)
        if split.truth is not None and split.truth.ndim == 2:
            np.testing.assert_allclose(split.truth.sum(axis=1), 1.0)
