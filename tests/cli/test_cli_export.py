"""skarce export, and fits within a number of bytes."""

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.commands import assert_one_line, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def test_a_model_becomes_a_header(model):
    result = run("export", model, "houses.csv", "--format", "c", "--out", "my houses.h")
    assert result.exit_code == 0, result.output
    assert "bytes of flash" in result.stdout
    text = Path("my houses.h").read_text()
    assert "void my_houses_predict(" in text
    assert "MY_HOUSES_TOWN_BONN" in text


def test_probabilities_have_errors_of_1(houses):
    assert run("fit", "houses.csv", "--target", "garden", "--method", "vbls", "--out", "classes.skops").exit_code == 0
    stdout = run("export", "classes.skops", "--out", "classes.h").stdout
    assert re.search(r"largest error .* \S+ of 1\b", stdout)
    assert "std of the target" not in stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_header_predicts_what_the_command_line_predicts(model, houses):
    assert run("export", model, "--out", "house.h", "--real", "double").exit_code == 0
    assert run("predict", model, "houses.csv", "--out", "predicted.csv").exit_code == 0
    size, age, town, garden = houses.iloc[3][["size", "age", "town", "garden"]]
    Path("main.c").write_text(
        '#include <stdio.h>\n#include "house.h"\nint main(void) {\n'
        f"    double x[4] = {{ {size}, {age}, HOUSE_TOWN_{town.upper()}, {int(garden)} }}, mean[1], std[1];\n"
        '    house_predict(x, mean, std);\n    printf("%.17g %.17g", mean[0], std[0]);\n    return 0;\n}\n'
    )
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "main.c", "-o", "house"], check=True)
    mean, std = map(float, subprocess.run(["./house"], capture_output=True, text=True, check=True).stdout.split())
    row = pd.read_csv("predicted.csv").iloc[3]
    assert mean == pytest.approx(row["price_mean"], rel=1e-9)
    assert std == pytest.approx(row["price_std"], rel=1e-9)


@pytest.mark.parametrize("ending", ["h", "onnx"])
def test_where_an_export_was_checked(model, houses, ending):
    """Kernels keep rows of their training; models on columns do not, and the command says how to name some."""
    if ending == "onnx":
        pytest.importorskip("onnx")
    kept = run("export", model, "--out", f"kept.{ending}")
    assert "training rows in the model" in " ".join(kept.stdout.split()), kept.output
    assert run("fit", "houses.csv", "--target", "price", "--method", "vbls", "--out", "linear.skops").exit_code == 0
    words = " ".join(run("export", "linear.skops", "--out", f"none.{ending}").stdout.split())
    assert "200 random points, no training rows" in words
    assert "DATA to skarce export" in words
    given = " ".join(run("export", "linear.skops", "houses.csv", "--out", f"given.{ending}").stdout.split())
    assert "no training rows" not in given
    assert " given rows" in given


def test_a_fit_within_bytes(houses):
    result = run("fit", "houses.csv", "--target", "price", "--method", "ols", "--basis", "rbf", "--max-bytes", "400")
    assert result.exit_code == 0, result.output
    assert "of at most 400" in result.stdout
    assert run("export", "model.skops", "--out", "model.h").exit_code == 0


@pytest.mark.parametrize("gaps", ["drop", "fill"])
def test_the_bytes_of_a_fit_are_those_of_its_export(houses, gaps):
    """Filling of missing text is a table, too."""
    houses.loc[3, "town"] = None
    houses.to_csv("gaps.csv", index=False)
    options = ("--missing", gaps, "--method", "ols", "--basis", "rbf", "--max-bytes", "600")
    fitted = run("fit", "gaps.csv", "--target", "price", *options)
    assert fitted.exit_code == 0, fitted.output
    exported = run("export", "model.skops", "--out", "model.h")
    n_bytes = re.search(r"C tables\s+(\d+) bytes of at most 600", fitted.stdout)[1]
    assert re.search(r"tables\s+(\d+) bytes", exported.stdout)[1] == n_bytes


def test_what_cannot_be_is_one_line(model):
    assert_one_line(run("export", model, "--out", "no/model.h"), "the folder")
    assert_one_line(run("export", "houses.csv", "--out", "model.h"), "houses.csv")
    assert_one_line(run("fit", "houses.csv", "--target", "price", "--max-bytes", "4"), "one function takes")
    assert not Path("model.h").exists()


def test_the_end_of_the_file_says_the_format(model):
    assert_one_line(run("export", model, "--format", "onnx", "--out", "model.h"), "contradict each other")
    assert_one_line(run("export", model, "--format", "c", "--out", "model.onnx"), "contradict each other")
    assert not Path("model.onnx").exists()
    result = run("export", model, "--out", "model.onnx", "--name", "house")
    assert "--name is for --format c" in result.stderr
    assert not Path("model.onnx").exists()


