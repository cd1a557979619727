"""Errors that name the columns with text or missing values."""

import numpy as np
import pandas as pd
import pytest

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor, VBLSRegressor
from skarce._text import LONGEST_LINE

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"depth": RNG.normal(size=30), "site": ["harbor", "delta", "north"] * 10, "size": RNG.normal(size=30)})
NUMBERS = FRAME.drop(columns="site")
Y = RNG.normal(size=30)
TEXTS = {
    "frame": (FRAME, "column 'site' ('harbor')"),
    "categories": (FRAME.astype({"site": "category"}), "column 'site' ('harbor')"),
    "objects": (FRAME.to_numpy(), "column 1 ('harbor')"),
    "array of text": (np.array([["1.5", "low"]] * 30), "column 1 ('low')"),
    "list": ([[1.0, "low"]] * 30, "column 1 ('low')"),
    "text after numbers": (np.array([[1.0, 2.0]] * 29 + [[1.0, "?"]], dtype=object), "column 1 ('?')"),
    "two columns": (FRAME.assign(town="Ulm"), "column 'site' ('harbor'), column 'town' ('Ulm')"),
    "text and gaps": (FRAME.assign(size=np.nan), "column 'site' ('harbor')"),
}


def with_gaps(convert=lambda frame: frame):
    frame = NUMBERS.copy()
    frame.iloc[2:5, 1] = np.nan
    return convert(frame)


GAPS = {
    "frame": (with_gaps(), "column 'size' (3 of 30 values)"),
    "array": (with_gaps(pd.DataFrame.to_numpy), "column 1 (3 of 30 values)"),
    "objects": (with_gaps(lambda frame: frame.astype(object).where(frame.notna(), None)), "column 'size' (3 of 30 values)"),
    "nullable": (with_gaps(pd.DataFrame.convert_dtypes), "column 'size' (3 of 30 values)"),
    "two columns": (
        with_gaps(lambda frame: frame.assign(a=np.nan)),
        "column 'size' (3 of 30 values), column 'a' (30 of 30 values)",
    ),
    "many columns": (np.full((30, 9), np.nan), "column 2 (30 of 30 values) and 6 more"),
}


def refusal(call):
    with pytest.raises(ValueError, match=r"^X ") as raised:
        call()
    assert len(str(raised.value)) <= LONGEST_LINE
    return str(raised.value)


@pytest.mark.parametrize("name", TEXTS)
def test_columns_of_text_are_named(name):
    X, columns = TEXTS[name]
    message = refusal(lambda: RelevanceVectorRegressor("rbf").fit(X, Y))
    assert message == (
        f"X must hold numbers, but there is text in {columns}. "
        "Encode it as numbers first, such as by OneHotEncoder in a ColumnTransformer."
    )


@pytest.mark.parametrize("name", GAPS)
def test_missing_values_are_counted_by_column(name):
    X, columns = GAPS[name]
    message = refusal(lambda: RelevanceVectorRegressor("rbf").fit(X, Y))
    assert message.startswith("X contains NaN: values are missing in ")
    assert f"{columns}. Fill them first, such as by SimpleImputer" in message
    assert message.endswith("in a pipeline, after the steps before it.") == isinstance(X, np.ndarray)


@pytest.mark.parametrize(
    "refuse",
    [
        lambda X: VBLSRegressor().fit(X, Y),
        lambda X: RelevanceVectorClassifier("rbf").fit(X, Y > 0),
        lambda X: KernelBasis().fit(X),
        lambda X: VBLSRegressor().fit(NUMBERS, Y).predict(X),
        lambda X: VBLSRegressor().partial_fit(X, Y),
    ],
    ids=["inputs", "classes", "basis", "predict", "partial_fit"],
)
def test_every_way_in_names_columns(refuse):
    assert "column 'size' (3 of 30 values)" in refusal(lambda: refuse(with_gaps()))
    assert "column 'size' ('big')" in refusal(lambda: refuse(NUMBERS.assign(size="big")))


def test_text_in_numbers_is_not_blamed_on_inputs():
    with pytest.raises(ValueError, match="y"):
        RelevanceVectorRegressor("rbf").fit(NUMBERS, np.array(["low"] * 30))
    with pytest.raises(ValueError, match="y contains NaN"):
        RelevanceVectorRegressor("rbf").fit(NUMBERS, np.full(30, np.nan))
    assert RelevanceVectorRegressor("rbf").fit(np.array([["1.5", "2"], ["3", "0"]] * 15), Y).n_features_in_ == 2
