"""Categories that are numbers: all of them are checked, and none is taken for another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from skarce import KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError, checks
from skarce.export.checks import comparison
from skarce.export.description import describe
from skarce.export.kept_rows import kept_rows
from skarce.export.likely_rows import likely_rows
from skarce.export.to_c import c_source

DAYS = [20240101, 20240102, 20240103, 20240104]
GRADES = [1.0, 2.0, 5.0, 7.0]


def fitted(levels, *, weight=3.0, estimator=None, encoder=None):
    """A model that needs the third category only."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"day": rng.choice(levels, 400), "a": rng.normal(size=400)})
    y = frame["a"] + weight * (frame["day"] == levels[2]) + rng.normal(0, 0.1, 400)
    before = make_column_transformer((encoder or OneHotEncoder(sparse_output=False), ["day"]), (StandardScaler(), ["a"]))
    return make_pipeline(before, estimator or VBLSRegressor()).fit(frame, y), frame


@pytest.mark.parametrize("with_rows", [True, False])
def test_categories_that_collide_in_float_are_refused(with_rows):
    model, frame = fitted(DAYS)
    with pytest.raises(ExportError, match=r"'day', and float cannot tell .* real=\"double\" or .*a column of text"):
        c_source(model, X=frame if with_rows else None)
    assert c_source(model, real="double").error < 1e-9


@pytest.mark.parametrize("real", ["q15", "q31"])
def test_whole_numbers_tell_whole_categories_apart(real):
    assert c_source(fitted(DAYS)[0], real=real).error < 0.01
    with pytest.raises(ExportError, match=rf"{real} cannot tell all of them apart, .* Use real=.double. or a column of text"):
        c_source(fitted([10**10 + day for day in DAYS])[0], real=real)


def test_likely_rows_have_all_categories():
    described = describe(fitted(GRADES)[0])
    assert np.unique(likely_rows(described, 200)[:, 0]).tolist() == GRADES


@pytest.mark.parametrize("levels", [GRADES, [1.0, 2.0, 5.0, np.nan]])
def test_an_encoder_that_refuses_other_numbers_may_be_left_out_of_the_model(levels):
    model, frame = fitted(levels, weight=0.0, estimator=RelevanceVectorRegressor("passthrough", max_active=1))
    described = describe(model)
    assert described.used == (1,)
    exported = c_source(model)
    assert "200 random points" in exported.where
    assert c_source(model, X=frame[:10]).where == "10 given rows, 200 random points"


@pytest.mark.parametrize("levels", [GRADES, [1.0, 2.0, 5.0, np.nan]])
def test_kept_rows_have_categories_that_python_knows(levels):
    model, frame = fitted(levels, estimator=RelevanceVectorRegressor(KernelBasis(gamma=0.3, centers=20)))
    rows = kept_rows(describe(model))
    assert len(rows) > 3
    assert all(np.isnan(day) if np.isnan(levels[-1]) and np.isnan(day) else day in levels for day in rows[:, 0])
    assert comparison(model, describe(model), frame, True).refused == ""


def test_categories_behind_an_imputer():
    encoder = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False))
    described = describe(fitted([1.0, 2.0, 5.0, np.nan], encoder=encoder)[0])
    assert described.inputs[0].keys == (1.0, 2.0, 5.0)
    assert c_source(fitted([1.0, 2.0, 5.0, np.nan], encoder=encoder)[0]).error < 1e-4


def test_rows_that_python_refuses_are_named(monkeypatch):
    model, frame = fitted(GRADES)
    monkeypatch.setattr(checks, "likely_rows", lambda *_: np.array([[99.0, 0.0]]))
    where = comparison(model, describe(model), frame, True).where
    assert where.startswith("400 given rows; at no other rows, because predictions failed there: Found unknown categories")
    with pytest.raises(ExportError, match="predictions at random points failed"):
        comparison(model, describe(model), None, True)


def test_a_type_that_does_not_take_the_model_is_no_advice():
    model, _ = fitted(DAYS, estimator=VBLSRegressor(PolynomialFeatures(2)))
    with pytest.raises(ExportError, match=r"Use real=.double. or a column of text"):
        c_source(model)
    with pytest.raises(ExportError, match="fixed-point arithmetic is for"):
        c_source(model, real="q31")
