"""The measurements over kernel widths: small fits, and the marks of the tables."""

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import skarce
from benchmarks import cliffs


def row(method="rvm", cpu_s=0.01, criterion=1.0, sense=-1, width="1"):
    return {
        "table": "some",
        "width": width,
        "method": method,
        "cpu_s": cpu_s,
        "error": 0.5,
        "functions": 10,
        "coverage": 0.95,
        "criterion": criterion,
        "sense": sense,
        "outcome": "CONVERGED",
    }


def test_rows_are_standardized_by_the_training_part():
    X, y, X_test, y_test = cliffs.standardized("friedman1", 200)
    assert X.shape == (200, 10)
    assert X_test.shape == (cliffs.N_TEST, 10)
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [np.zeros(10), np.ones(10)], atol=1e-12)
    assert (y.mean(), y.std()) == pytest.approx((0.0, 1.0), abs=1e-12)
    assert len(y_test) == len(X_test)


@pytest.mark.parametrize("method", cliffs.METHODS)
def test_every_method_is_measured(method):
    measured = cliffs.measured(40, 10.0, "friedman2", "1/4", method)
    assert (measured["table"], measured["width"], measured["method"]) == ("friedman2", "1/4", method)
    assert 0 < measured["functions"] <= 40
    assert 0.0 < measured["error"] < 1.5
    assert 0.0 <= measured["coverage"] <= 1.0
    assert measured["cpu_s"] > 0.0
    assert np.isfinite(measured["criterion"])


def test_the_criterion_is_that_of_the_estimator():
    X, y, X_test, y_test = cliffs.standardized("friedman2", 40)
    model = skarce.FastGCVRegressor(skarce.KernelBasis(gamma=0.25 / X.shape[1])).fit(X, y)
    measured = cliffs.measured(40, 10.0, "friedman2", "1/4", "fgcv")
    assert measured["criterion"] == pytest.approx(model.criterion_, rel=1e-9)
    assert measured["sense"] == -1
    assert measured["error"] == pytest.approx(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) / y_test.std(), rel=1e-9)


def test_ratios_are_to_the_reference_at_the_same_width():
    rows = [row(), row("fgcv", 0.04), row(width="4", cpu_s=0.1), row("fgcv", 0.2, width="4")]
    assert cliffs.ratios(rows)[("some", "1", "fgcv")] == pytest.approx(4.0)
    assert cliffs.ratios(rows)[("some", "4", "fgcv")] == pytest.approx(2.0)


def test_a_fit_is_too_slow_only_if_both_limits_are_passed():
    assert cliffs.is_too_slow(row("fgcv", 0.11), 5.1)
    assert not cliffs.is_too_slow(row("fgcv", 0.09), 50.0)
    assert not cliffs.is_too_slow(row("fgcv", 10.0), 4.9)
    assert not cliffs.is_too_slow(row("abf", 100.0), 1e4)  # no limit is known for it


@pytest.mark.parametrize("sense", [-1, 1])
def test_worse_depends_on_the_sense_of_the_criterion(sense):
    before = row(criterion=-2.0, sense=sense)
    assert cliffs.is_worse(row(criterion=-2.0 - 0.1 * sense, sense=sense), before)
    assert not cliffs.is_worse(row(criterion=-2.0 + 0.1 * sense, sense=sense), before)
    assert not cliffs.is_worse(row(criterion=-2.0 - 1e-4 * sense, sense=sense), before)


def test_tables_mark_what_is_slow_or_worse():
    rows, console = [row(), row("fgcv", 0.2, criterion=1.1)], Console(width=145)
    with console.capture() as capture:
        console.print(cliffs.detail_table(rows, [row(), row("fgcv", 1.0, criterion=1.0)]))
        console.print(cliffs.summary_table(rows))
    text = capture.get()
    assert "20.0*" in text
    assert "1.1!" in text
    assert all(len(line) <= 145 for line in text.splitlines())


def test_another_version_is_measured_in_its_own_process():
    arguments = argparse.Namespace(tables="friedman2", methods="rvm", rows=30, max_time=10.0, other=sys.executable, plain=True)
    arguments.other = str(Path(skarce.__file__).parents[1])
    before = cliffs.in_other_version(arguments)
    assert [cliffs.key_of(one) for one in before] == cliffs.keys(["friedman2"], ["rvm"])
    here = cliffs.measured(30, 10.0, "friedman2", "1", "rvm")
    there = next(one for one in before if one["width"] == "1")
    assert there["criterion"] == pytest.approx(here["criterion"], rel=1e-9)


def test_plain_fits_are_the_same_models_without_a_factor_on_the_std():
    calibrated, plain = (cliffs.measured(60, 10.0, "friedman1", "1", "fgcv", plain=plain) for plain in (False, True))
    assert plain["criterion"] == calibrated["criterion"]
    assert plain["coverage"] != calibrated["coverage"]
