"""`skarce export --format onnx`: what it writes predicts what `skarce predict` does."""

import sys

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import assert_one_line, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def test_an_onnx_model_takes_the_columns_of_the_table(houses, model):
    onnxruntime = pytest.importorskip("onnxruntime", reason='this test runs an ONNX model: pip install "skarce[export-test]"')
    pytest.importorskip("onnx")
    result = run("export", model, "--format", "onnx", "--out", "houses.onnx")
    assert result.exit_code == 0, result.output
    assert "mean, std" in result.stdout
    session = onnxruntime.InferenceSession("houses.onnx")
    columns = {name: houses[[name]] for name in ("size", "age", "town", "garden")}
    text = {name for name, column in columns.items() if column.dtypes.iloc[0].kind not in "iufb"}
    assert text == {"town"}
    found = session.run(
        ["mean", "std"], {name: column.to_numpy(dtype=object if name in text else float) for name, column in columns.items()}
    )
    houses.drop(columns="price").to_csv("new.csv", index=False)
    assert run("predict", model, "new.csv", "--out", "predicted.csv").exit_code == 0
    predicted = pd.read_csv("predicted.csv")
    for own, expected in zip(found, (predicted.iloc[:, -2], predicted.iloc[:, -1]), strict=True):
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-9 * houses["price"].std())


def test_without_onnx_the_user_is_told_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert_one_line(run("export", model, "--format", "onnx", "--out", "houses.onnx"), "pip install", "skarce[onnx]")


def test_an_output_that_cannot_be_written_is_refused(model):
    assert_one_line(run("export", model, "--format", "onnx", "--out", "nowhere/houses.onnx"), "nowhere")
    assert_one_line(run("export", model, "--format", "onnx", "--out", model), "is an input")


@pytest.mark.parametrize("options", [("--name", "house"), ("--std", "augmented")])
def test_options_of_c_are_refused(model, options):
    result = run("export", model, "--format", "onnx", "--out", "houses.onnx", *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr
    assert "is for --format c" in result.stderr
