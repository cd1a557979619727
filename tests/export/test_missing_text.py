"""Missing text: NaN and None, filled in or a category of its own, in Python, C and ONNX."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder

from skarce import VBLSRegressor
from skarce.export.description import describe
from skarce.export.to_c import c_source
from tests.export.compiled import SANITIZERS, Program, compiled, has, outputs, written

GAPS = {"nan": [np.nan], "none": [None], "both": [np.nan, None]}
ENCODERS = {
    "one-hot": OneHotEncoder(sparse_output=False),
    "one-hot-ignore": OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    "ordinal": OrdinalEncoder(encoded_missing_value=-5),
    "target": TargetEncoder(),
    "filled": make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(missing)"), OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    ),
}


def table(gaps):
    rng = np.random.default_rng(0)
    town, kind = (pd.Series(rng.choice(texts, 120).astype(object), dtype=object) for texts in (["u", "v", "w"], ["x", "y"]))
    for place, gap in enumerate(gaps):
        town[9 * place :: 18] = gap
    return pd.DataFrame({"town": town, "kind": kind, "size": rng.normal(size=120)})


def fitted(gaps, encoder, *, is_array=False):
    frame = table(gaps)
    y = frame["size"] + 2.0 * frame["town"].isna() + (frame["town"] == "u") + np.random.default_rng(1).normal(0, 0.1, 120)
    before = make_column_transformer((encoder, [0, 1]), (StandardScaler(), [2]))
    X = frame.to_numpy(dtype=object) if is_array else frame
    return make_pipeline(before, VBLSRegressor()).fit(X, y), X


@pytest.mark.parametrize("is_array", [True, False], ids=["array", "table"])
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("gaps", GAPS.values(), ids=GAPS)
def test_missing_text_is_what_python_takes_it_for(gaps, encoder, is_array):
    """Of several columns filled with one text, some had no gaps in training: the text is unknown there."""
    model, X = fitted(gaps, encoder, is_array=is_array)
    assert c_source(model, X=X, real="double").error < 1e-12


@pytest.mark.skipif(not has("gcc"), reason="needs gcc")
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("gap", [np.nan, None])
def test_nan_is_missing_text_in_c(gap, encoder, tmp_path):
    model, X = fitted([gap], encoder)
    at = X[X["town"].isna()]
    rows = describe(model).coded(at)
    rows[:, 0] = np.nan
    program = Program("model", c_source(model, X=X, real="double").text, rows, 2)
    found = outputs(compiled(written([program], tmp_path), "gcc", "c", *SANITIZERS), [program])["model"][0]
    np.testing.assert_allclose(found, np.column_stack(model.predict(at, return_std=True)), rtol=1e-9)


def test_the_header_says_what_missing_text_is():
    text = c_source(fitted([np.nan], ENCODERS["one-hot"])[0]).text
    assert "Missing text is NaN, or MODEL_TOWN_IF_MISSING." in text
    assert "training rows, and so is NaN, missing text." in text
    assert "Missing text is MODEL_MISSING, or" in c_source(fitted([np.nan], ENCODERS["one-hot"])[0], real="q31").text


def test_each_name_has_its_text_beside_it():
    rng = np.random.default_rng(0)
    texts = ["Bonn", "bonn", "*/ int x;", "a\\", "grün"]
    frame = pd.DataFrame({"town": rng.choice(texts, 100), "size": rng.normal(size=100)})
    before = make_column_transformer((OneHotEncoder(), ["town"]), ("passthrough", ["size"]))
    text = c_source(make_pipeline(before, VBLSRegressor()).fit(frame, rng.normal(size=100))).text
    assert "MODEL_TOWN_BONN = 1, /* 'Bonn' */" in text
    assert "MODEL_TOWN_BONN_2 = 3, /* 'bonn' */" in text
    assert r"/* '*\/ int x;' */" in text
    assert r"/* 'gr\xfcn' */" in text
    assert r"/* 'a\\' */" in text
