"""Headers of models at the edge: odd names, targets that do not vary, inputs that are missing, far away or in odd units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

from skarce import KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError
from skarce.export.description import CLASSES, describe
from skarce.export.to_c import c_source
from tests.export.compiled import SANITIZERS, WARNINGS, Program, compiled, has, outputs, run, written
from tests.export.models import fitted, kernels, numbers, targets

needs_gcc = pytest.mark.skipif(not has("gcc"), reason="needs gcc")
SIDE_BY_SIDE = make_column_transformer((SplineTransformer(4), [0]), remainder="passthrough")
KINDS = ("float", "double", "q15", "q31")


def header_runs(text, folder):
    """Compile a header by itself, and return what its self-test says."""
    (folder / "model.h").write_text(text)
    call = 'printf("%.9g", (double)model_selftest());'
    (folder / "main.c").write_text(f'#include <stdio.h>\n#include "model.h"\nint main(void) {{ {call} return 0; }}\n')
    return float(run(compiled(folder / "main.c", "gcc", "c", *SANITIZERS)))


def predictions(model, rows, folder, real="float", std=True):
    described = describe(model)
    program = Program("model", c_source(model, real=real, std=std).text, rows, 2, is_classes=described.target == CLASSES)
    return outputs(compiled(written([program], folder), "gcc", "c", *SANITIZERS), [program])["model"][0]


HOSTILE = {
    "words of C": (("int", "for", "double"), ("if", "else", "while")),
    "names of the header": (("output", "n", "scale"), ("inputs", "outputs", "scale")),
    "names of macros": (("input", "read", "exp"), ("place", "x", "input exp")),
    "ends of comments": (("*/ int x; /*", "a\\", "??/"), ("*/", "//", "\\")),
    "lines": (("a\nb", "c\td", "e\r"), ("x\ny", "", "  ")),
    "the same in capitals": (("a b", "a-b", "A B"), ("x", "X", "x ")),
    "other alphabets": (("größe", "Farbe", "温度"), ("grün", "青", "赤")),
}


@needs_gcc
@pytest.mark.parametrize("real", ["float", "q31"])
@pytest.mark.parametrize(("columns", "texts"), HOSTILE.values(), ids=HOSTILE)
def test_names_that_c_does_not_like(columns, texts, real, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({columns[0]: rng.normal(size=60), columns[1]: rng.choice(texts, 60), columns[2]: rng.normal(size=60)})
    y = np.sin(frame[columns[0]]) + (frame[columns[1]] == texts[0]) + rng.normal(0, 0.1, 60)
    before = make_column_transformer((OneHotEncoder(), [columns[1]]), (StandardScaler(), [columns[0], columns[2]]))
    model = make_pipeline(before, RelevanceVectorRegressor(KernelBasis(gamma=0.3))).fit(frame, y)
    exported = c_source(model, real=real, X=frame)
    assert exported.text.isascii()
    assert np.isfinite(header_runs(exported.text, tmp_path))


def test_accents_are_left_out_and_other_alphabets_are_counted():
    frame = pd.DataFrame(numbers(), columns=["größe", "温度", "a"])
    text = c_source(VBLSRegressor().fit(frame, targets(numbers()))).text
    assert "MODEL_INPUT_GROSSE = 0" in text
    assert "MODEL_INPUT_X1 = 1" in text


def test_columns_of_a_table_are_found_by_name():
    """Python finds them by name in a column transformer, so rows to check at may have another order."""
    of = fitted("table")
    shuffled = of.X[of.X.columns[::-1]]
    np.testing.assert_array_equal(describe(of.model).coded(shuffled), describe(of.model).coded(of.X))
    assert c_source(of.model, X=shuffled.assign(more=1.0)).error < 1e-5
    with pytest.raises(ValueError, match=r"it lacks 'heat'\."):
        c_source(of.model, X=of.X.drop(columns="heat"))


@needs_gcc
@pytest.mark.parametrize("real", KINDS)
@pytest.mark.parametrize("level", [0.0, 3.0, 1e30])
@pytest.mark.parametrize(
    "estimator",
    [RelevanceVectorRegressor(kernels("rbf")), VBLSRegressor(), VBLSRegressor(SIDE_BY_SIDE), VBLSRegressor(SplineTransformer(4))],
)
def test_a_target_that_does_not_vary(estimator, level, real, tmp_path):
    X = numbers()
    exported = c_source(estimator.fit(X, np.full(len(X), level)), real=real, X=X)
    assert exported.error < 1e-6
    scale = 1.0 if real in ("float", "double") else 2.0 ** float(np.floor(np.log2(2**30 / max(level, 1.0))))
    assert header_runs(exported.text, tmp_path) <= max(1e-6 * level * scale, 2.0)


@needs_gcc
@pytest.mark.parametrize("name", ["rvm-rbf", "rvm-matern52", "rvm-cosine", "passthrough", "two-classes", "three-classes", "counts"])
def test_missing_numbers_that_nothing_fills_in_give_nan(name, tmp_path):
    model = fitted(name).model
    described = describe(model)
    n_outputs, is_classes = len(described.classes) or 2, described.target == CLASSES
    program = Program("model", c_source(model).text, np.array([[np.nan] * 3]), n_outputs, is_classes=is_classes)
    source = written([program], tmp_path)
    if is_classes:
        whole = source.read_text().replace(
            "    return 0;", "    { float x[3]; x[0] = x[1] = x[2] = (float)NAN; return 1 + model_predict(x); }"
        )
        source.write_text(whole)
    found = outputs(compiled(source, "gcc", "c", *SANITIZERS), [program])["model"][0]
    assert np.isnan(found).all()


@needs_gcc
def test_periodic_splines_of_missing_numbers(tmp_path):
    model = fitted("splines-periodic").model
    assert isinstance(model.basis, SplineTransformer)
    assert np.isnan(predictions(model, np.array([[np.nan] * 3]), tmp_path)).all()


@needs_gcc
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern32", "matern52"])
def test_kernels_vanish_far_away(kernel, tmp_path):
    """Squares of such rows are beyond the range of float."""
    model = fitted(f"rvm-{kernel}").model
    far = np.array([[1e30, 0.0, 0.0], [0.0, -1e38, 1e38]])
    expected = np.column_stack(model.predict(far, return_std=True))
    np.testing.assert_allclose(predictions(model, far, tmp_path), expected, rtol=1e-5)


def test_inputs_that_float_cannot_hold_are_named():
    X = numbers()
    model = VBLSRegressor().fit(X * 1e40, targets(X))
    with pytest.raises(ExportError, match="the inputs alone lose too many digits"):
        c_source(model)
    assert c_source(model, real="double").error < 1e-12


def test_many_inputs_cost_nothing_if_they_are_not_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1000))
    y = X[:, 3] - 2.0 * X[:, 777] + rng.normal(0, 0.1, 100)
    exported = c_source(RelevanceVectorRegressor("passthrough").fit(X, y), X=X)
    assert exported.size.table_bytes < 200
    assert "MODEL_INPUT_X999 = 999" in exported.text


@pytest.mark.skipif(not has("clang"), reason="needs clang")
@pytest.mark.parametrize("name", ["rvm-matern52", "table", "three-classes", "counts", "chaos", "splines-periodic"])
def test_floats_are_never_promoted_to_double(name, tmp_path):
    """A core with a unit for single precision would leave it."""
    (tmp_path / "model.h").write_text(c_source(fitted(name).model).text)
    (tmp_path / "main.c").write_text('#include "model.h"\nint main(void) { return model_selftest() > 1.0f; }\n')
    compiled(tmp_path / "main.c", "clang", "c", "-Wdouble-promotion", "-Wundef", "-Wcast-qual")
    assert "-Werror" in WARNINGS
