"""Exports are always checked at rows like those of the training, if the model keeps some."""

from __future__ import annotations

import numpy as np
import pytest

from skarce.export.checks import comparison
from skarce.export.description import describe
from skarce.export.kept_rows import MOST_KEPT, kept_rows
from skarce.export.stages import values_of
from skarce.export.to_c import c_source
from tests.export.models import fitted

N_TRAINING = 60


def of(name):
    case = fitted(name)
    described = describe(case.model)
    return case, described, kept_rows(described)


@pytest.mark.parametrize("name", ["rvm-rbf", "rvm-polynomial", "process", "two-targets"])
def test_training_rows_and_centers_are_found_again(name):
    case, _, rows = of(name)
    known = np.vstack([case.X[:N_TRAINING], case.model.basis.centers])
    assert len(rows) > 5
    assert np.abs(rows[:, None] - known).max(axis=2).min(axis=1).max() < 1e-9


def test_columns_that_the_model_does_not_use_are_zero():
    case, described, rows = of("unused-input")
    used = list(described.used)
    known = np.vstack([case.X[:N_TRAINING], case.model.basis.centers])[:, used]
    assert np.abs(rows[:, None, used] - known).max(axis=2).min(axis=1).max() < 1e-9
    assert (rows[:, 1] == 0.0).all()


@pytest.mark.parametrize("name", ["table", "after-pca"])
def test_steps_before_kernels_are_undone(name):
    """Categories are found again, and rows before principal components have the same components."""
    case, described, rows = of(name)
    training = described.coded(case.X)[:N_TRAINING]
    ours, known = (values_of(described.stages[:-1], part[:, list(described.used)]) for part in (rows, training))
    assert len(rows) > 10
    assert np.abs(ours[:, None] - known).max(axis=2).min(axis=1).max() < 1e-6


@pytest.mark.parametrize("name", ["passthrough", "chaos", "splines-linear"])
def test_other_models_keep_none_and_the_header_says_how_to_give_some(name):
    case, _, rows = of(name)
    assert len(rows) == 0
    assert "no training rows (pass X, or DATA to skarce export, to check there, too)" in c_source(case.model).text
    assert "no training rows" not in c_source(case.model, X=case.X[:5]).text


def test_few_rows_of_many():
    case, described, rows = of("rvm-rbf")
    assert 0 < len(rows) <= MOST_KEPT
    compared = comparison(case.model, described, case.X[:7], True)
    np.testing.assert_array_equal(compared.rows[:7], case.X[:7])
    np.testing.assert_array_equal(compared.rows[7 : 7 + compared.n_kept], rows)
    assert compared.where == f"7 given rows, {len(rows)} training rows in the model, 200 random points"


def test_a_model_that_errs_at_its_training_rows_only_is_found():
    """The check sees kept rows although no rows are given."""
    case, described, rows = of("rvm-rbf")
    compared = comparison(case.model, described, None, True)
    found = np.column_stack(described.predict(compared.rows))
    assert compared.largest_error(found) < 1e-9
    found[: compared.n_kept] += 1.0
    assert compared.n_kept == len(rows)
    assert compared.largest_error(found) > 0.1
