"""Curves, log scores and inputs, against counts and formulas by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import KernelBasis, RelevanceVectorRegressor, StepwiseRegressor
from skarce.comparison import Answers, count_bytes
from skarce.comparison.out_of_fold import class_log_scores, count_log_scores, normal_log_scores
from skarce.datasets import TargetKind
from skarce.report.calibration import LEVELS, curve_of, interval, z_scores
from skarce.report.comparison_report import errors_without_inputs
from skarce.report.inputs import far_rows, inputs_that_matter
from skarce.report.residuals import residuals_of


def answers(kind, targets, values, classes=None):
    return Answers("m", kind, np.arange(len(targets)), np.asarray(targets), np.asarray(values, float), classes)


def test_coverage_counts_targets_inside_of_normal_intervals(rng):
    y, mean, std = rng.normal(size=300), rng.normal(size=300) / 2, rng.uniform(0.5, 2, 300)
    curve = curve_of(answers(TargetKind.NUMBERS, y, np.column_stack([mean, std])))
    for level, share in zip(LEVELS, curve.happened, strict=True):
        lower, upper = stats.norm.interval(level, mean, std)
        assert share == pytest.approx(np.mean((lower <= y) & (y <= upper)))
    assert curve_of(answers(TargetKind.NUMBERS, y, mean[:, None])) is None


def test_intervals_of_counts_hold_at_least_their_level():
    mean, std = np.array([0.3, 5.0, 40.0]), np.array([0.6, 3.0, 9.0])
    lower, upper = interval(answers(TargetKind.COUNTS, [0, 1, 2], np.column_stack([mean, std])), 0.8)
    success = mean / std**2
    held = [stats.nbinom(m * p / (1 - p), p) for m, p in zip(mean, success, strict=True)]
    inside = [d.cdf(b) - d.cdf(a - 1) for d, a, b in zip(held, lower, upper, strict=True)]
    assert min(inside) >= 0.8
    assert (lower == np.round(lower)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reliability_compares_probabilities_with_frequencies(rng, n_classes):
    probabilities = rng.dirichlet(np.ones(n_classes), 5000)
    classes = np.array(["a", "b", "c"][:n_classes])
    labels = classes[[rng.choice(n_classes, p=p) for p in probabilities]]
    curve = curve_of(answers(TargetKind.CLASSES, labels, probabilities, classes))
    assert curve.n_rows.sum() == 5000
    np.testing.assert_allclose(curve.happened, curve.promised, atol=0.09)  # 500 rows each: four standard errors
    shown = probabilities[:, 1] if n_classes == 2 else probabilities.max(axis=1)
    assert curve.promised @ curve.n_rows == pytest.approx(shown.sum())
    assert (np.diff(curve.promised) > 0).all()


def test_log_scores_are_those_of_scipy_and_scikit_learn(rng):
    y, mean, std = rng.normal(size=20), rng.normal(size=20), rng.uniform(0.5, 2, 20)
    found = normal_log_scores(np.column_stack([mean, std]), y, None)
    np.testing.assert_allclose(found, stats.norm(mean, std).logpdf(y))
    assert normal_log_scores(mean[:, None], y, None) is None
    counts, rate = rng.poisson(3, 20), rng.uniform(1, 5, 20)
    np.testing.assert_allclose(count_log_scores(rate[:, None], counts, None), stats.poisson(rate).logpmf(counts))
    classes, probabilities = np.array(["a", "b", "c"]), rng.dirichlet(np.ones(3), 20)
    labels = rng.choice(classes, 20)
    expected = -log_loss(labels, probabilities, labels=classes)
    assert class_log_scores(probabilities, labels, classes).mean() == pytest.approx(expected)


def test_residuals_and_confusion():
    found = residuals_of(answers(TargetKind.NUMBERS, [1.0, 2.0], [[0.0, 2.0], [3.0, 0.5]]))
    np.testing.assert_allclose(found.z, [0.5, -2.0])
    classes = np.array(["a", "b"])
    found = residuals_of(answers(TargetKind.CLASSES, np.array(["a", "a", "b"]), [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], classes))
    assert found.confusion.tolist() == [[1, 1], [0, 1]]
    assert np.isfinite(z_scores(answers(TargetKind.NUMBERS, [1.0], [[1.0, 0.0]]))).all()


def test_the_base_error_is_that_of_a_model_without_inputs():
    y, tests = np.array([1.0, 2.0, 3.0, 6.0]), [np.array([0, 1]), np.array([2, 3])]
    expected = [np.sqrt(np.mean([(1 - 4.5) ** 2, (2 - 4.5) ** 2])), np.sqrt(np.mean([1.5**2, 4.5**2]))]
    assert errors_without_inputs(TargetKind.NUMBERS, y, tests) == pytest.approx(expected)
    labels = np.array(["a", "a", "b", "a"])
    assert errors_without_inputs(TargetKind.CLASSES, labels, [np.array([2, 3])]) == [0.5]
    zeros = np.array([0.0, 2.0, 1.0, 3.0])
    deviances = [2 * (2.0 - 0.0), 2 * (2.0 * np.log(2.0 / 2.0) - 2.0 + 2.0)]  # of 0 and 2 at the rate 2
    assert errors_without_inputs(TargetKind.COUNTS, zeros, [np.array([0, 1])]) == pytest.approx([np.mean(deviances)])


def test_the_input_that_matters_comes_first(rng):
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=["none", "some", "most"])
    y = 5.0 * X["most"].to_numpy() + X["some"].to_numpy()
    found = inputs_that_matter(make_pipeline(StandardScaler(), LinearRegression()).fit(X, y), X, y, TargetKind.NUMBERS)
    assert [each.name for each in found] == ["most", "some", "none"]
    assert found[0].value == pytest.approx(2 * 25.0 * X["most"].var(), rel=0.3)  # shuffling doubles the variance of its share
    assert found[2].value == pytest.approx(0.0, abs=1e-9)


def test_far_rows_are_far_in_what_the_kernels_see(rng):
    X = rng.uniform(-1, 1, (80, 2))
    X[7], X[9] = (6.0, 0.0), (0.0, 6.0)
    X = np.vstack([X, X[7]])  # a copy of a row is no neighbor
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=81)
    assert set(far_rows(StepwiseRegressor().fit(X, y), X).rows) == {7, 9}
    narrow_in_one = RelevanceVectorRegressor(KernelBasis(gamma=np.array([1.0, 1e-8]))).fit(X, y)
    found = far_rows(narrow_in_one, X)
    assert found.rows[0] == 7
    assert 9 not in found.rows


def test_bytes_are_those_of_a_pickle():
    import pickle

    model = LinearRegression().fit(np.eye(3), np.arange(3))
    assert count_bytes(model) == len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))
    assert count_bytes(lambda: 0) is None


def test_rows_need_not_hold_all_classes(rng):
    X = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    labels = np.array(["x", "y", "z"])[np.digitize(X["a"], [-0.5, 0.5])]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, labels)
    few = np.flatnonzero(labels != "y")
    found = inputs_that_matter(pipeline, X.iloc[few], labels[few], TargetKind.CLASSES)
    assert [each.name for each in found] == ["a", "b"]
