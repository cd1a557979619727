"""ONNX models predict what the models predict, by onnxruntime and by the reference of the package onnx."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skarce import RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, RelevanceVectorRegressor, VBLSRegressor
from skarce.export import ExportError, describe, to_onnx
from skarce.export.checks import TOLERANCES
from skarce.export.description import CLASSES, MARGINS
from skarce.export.onnx import assembly
from skarce.export.onnx.assembly import Port, assembled, reference_runner, runner
from skarce.export.onnx.entries import fed, ports_of
from skarce.export.onnx.graph import REALS, Graph, element_type
from skarce.export.onnx.heads import output_names
from skarce.export.onnx.moderation import add_moderated_log_odds
from skarce.export.reference import predicted
from skarce.likelihoods import moderated_log_odds
from tests.export.models import OTHERS, REGRESSORS, fitted, kernels, numbers, targets

pytest.importorskip("onnx", reason='ONNX models need the package onnx: pip install "skarce[export-test]"')

FEW = ("rvm-rbf", "rvm-matern52", "two-targets", "process", "chaos", "splines-linear", "mixed-basis", "target-scaled", "table")
NAMES = [*(REGRESSORS if os.environ.get("SKARCE_EXPORT") == "all" else FEW), *OTHERS]  # make test-export


def inputs(described, X, real="double", std=True):
    return fed(ports_of(described, REALS[real], output_names(described, std=std)), described, described.coded(X))


def outputs(run, model, described, X, real="double"):
    return dict(zip([one.name for one in model.graph.output], run(inputs(described, X, real)), strict=True))


def assert_same(found, case, described, share):
    """Predictions agree to this share of the standard deviation of the target."""
    if described.target == CLASSES:
        np.testing.assert_allclose(found["probabilities"], case.model.predict_proba(case.X), rtol=0, atol=share)
        if share < 1e-6:
            np.testing.assert_array_equal(found["label"], case.model.predict(case.X))
        return
    if described.target == MARGINS:
        np.testing.assert_allclose(found["margins"], case.model.decision_function(case.X), rtol=0, atol=share)
        np.testing.assert_array_equal(found["label"], case.model.predict(case.X))
        return
    expected = predicted(case.model, case.X, described, True)
    shape = (len(case.X),) if described.is_one else (len(case.X), len(described.heads))
    mean, std = (part.reshape(shape) for part in np.split(expected, 2, axis=1))
    size = np.sqrt(mean.var(axis=0) + (std**2).mean(axis=0))
    assert found["mean"].shape == mean.shape
    assert (np.abs(found["mean"] - mean) <= share * size).all()
    assert (np.abs(found["std"] - std) <= share * size).all()


@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_agrees(name):
    pytest.importorskip("onnxruntime")
    case = fitted(name)
    described, model = describe(case.model), to_onnx(case.model, X=case.X)
    assert_same(outputs(runner(model), model, described, case.X), case, described, TOLERANCES["double"])


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_agrees(name):
    case = fitted(name)
    described, model = describe(case.model), to_onnx(case.model, X=case.X)
    assert_same(outputs(reference_runner(model), model, described, case.X), case, described, TOLERANCES["double"])


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_agrees_or_is_refused(name):
    """Rows are those of single precision, so that only the arithmetic differs."""
    case = fitted(name)
    described = describe(case.model)
    try:
        model = to_onnx(case.model, real="float", X=case.X)
    except ExportError as error:
        assert 'real="double"' in str(error)  # noqa: PT017
        return
    rows = described.decoded(described.coded(case.X).astype(np.float32).astype(np.float64))
    near = type(case)(case.model, rows[:60])
    found = outputs(runner(model), model, described, near.X, "float")
    assert all(values.dtype == np.float32 for key, values in found.items() if key != "label")
    assert_same(found, near, described, 10 * TOLERANCES["float"])


def single(name, **options):
    """A model, its ONNX model, and what the latter predicts at its rows."""
    case = fitted(name)
    described, model = describe(case.model), to_onnx(case.model, **options)
    return case, model, runner(model)(inputs(described, case.X, std=options.get("std", True)))


def test_the_mean_alone():
    case, model, (mean,) = single("rvm-rbf", std=False)
    assert [one.name for one in model.graph.output] == ["mean"]
    np.testing.assert_allclose(mean, case.model.predict(case.X), rtol=1e-12)


def test_inputs_have_the_names_and_kinds_of_the_table():
    case, model, _ = single("table")
    kinds = {one.name: one.type.tensor_type.elem_type for one in model.graph.input}
    assert list(kinds) == list(case.X)
    assert kinds["color"] == element_type(object)
    assert kinds["heat"] == element_type(np.float64)


def test_text_that_was_not_seen_is_predicted_as_python_does():
    case = fitted("table")
    X = case.X.assign(color="purple")
    mean, std = runner(to_onnx(case.model))(inputs(describe(case.model), X))
    expected = case.model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-10)
    np.testing.assert_allclose(std, expected[1], rtol=1e-10)


def test_the_empty_text_stands_for_missing_text():
    case = fitted("table-text-with-holes")
    is_missing = case.X["color"].isna().to_numpy()
    given = {**inputs(describe(case.model), case.X), "color": case.X[["color"]].fillna("").to_numpy(dtype=object)}
    assert is_missing.any()
    np.testing.assert_allclose(runner(to_onnx(case.model))(given)[0], case.model.predict(case.X), rtol=1e-10)


@pytest.mark.parametrize("labels", [[False, True], [3, 7], [1.0, 2.0], ["no", "yes"]])
def test_labels_keep_their_kind(labels):
    X = numbers()
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    model = RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(X, y)
    found, _ = runner(to_onnx(model))({"X": X})
    np.testing.assert_array_equal(found, model.predict(X))
    assert np.array(found.tolist()).dtype.kind == y.dtype.kind


def test_a_model_without_functions():
    X = numbers()
    model = RelevanceVectorRegressor(kernels("rbf")).fit(X, np.full(len(X), 3.0))
    assert not len(model.active_)
    mean, std = runner(to_onnx(model))({"X": X})
    np.testing.assert_allclose(mean, np.full(len(X), 3.0))
    np.testing.assert_allclose(std, model.predict(X, return_std=True)[1], atol=1e-12)


def test_rows_far_away_and_rows_with_nan():
    X = np.array([[1e200, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.1, 0.2, 0.3]])
    for name in ("rvm-rbf", "rvm-laplacian", "rvm-matern32", "rvm-matern52"):
        case = fitted(name)
        mean, std = runner(to_onnx(case.model))({"X": X})
        expected = case.model.predict(X[[0, 2]], return_std=True)
        np.testing.assert_allclose(mean[[0, 2]], expected[0], rtol=1e-12)
        np.testing.assert_allclose(std[[0, 2]], expected[1], rtol=1e-12)
        assert np.isnan(mean[1])


def test_a_column_with_the_name_of_an_output():
    X = numbers()
    frame = pd.DataFrame(X, columns=["mean", "std", "mean_"])
    model = VBLSRegressor().fit(frame, targets(X))
    converted = to_onnx(model)
    assert [one.name for one in converted.graph.input] == ["mean__", "std_", "mean_"]
    columns = {name: X[:, [place]] for place, name in enumerate(["mean__", "std_", "mean_"])}
    np.testing.assert_allclose(runner(converted)(columns)[0], model.predict(frame), rtol=1e-12)


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    case, path = fitted("rvm-rbf"), tmp_path / "model.onnx"
    path.write_bytes(b"as it was")
    monkeypatch.setitem(TOLERANCES, "double", 0.0)
    with pytest.raises(ExportError, match="nothing was written"):
        to_onnx(case.model, path)
    assert path.read_bytes() == b"as it was"
    monkeypatch.undo()
    model = to_onnx(case.model, path)
    assert path.read_bytes() == model.SerializeToString()
    assert list(tmp_path.iterdir()) == [path]


def test_without_onnxruntime_the_reference_checks(monkeypatch):
    case = fitted("rvm-rbf")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(assembly, "reference_runner", lambda model: lambda given: [np.zeros(len(given["X"]))] * 2)
    with pytest.raises(ExportError, match="differs from Python"):
        to_onnx(case.model)


@pytest.mark.parametrize(("options", "mention"), [({"std": "augmented"}, "std must be"), ({"real": "half"}, "real must be")])
def test_bad_parameters_are_named(options, mention):
    with pytest.raises(ValueError, match=mention):
        to_onnx(fitted("rvm-rbf").model, **options)


@pytest.mark.parametrize("mean", [0.0, 1e-3, 3.0, -40.0, 1e4, -1e200])
@pytest.mark.parametrize("std", [1e-9, 0.7, 30.0, 1e5])
def test_log_odds_keep_their_digits(mean, std):
    graph = Graph(np.dtype(np.float64))
    ports = [Port("m", graph.dtype, 1), Port("s", graph.dtype, 1)]
    found = add_moderated_log_odds(graph, "m", "s")
    model = assembled(graph, ports, {Port("odds", graph.dtype, 1): found}, {})
    m, s = np.array([[mean]]), np.array([[std]])
    np.testing.assert_allclose(runner(model)({"m": m, "s": s})[0], moderated_log_odds(m, s), rtol=1e-12, atol=1e-14)


def test_a_factor_of_nearly_one_is_not_left_out():
    """onnxruntime takes a factor of 1.000000005 for 1."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, (150, 1))
    model = RelevanceVectorPoissonRegressor().fit(X, rng.poisson(np.exp(1 + np.sin(X[:, 0]))))
    model.temperature_ = 1.000000005
    mean, std = runner(to_onnx(model, X=X))({"X": X})
    expected = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-11)
    np.testing.assert_allclose(std, expected[1], rtol=1e-11)


def test_two_kinds_of_missing_text_are_refused_by_name():
    frame = pd.DataFrame({"town": pd.Series(["Bonn", "", None, "Ulm"] * 15, dtype=object), "size": numbers()[:, 0]})
    before = make_column_transformer((OneHotEncoder(), ["town"]), ("passthrough", ["size"]))
    model = make_pipeline(before, VBLSRegressor()).fit(frame, targets(numbers()))
    with pytest.raises(ExportError, match=r"column 'town' has the empty string and missing text .* stands for missing text"):
        to_onnx(model)
    frame.loc[frame["town"] == "", "town"] = np.nan
    with pytest.raises(ExportError, match="column 'town' has NaN and None"):
        to_onnx(model.fit(frame, targets(numbers())))


def test_a_column_without_a_name_has_that_of_its_place():
    table = pd.DataFrame(numbers()[:, :3], columns=["x1", "", "b"])
    converted = to_onnx(VBLSRegressor().fit(table, targets(numbers())))
    assert [one.name for one in converted.graph.input] == ["x1", "x1_", "b"]
