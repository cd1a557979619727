"""Tables that are moved: each lies in the storage, and is read by a macro for entries of its own size."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from skarce import RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError, fit_within
from skarce.export.c.fixed_numbers import FORMATS
from skarce.export.c.fixed_point import FixedPoint
from skarce.export.c.fixed_tables import FixedTables
from skarce.export.c.reading import Reading
from skarce.export.c.tables import FLOAT, Tables
from skarce.export.checks import comparison
from skarce.export.description import CLASSES, describe
from skarce.export.to_c import c_source
from tests.export.compiled import SANITIZERS, Program, compiled, has, outputs, written
from tests.export.models import Fitted, fitted

N_TEXTS = 300


def of_many_texts(encoder, model):
    """Some texts are the same for the target, so codes, starts and numbers of columns do not fit into a byte."""
    rng = np.random.default_rng(0)
    texts = np.concatenate([np.arange(N_TEXTS), rng.integers(N_TEXTS, size=600)])
    frame = pd.DataFrame({"town": [f"town {text}" for text in texts], "size": rng.normal(size=len(texts))})
    y = frame["size"] + np.sin(texts) + rng.normal(0, 0.1, len(texts))
    before = make_column_transformer((encoder, ["town"]), (StandardScaler(), ["size"]))
    return Fitted(make_pipeline(before, model).fit(frame, y), frame.iloc[::20])


CASES = {
    "many-columns": lambda: of_many_texts(OneHotEncoder(sparse_output=False), RelevanceVectorRegressor("passthrough")),
    "many-results": lambda: of_many_texts(TargetEncoder(), VBLSRegressor()),
    **{name: lambda name=name: fitted(name) for name in ("three-classes", "classes-on-columns", "rvm-matern52", "table")},
}


@cache
def case(name):
    return CASES[name]()


@cache
def exported(name, real):
    return c_source(case(name).model, real=real)


def program_of(name, real):
    """A header whose macros read entries by the size that each is for, as those of an AVR do."""
    of = case(name)
    label, described = f"m_{real}_{name.replace('-', '_')}", describe(of.model)
    whole = c_source(of.model, name=label, real=real, X=of.X).text
    types = re.findall(r"#ifndef \w+?_(READ\w*) /\* how an entry of a table of (.*?) is read", whole)
    macros = [
        f"#define {label.upper()}_{macro}(table, place) (*(const {c_type} *)(const void *)&(table)[(place)])"
        for macro, c_type in types
    ]
    rows = comparison(of.model, described, of.X, True).rows
    kind = {"is_classes": described.target == CLASSES}
    n_outputs = len(described.classes) or 2
    if real not in FORMATS:
        expected = described.probabilities(rows) if kind["is_classes"] else np.column_stack(described.predict(rows))
        return Program(label, "\n".join([*macros, whole]), rows, n_outputs, **kind), expected, 1.0
    model = FixedPoint(described, FORMATS[real], rows, has_std=True)
    text = "\n".join(["#include <stdint.h>", *macros, whole])
    return Program(label, text, model.inputs(rows), n_outputs, **kind), model.predict(rows), 2.0**model.result_bits


@pytest.mark.skipif(not has("gcc"), reason="needs gcc")
@pytest.mark.parametrize("real", ["float", "q15", "q31"])
def test_macros_that_read_by_size_give_the_same(real, tmp_path):
    cases = [program_of(name, real) for name in CASES]
    programs = [program for program, _, _ in cases]
    found = outputs(compiled(written(programs, tmp_path), "gcc", "c", "-fno-strict-aliasing", *SANITIZERS), programs)
    for program, expected, scale in cases:
        values, selftest = found[program.name]
        if real == "float":
            np.testing.assert_allclose(values, expected, rtol=1e-4, atol=2e-3, err_msg=program.name)
        else:
            np.testing.assert_array_equal(values / scale, expected, err_msg=program.name)
        assert selftest / scale < 0.02, program.name


@pytest.mark.parametrize("real", ["float", "double", "q15", "q31"])
@pytest.mark.parametrize("name", CASES)
def test_every_table_lies_in_the_storage_and_is_read_by_a_macro(name, real):
    text = exported(name, real).text
    for table in re.findall(r"^static const \w+(?: \w+)* (\w+)\[", text, flags=re.MULTILINE):
        assert re.search(rf"{table}\[\d+\] MODEL_STORAGE = ", text)
        assert len(re.findall(rf"\b{table}\[", text)) == 1


def test_entries_of_each_size_have_a_macro_of_their_own():
    fixed, floats = FixedTables("m", FORMATS["q15"]), Tables("m", FLOAT)
    tables = [fixed.numbers("a", [1, 2]), fixed.longs("a", [1]), *(fixed.places("a", [most]) for most in (255, 256, 65536))]
    macros = [fixed.read(table, "i").split("(")[0] for table in tables]
    assert macros == ["M_READ", "M_READ_LONG", "M_READ_PLACE", "M_READ_PLACE2", "M_READ_PLACE4"]
    assert fixed.n_bytes == 4 + 4 + 1 + 2 + 4
    tables = [floats.reals("a", [1.5]), *(floats.places("a", [most]) for most in (255, 256, 65536))]
    macros = [floats.read(table, "i").split("(")[0] for table in tables]
    assert macros == ["M_READ", "M_READ_PLACE", "M_READ_PLACE2", "M_READ_PLACE4"]
    assert list(Reading("M", "int32_t").macros) == ["READ"]


@pytest.mark.skipif(not has("gcc"), reason="needs gcc")
@pytest.mark.parametrize("real", ["float", "q15", "q31"])
@pytest.mark.parametrize("name", CASES)
def test_tables_have_as_many_bytes_as_said(name, real, tmp_path):
    header = exported(name, real)
    (tmp_path / "model.h").write_text(header.text)
    found = re.findall(r"^static const .*?(\w+)\[", header.text, flags=re.MULTILINE)
    tables = [table for table in found if not table.startswith("model_test_")]
    said = f"({' + '.join(f'sizeof({table})' for table in tables)}) == {header.size.table_bytes}"
    (tmp_path / "size.c").write_text(
        f'#include "model.h"\ntypedef char as_said[{said} ? 1 : -1];\nint main(void) {{ return (int)model_selftest(); }}\n'
    )
    compiled(tmp_path / "size.c", "gcc", "c")


@pytest.mark.parametrize("real", ["q15", "q31"])
def test_encoders_are_counted(real):
    """The numbers of 300 texts take 4 bytes each."""
    assert exported("many-results", real).size.table_bytes > 4 * N_TEXTS
    rng = np.random.default_rng(0)
    texts = rng.permutation(np.arange(900) % N_TEXTS)
    frame = pd.DataFrame({"town": [f"town {text}" for text in texts]})
    model = make_pipeline(make_column_transformer((TargetEncoder(), ["town"])), VBLSRegressor())
    with pytest.raises(ExportError, match=r"one function takes 1\d\d\d bytes"):
        fit_within(model, frame, np.sin(texts) + rng.normal(0, 0.1, 900), max_bytes=64, real=real)


@pytest.mark.parametrize("real", ["q15", "q31"])
def test_code_does_not_grow_with_the_texts(real):
    text = exported("many-results", real).text
    functions = text[text.index("/* value / 2^bits") :]
    assert len(functions.split("_test_inputs")[0]) < 5000
