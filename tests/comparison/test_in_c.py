"""What a fitted model is in C, after the checks of the export."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman3
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import FastGCVRegressor, KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.comparison.counting import InC, in_c
from skarce.export.c.code_size import MEASURED
from skarce.export.to_c import c_source
from skarce.report.export_part import export_part, export_words
from skarce.report.model_view import ModelView


def friedman():
    return make_friedman3(300, noise=0.1, random_state=0)


@pytest.mark.parametrize(
    ("model", "real"), [(make_pipeline(StandardScaler(), FastGCVRegressor()), "double"), (VBLSRegressor(), "float")]
)
def test_the_type_is_one_that_the_export_takes(model, real):
    found = in_c(model.fit(*friedman()))
    assert found == InC(c_source(model, real=real).size.table_bytes, real)


def test_a_model_that_no_type_holds_is_refused_with_the_reason():
    X, y = friedman()
    found = in_c(VBLSRegressor().fit(X, y + 1e9))
    assert found.n_bytes is None
    assert "in double arithmetic this model differs from Python by" in found.refusal


@pytest.mark.parametrize(
    ("model", "reason"), [(Ridge(), "Ridge"), (RelevanceVectorRegressor(KernelBasis(lambda a, b: a @ b.T)), "the kernel function")]
)
def test_what_has_no_export_says_why(model, reason):
    found = in_c(model.fit(*friedman()))
    assert found.n_bytes is None
    assert reason in found.refusal


def view(found):
    functions = pd.DataFrame({"weight": np.ones(1)})
    return ModelView("frvm", {}, functions, functions, in_c=found, commands=("skarce export",))


@pytest.mark.parametrize("real", ["float", "double"])
def test_the_code_that_the_page_promises_is_what_was_measured(real):
    words = export_words(view(InC(1000, real)))
    sizes = MEASURED[real].values()
    assert f"{min(s.median for s in sizes) / 1000:.1f} to {max(s.largest for s in sizes) / 1000:.1f} kB more" in words
    assert ("Float is not precise enough" in words) == (real == "double")


def test_a_refused_model_has_no_commands():
    found = view(InC(refusal="it is too wide."))
    assert "cannot be written as C: it is too wide." in str(export_part(found))
    assert "skarce export" not in str(export_part(found))
    assert found.as_dict([])["export"] == {"bytes": None, "real": "", "commands": []}