def test_a_bad_name_is_not_the_fault_of_the_model(model):
    result = run("export", model, "--out", "model.h", "--name", "int")
    assert result.exit_code == 2
    assert "--name must be a name of C" in result.stderr


def test_a_limit_that_is_too_small_is_said_in_words_of_the_command_line(houses):
    result = run("fit", "houses.csv", "--target", "price", "--max-bytes", "4")
    assert_one_line(result, "one function takes", "Use fewer inputs, or a larger limit")
    assert "std=" not in result.stderr


def test_refusals_name_options_of_the_command_line(houses):
    houses["price"] += 1e9
    houses.to_csv("far.csv", index=False)
    assert run("fit", "far.csv", "--target", "price", "--method", "vbls").exit_code == 0
    result = run("export", "model.skops", "--out", "far.h", "--real", "float")
    assert_one_line(result, "Use --real double", "The target is about 1e+09")
    assert "real=" not in result.stderr
    result = run("export", "model.skops", "--out", "far.h", "--std", "augmented")
    assert_one_line(result, "Use --std plain")
    assert "std=" not in result.stderr
    result = run("fit", "far.csv", "--target", "price", "--basis", "rbf", "--max-bytes", "3000")
    assert "real=" not in result.output
    assert "std=" not in result.output


def test_a_fit_within_bytes_in_another_type(houses):
    arguments = ("fit", "houses.csv", "--target", "price", "--method", "ols", "--basis", "rbf", "--max-bytes", "700")
    results = [run(*arguments, "--real", real) for real in ("float", "double")]
    assert [result.exit_code for result in results] == [0, 0]
    assert run("export", "model.skops", "--out", "model.h", "--real", "double").exit_code == 0
    result = run("fit", "houses.csv", "--target", "price", "--real", "double")
    assert result.exit_code == 2
    assert "--max-bytes" in result.stderr


@pytest.fixture
def filled(houses):
    houses.loc[::7, "town"] = None
    houses.loc[::7, "price"] += 40.0
    houses.loc[::11, "size"] = None
    houses.to_csv("gaps.csv", index=False)
    assert run("fit", "gaps.csv", "--target", "price", "--method", "vbls", "--missing", "fill").exit_code == 0
    rows = houses.iloc[[0, 1, 11]]
    rows.to_csv("rows.csv", index=False)
    assert run("predict", "model.skops", "rows.csv", "--out", "predicted.csv").exit_code == 0
    return rows, pd.read_csv("predicted.csv")["price_mean"].to_numpy()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_nan_is_missing_text_if_the_model_fills_gaps(filled):
    rows, expected = filled
    assert run("export", "model.skops", "gaps.csv", "--out", "house.h", "--real", "double").exit_code == 0
    assert "Missing text is NaN, or HOUSE_TOWN_IF_MISSING" in Path("house.h").read_text()
    cells = [
        f"{{ {'NAN' if pd.isna(row['size']) else row['size']}, {row.age}, "
        f"{'NAN' if pd.isna(row.town) else f'HOUSE_TOWN_{row.town.upper()}'}, {int(row.garden)} }}"
        for _, row in rows.iterrows()
    ]
    Path("main.c").write_text(
        '#include <math.h>\n#include <stdio.h>\n#include "house.h"\nint main(void) {\n'
        f"    double x[3][4] = {{ {', '.join(cells)} }}, mean[1];\n    int i;\n"
        '    for (i = 0; i < 3; ++i) { house_predict(x[i], mean, 0); printf("%.17g\\n", mean[0]); }\n    return 0;\n}\n'
    )
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "main.c", "-o", "house"], check=True)
    found = [float(line) for line in subprocess.run(["./house"], capture_output=True, text=True, check=True).stdout.split()]
    assert found == pytest.approx(expected.tolist(), rel=1e-9)


def test_the_empty_text_is_missing_text_in_onnx_if_the_model_fills_gaps(filled):
    pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    rows, expected = filled
    assert run("export", "model.skops", "--out", "house.onnx").exit_code == 0
    feeds = {name: rows[[name]].to_numpy(dtype=float) for name in ("size", "age", "garden")}
    feeds["town"] = rows[["town"]].fillna("").to_numpy(dtype=object)
    mean = ReferenceEvaluator("house.onnx").run(["mean"], feeds)[0]
    assert mean.ravel().tolist() == pytest.approx(expected.tolist(), rel=1e-9)
