"""The command line, from arguments to files and exit codes."""

import gzip
import inspect
import io
import json
import os
import re
import runpy
import sys
import zipfile
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from rich.console import Console
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline

import skarce.__main__ as entry
from skarce import KernelBasis, Outcome, RelevanceVectorRegressor, __version__
from skarce.cli import app
from skarce.cli.comparison_table import FIRST_TO_GO, comparison_table
from skarce.cli.explanation import active_functions
from skarce.cli.model_file import FORMAT, HEADER, SavedModel, load, save
from skarce.cli.model_schema import allowed_types
from skarce.comparison import METHODS, REGRESSION, Method, MethodResult
from skarce.comparison.scores import RegressionScore
from skarce.comparison.width_rules import Widths
from skarce.datasets.tables import read_table
from skarce.datasets.training import inputs, make_preprocessing, training_data
from skarce.posteriors.posterior import Posterior

N_ROWS = 90
REGRESSORS = METHODS[REGRESSION]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def houses():
    """Numbers, whole numbers, text and booleans; the price depends on all of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(30, 200, N_ROWS).round(1),
            "age": rng.integers(0, 80, N_ROWS),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], N_ROWS),
            "garden": rng.choice([True, False], N_ROWS),
        }
    )
    frame["price"] = 2.0 * frame["size"] - frame["age"] + 50.0 * (frame["town"] == "Bonn") + rng.normal(0, 8, N_ROWS)
    frame.to_csv("houses.csv", index=False)
    return frame


@pytest.fixture
def model(houses):
    assert run("fit", "houses.csv", "--target", "price", "--out", "houses.skops").exit_code == 0
    return "houses.skops"


def run(*arguments):
    separates = "mix_stderr" in inspect.signature(CliRunner).parameters  # click before 8.2
    return (CliRunner(mix_stderr=False) if separates else CliRunner()).invoke(app, arguments)


def assert_one_line(result, *mentions, code=2):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for mention in mentions:
        assert mention in result.stderr


def rows_of(text):
    """The rows of a printed table by their first word, without the letters of notes; a note is found by its own."""
    lines = [re.sub(r"(?<=\S) \([a-z]\)", "", line, count=1) for line in text.splitlines() if line.strip()]
    return {line.split()[0]: line for line in lines}


# Compare ------------------------------------------------------------------------------------------------------------------


def test_compare_table_and_json_tell_the_same(houses):
    result = run("compare", "houses.csv", "--target", "price", "--cv", "3", "--json", "out.json")
    assert result.exit_code == 0, result.output
    content = json.loads(Path("out.json").read_text())
    assert {key: content[key] for key in ("data", "n_rows", "n_inputs", "cv", "repeats", "seed", "version")} == {
        "data": "houses.csv",
        "n_rows": N_ROWS,
        "n_inputs": 4,
        "cv": 3,
        "repeats": 1,
        "seed": 0,
        "version": __version__,
    }
    rows = rows_of(result.stdout)
    errors = [np.mean([fold["rmse"] for fold in method["folds"]]) for method in content["methods"]]
    assert errors == sorted(errors)
    assert [name for name in rows if name in REGRESSORS] == [method["name"] for method in content["methods"]]
    for method, error in zip(content["methods"], errors, strict=True):
        cells = rows[method["name"]].split()
        assert len(method["folds"]) == 3
        assert float(cells[1]) == pytest.approx(error, rel=1e-3)
        assert float(cells[3]) == pytest.approx(np.std([fold["rmse"] for fold in method["folds"]]), abs=0.01)
        assert float(cells[4]) == pytest.approx(np.mean([fold["r2"] for fold in method["folds"]]), abs=6e-4)
        assert float(cells[5]) == pytest.approx(np.mean([fold["n_functions"] for fold in method["folds"]]), abs=0.06)
        covered = [fold["coverage"] for fold in method["folds"]]
        assert cells[-1] == ("-" if covered[0] is None else f"{np.mean(covered):.1%}")


def test_compare_prints_plain_text_within_the_width(houses):
    result = run("compare", "houses.csv", "--target", "price", "--methods", "frvm,ridge")
    assert "\x1b" not in result.stdout + result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert result.stderr.strip() == ""


def test_compare_fits_a_terminal_of_80_columns(houses, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = run("compare", "houses.csv", "--target", "price", "--methods", "frvm,ridge")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "±" in rows_of(result.stdout)["frvm"]
    assert "…" not in result.stdout


@pytest.mark.parametrize(
    ("width", "gone"), [("100", set()), ("80", {"predict"}), ("60", {"predict", "coverage", "fit"}), ("20", set(FIRST_TO_GO))]
)
def test_a_narrow_table_loses_columns_and_no_digits(monkeypatch, width, gone):
    monkeypatch.setenv("COLUMNS", width)
    fold = RegressionScore(rmse=0.8123, r2=0.8765, n_functions=123, fit_seconds=0.0123, predict_seconds=0.0012, coverage=0.951)
    results = [
        MethodResult(REGRESSORS["ssge-oscillating"], [fold, fold], warnings=["Look out."]),
        MethodResult(REGRESSORS["svr"], [fold, fold], warnings=["Look out."]),
    ]
    settings = {"data": "a.csv", "n_rows": 9, "n_inputs": 4, "cv": 2, "repeats": 1, "widths": None}
    table, *notes = comparison_table(results, settings)
    assert {column.header for column in table.columns} == {"method", *(metric.heading for metric in REGRESSION.metrics)} - gone
    assert notes == ["(a) 1 warning, the first: Look out."]
    if width != "20":
        show_in = Console(width=int(width), file=io.StringIO())
        show_in.print(table)
        row = next(line for line in show_in.file.getvalue().splitlines() if "ssge" in line)
        assert len(row) <= int(width)
        assert row.split()[:6] == ["ssge-oscillating", "(a)", "0.8123", "±", "0.0000", "0.876"]


def test_compare_shows_its_progress_on_a_terminal(houses, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("compare", "houses.csv", "--target", "price", "--methods", "ridge")
    assert "━" in result.stderr
    assert "━" not in result.stdout
    assert "\x1b[1;32m" in result.stdout  # the best row


def test_compare_without_a_file_says_what_it_runs_on():
    result = run("compare", "--methods", "ridge", "--cv", "2")
    assert result.exit_code == 0
    assert "diabetes data of scikit-learn" in result.stderr
    assert "diabetes data of scikit-learn: 442 rows, 10 inputs, 2 folds" in result.stdout


def test_compare_depends_on_the_seed_alone(houses):
    def error(*options):
        run("compare", "houses.csv", "--target", "price", "--methods", "frvm", "--json", "out.json", *options)
        return [fold["rmse"] for fold in json.loads(Path("out.json").read_text())["methods"][0]["folds"]]

    assert error() == error("--seed", "0")
    assert error() != error("--seed", "1")
    assert len(error("--repeats", "2")) == 10


def test_a_method_that_raises_does_not_lose_the_others(houses, monkeypatch):
    class Broken(LinearRegression):
        def fit(self, X, y):
            raise FloatingPointError("no\nway " + 100 * "x")

    monkeypatch.setitem(REGRESSORS, "broken", Method("broken", REGRESSION, "", Broken))
    result = run("compare", "houses.csv", "--target", "price", "--methods", "broken,ridge", "--json", "out.json")
    assert result.exit_code == 1
    rows = rows_of(result.stdout)
    assert "±" in rows["ridge"]
    assert set(rows["broken"].split()) == {"broken", "-"}
    assert "broken (a)" in result.stdout
    assert rows["(a)"] == "(a) failed: FloatingPointError: no way " + 100 * "x"
    broken = json.loads(Path("out.json").read_text())["methods"][1]
    assert broken["error"].startswith("FloatingPointError: no\nway")
    assert broken["folds"] == []


def test_our_warnings_become_a_footnote(houses, monkeypatch):
    monkeypatch.setitem(REGRESSORS, "short", Method("short", REGRESSION, "", lambda: RelevanceVectorRegressor("rbf", max_iter=1)))
    result = run("compare", "houses.csv", "--target", "price", "--methods", "short", "--cv", "3")
    assert result.exit_code == 0
    assert "short (a)" in result.stdout
    assert rows_of(result.stdout)["(a)"].startswith("(a) 3 warnings, the first: The fit reached the step limit")


def test_compare_reads_parquet(houses):
    pytest.importorskip("pyarrow")
    houses.to_parquet("houses.parquet")
    by_csv = run("compare", "houses.csv", "--target", "price", "--methods", "ridge")
    by_parquet = run("compare", "houses.parquet", "--target", "price", "--methods", "ridge")
    assert rows_of(by_csv.stdout)["ridge"].split()[:6] == rows_of(by_parquet.stdout)["ridge"].split()[:6]


def test_gzipped_tables_are_read_and_written(houses, model):
    houses.to_csv("houses.csv.gz", index=False)
    assert Path("houses.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    fitted = [run("fit", name, "--target", "price", "--out", "x.skops").stdout for name in ("houses.csv", "houses.csv.gz")]
    assert fitted[0] == fitted[1]
    assert run("compare", "houses.csv.gz", "--target", "price", "--methods", "ridge").exit_code == 0
    plain, gzipped = (run("predict", model, name).stdout for name in ("houses.csv", "houses.csv.gz"))
    assert plain == gzipped
    assert run("predict", model, "houses.csv.gz", "--out", "predicted.csv.gz").exit_code == 0
    assert gzip.decompress(Path("predicted.csv.gz").read_bytes()).decode() == plain


def test_gzipped_tables_that_are_none_or_broken(houses):
    houses.loc[7, "price"] = np.nan
    houses.to_csv("gap.csv.gz", index=False)
    assert_one_line(run("fit", "gap.csv.gz", "--target", "price"), "column 'price' has 1 missing value, in line 9")
    Path("plain.csv.gz").write_text("x,y\n1,2\n")
    assert_one_line(run("fit", "plain.csv.gz", "--target", "y"), "plain.csv.gz cannot be read: Not a gzipped file")
    Path("half.csv.gz").write_bytes(Path("gap.csv.gz").read_bytes()[:200])
    assert_one_line(run("fit", "half.csv.gz", "--target", "y"), "half.csv.gz is not a complete gzip file")


def test_compare_refuses_unknown_methods(houses):
    assert_one_line(
        run("compare", "houses.csv", "--target", "price", "--methods", "frvm,magic"),
        "'magic'",
        "frvm, rvm, fgcv, orr, rfs, ols, ssge-forward",
    )


def test_compare_needs_a_target_for_a_file(houses):
    assert_one_line(run("compare", "houses.csv"), "--target", "size, age, town, garden, price")


def test_compare_refuses_more_folds_than_rows(houses):
    houses.head(4).to_csv("few.csv", index=False)
    assert_one_line(run("compare", "few.csv", "--target", "price"), "4 rows", "5 folds")
    assert run("compare", "few.csv", "--target", "price", "--cv", "4", "--methods", "ridge").exit_code == 0


def test_compare_checks_the_output_before_any_work(houses, monkeypatch):
    monkeypatch.setattr("skarce.cli.comparing.cross_validate", lambda *_: pytest.fail("worked in vain"))
    assert_one_line(run("compare", "houses.csv", "--target", "price", "--json", "no/out.json"), "no/out.json", "does not exist")
    assert_one_line(run("compare", "houses.csv", "--target", "price", "--json", "."), "exists and is not a regular file")
    assert_one_line(run("compare", "houses.csv", "--target", "price", "--json", "houses.csv"), "houses.csv is an input")


# Errors in tables ---------------------------------------------------------------------------------------------------------

BAD_TABLES = {
    "empty": ("", ["is empty"]),
    "blank lines": ("\n\n\n", ["is empty"]),
    "no rows": ("a,y\n", ["no rows"]),
    "close column": ("a,yy\n1,2\n2,3\n", ["no column 'y'", "'yy'"]),
    "unknown column": ("a,height\n1,2\n2,3\n", ["no column 'y'", "'a', 'height'"]),
    "text in the target": ("a,y\n1,2\n2,many\n3,few\n", ["'y'", "line 3", "'many'"]),
    "blank lines count": ("a,y\n\n1,2\n\n2,many\n", ["line 5", "'many'"]),
    "quoted line breaks count": ('a,y\n"x\nz",2\nu,many\n', ["line 4", "'many'"]),
    "missing number": ("a,y\n1,2\n,3\n4,5\nNA,6\n", ["'a'", "2 missing values", "line 3", "fill them or drop the rows"]),
    "missing text": ("a,y\nu,2\nv,3\n,5\n", ["'a'", "1 missing value,", "line 4"]),
    "missing target": ("a,y\n1,2\n2,\n", ["'y'", "1 missing value,", "line 3"]),
    "short row": ("a,b,y\n1,2,3\n1,2\n", ["'y'", "line 3"]),
    "constant target": ("a,y\n1,7\n2,7\n", ["'y'", "same in all rows", "7"]),
    "only column": ("y\n1\n2\n", ["'y'", "only column"]),
    "infinite input": ("a,y\n1,2\n2,3\n-inf,4\n", ["'a'", "infinite", "line 4"]),
    "infinite target": ("a,y\n1,inf\n2,3\n", ["'y'", "infinite", "line 2"]),
    "too large to square": ("a,y\n1,2\n1e200,3\n", ["'a'", "1e+150", "line 3"]),
    "duplicate names": ("a,b,a,y\n1,2,3,4\n", ["Error: bad.csv has more than one column named 'a'"]),
    "long row": ("a,y\n1,2\n1,2,3\n", ["CSV", "line 3"]),
    "long rows": ("a,y\n1,2,3\n1,2,4\n", ["more fields"]),
}


@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize(("content", "mentions"), BAD_TABLES.values(), ids=list(BAD_TABLES))
def test_a_bad_table_is_one_line_that_says_where(command, content, mentions, tmp_path):
    (tmp_path / "bad.csv").write_text(content)
    output = {"fit": "--out", "compare": "--json"}[command]
    assert_one_line(run(command, "bad.csv", "--target", "y", output, "result"), *mentions)
    assert os.listdir() == ["bad.csv"]


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_file_that_is_not_there(command):
    assert_one_line(run(command, "no.csv", "--target", "y"), "no.csv does not exist")
    assert_one_line(run(command, "no.parquet", "--target", "y"), "no.parquet does not exist")


def test_files_that_are_no_tables(tmp_path):
    (tmp_path / "image.csv").write_bytes(b"\x89PNG\xff\xfe\x00")
    (tmp_path / "broken.parquet").write_text("a,y\n1,2\n")
    assert_one_line(run("fit", "image.csv", "--target", "y"), "image.csv")
    assert_one_line(run("fit", ".", "--target", "y"), "directory")
    pytest.importorskip("pyarrow")
    assert_one_line(run("fit", "broken.parquet", "--target", "y"), "Parquet")


def test_parquet_without_pyarrow_says_what_to_install(houses, monkeypatch, tmp_path):
    (tmp_path / "houses.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "fastparquet", None)
    assert_one_line(run("fit", "houses.parquet", "--target", "price"), "pyarrow", "skarce[parquet]")


def test_dates_are_refused_as_inputs(houses):
    pytest.importorskip("pyarrow")
    houses.assign(sold=pd.Timestamp("2020-01-01")).to_parquet("dates.parquet")
    assert_one_line(run("fit", "dates.parquet", "--target", "price"), "'sold'", "datetime")


def test_a_typo_in_a_column_of_numbers_is_noted(houses):
    sizes = houses["size"].astype(str)
    houses.assign(size=sizes.where(houses.index != 6, "12,5")).to_csv("typo.csv", index=False)
    result = run("fit", "typo.csv", "--target", "price")
    assert result.exit_code == 0
    assert "'size' is treated as text, because 1 of its 90 values is not a number: '12,5' in line 8" in result.stderr


def test_a_wrong_option_is_one_line(houses):
    assert_one_line(run("fit", "houses.csv"), "--target")
    assert_one_line(run("compare", "--cv", "1"), "--cv")
    assert_one_line(run("boost"), "boost")


# Fit, predict, explain ----------------------------------------------------------------------------------------------------


def test_fit_reports_what_came_out(houses):
    result = run("fit", "houses.csv", "--target", "price", "--out", "m.skops")
    assert result.exit_code == 0, result.output
    fitted = load(Path("m.skops")).regressor
    rows = rows_of(result.stdout)
    assert Outcome.CONVERGED.value in rows["outcome"]
    assert f"{len(fitted.active_)} of {N_ROWS} candidates" in rows["functions"]
    assert float(rows["noise"].split()[1]) == pytest.approx(fitted.noise_variance_**0.5, rel=1e-4)
    assert 0.9 < float(rows["R2"].split()[1]) <= 1.0
    assert rows["written"].split()[-1] == "m.skops"


def test_fit_and_explain_show_the_penalty(houses):
    result = run("fit", "houses.csv", "--target", "price", "--method", "skr", "--out", "m.skops")
    fitted = load(Path("m.skops")).regressor
    for shown in (rows_of(result.stdout), rows_of(run("explain", "m.skops").stdout)):
        assert float(shown["penalty"].split()[1]) == pytest.approx(fitted.penalty_, rel=1e-3)
        assert "by GCV, degrees of freedom 'hat'" in shown["penalty"]
    run("fit", "houses.csv", "--target", "price", "--out", "m.skops")
    assert "penalty" not in rows_of(run("explain", "m.skops").stdout)


def test_fit_takes_our_own_methods_only(houses):
    assert run("fit", "houses.csv", "--target", "price", "--method", "rvm", "--out", "m.skops").exit_code == 0
    assert load(Path("m.skops")).regressor.solver == "em"
    assert_one_line(run("fit", "houses.csv", "--target", "price", "--method", "svr"), "'svr' is a rival", "frvm, rvm")
    assert_one_line(run("fit", "houses.csv", "--target", "price", "--method", "magic"), "'magic'", "frvm, rvm")
    assert not os.path.exists("model.skops")


def test_fit_that_stops_early_says_so_as_its_outcome(houses, monkeypatch):
    monkeypatch.setitem(REGRESSORS, "frvm", Method("frvm", REGRESSION, "", lambda: RelevanceVectorRegressor("rbf", max_iter=1)))
    result = run("fit", "houses.csv", "--target", "price")
    assert result.exit_code == 0
    assert "step limit" in rows_of(result.stdout)["outcome"]
    assert load(Path("model.skops")).regressor.outcome_ is Outcome.STEP_LIMIT


def test_a_fit_that_fails_is_one_line(houses, monkeypatch):
    monkeypatch.setitem(REGRESSORS, "frvm", Method("frvm", REGRESSION, "", lambda: RelevanceVectorRegressor("rbf", tol=-1.0)))
    assert_one_line(run("fit", "houses.csv", "--target", "price"), "frvm cannot be fitted", "tol must be at least 0")
    assert not os.path.exists("model.skops")


def test_the_saved_model_is_the_one_in_memory(houses, model):
    training = training_data(read_table(Path("houses.csv")), "price")
    pipeline = Pipeline([("preprocessing", make_preprocessing(training.kinds)), ("model", RelevanceVectorRegressor())])
    pipeline.fit(training.X, training.y)
    saved = load(Path(model))
    assert (saved.target, saved.version) == ("price", __version__)
    assert saved.columns == {"size": "number", "age": "number", "town": "text", "garden": "number"}
    assert saved.regressor.outcome_ is Outcome.CONVERGED
    assert isinstance(saved.regressor.posterior_, Posterior)
    assert saved.regressor.posterior_.outcome is Outcome.CONVERGED
    assert saved.regressor.trace_.dtype == pipeline[-1].trace_.dtype
    for mine, theirs in zip(
        pipeline.predict(training.X, return_std=True), saved.pipeline.predict(training.X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_saving_leaves_the_fitted_model_alone(houses):
    training = training_data(read_table(Path("houses.csv")), "price")
    pipeline = Pipeline([("preprocessing", make_preprocessing(training.kinds)), ("model", RelevanceVectorRegressor("rbf"))])
    pipeline.fit(training.X, training.y)
    save(SavedModel(pipeline, "price", training.kinds, __version__), Path("m.skops"))
    assert pipeline[-1].outcome_ is Outcome.CONVERGED
    assert pipeline[-1].posterior_.outcome is Outcome.CONVERGED


def test_predict_adds_mean_and_std_to_the_table_as_it_is(houses, model, tmp_path):
    (tmp_path / "new.csv").write_text("id,garden,town,size,age\n007,True,Ulm,120.50,3\n008,False,Rome,60,40\n")
    result = run("predict", model, "new.csv", "--out", "predictions.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    text = Path("predictions.csv").read_text()
    assert text == run("predict", model, "new.csv").stdout
    lines = text.splitlines()
    assert lines[0] == "id,garden,town,size,age,price_mean,price_std"
    assert lines[1].startswith("007,True,Ulm,120.50,3,")
    saved = load(Path(model))
    mean, std = saved.pipeline.predict(inputs(read_table(Path("new.csv")), saved.columns), return_std=True)
    np.testing.assert_allclose([[float(cell) for cell in line.split(",")[-2:]] for line in lines[1:]], np.c_[mean, std])
    assert (std > 0.0).all()


def test_texts_that_look_like_numbers_stay_texts(tmp_path):
    codes = ["1", "02", "x"] * 20
    noise = np.random.default_rng(0).normal(size=60)
    targets = [{"1": 0.0, "02": 30.0, "x": 10.0}[code] + 0.1 * e for code, e in zip(codes, noise, strict=True)]
    pd.DataFrame({"code": codes, "y": targets}).to_csv("codes.csv", index=False)
    assert run("fit", "codes.csv", "--target", "y").exit_code == 0
    (tmp_path / "new.csv").write_text("code\n1\n02\n")
    lines = run("predict", "model.skops", "new.csv").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["1", "02"]
    np.testing.assert_allclose([float(line.split(",")[1]) for line in lines], [0.0, 30.0], atol=0.5)


def test_booleans_predict_as_zeros_and_ones(houses, model):
    new = houses.drop(columns="price").head(4)
    new.to_csv("true.csv", index=False)
    new.astype({"garden": int}).to_csv("one.csv", index=False)
    stds = [[line.split(",")[-2:] for line in run("predict", model, name).stdout.splitlines()] for name in ("true.csv", "one.csv")]
    assert stds[0] == stds[1]


def test_predict_says_what_is_wrong_with_the_data(houses, model):
    houses.drop(columns=["age", "town"]).to_csv("narrow.csv", index=False)
    assert_one_line(run("predict", model, "narrow.csv"), "'age', 'town'")
    houses.assign(age="old").to_csv("words.csv", index=False)
    assert_one_line(run("predict", model, "words.csv"), "'age'", "line 2", "'old'")
    houses.assign(town=houses["town"].where(houses.index != 3)).to_csv("gaps.csv", index=False)
    assert_one_line(run("predict", model, "gaps.csv"), "'town'", "line 5")
    houses.assign(price_std=1.0).to_csv("again.csv", index=False)
    assert_one_line(run("predict", model, "again.csv"), "'price_std'")
    assert_one_line(run("predict", model, "houses.csv", "--out", "houses.csv"), "houses.csv is an input")
    assert_one_line(run("predict", model, "houses.csv", "--out", "p.parquet"), "CSV")


def test_explain_shows_the_functions_in_original_units(houses, model):
    result = run("explain", model, "--all")
    assert result.exit_code == 0, result.output
    saved = load(Path(model))
    regressor, functions = saved.regressor, active_functions(saved)
    rows = houses.iloc[functions["candidate"]]
    assert list(functions) == ["candidate", "size", "age", "town", "garden", "weight", "std error", "relevance"]
    assert sorted(functions["candidate"]) == list(regressor.active_)
    assert functions["relevance"].is_monotonic_decreasing
    np.testing.assert_allclose(functions["size"], rows["size"])
    np.testing.assert_allclose(functions["garden"].astype(float), rows["garden"])
    assert list(functions["town"]) == list(rows["town"])
    order = np.searchsorted(regressor.active_, functions["candidate"])
    np.testing.assert_allclose(functions["weight"], regressor.coef_[order])
    np.testing.assert_allclose(functions["std error"] ** 2, np.diag(regressor.posterior_.covariance)[order])
    shown = rows_of(result.stdout)
    assert all(str(candidate) in shown for candidate in functions["candidate"])
    assert str(len(regressor.trace_)) in shown
    assert f"of {N_ROWS} candidates" in shown["functions"]
    assert float(shown["log"].split()[-1]) == pytest.approx(regressor.criterion_, rel=1e-5)
    assert float(shown["intercept"].split()[-1]) == pytest.approx(regressor.intercept_, rel=1e-5)
    assert Outcome.CONVERGED.value in shown["outcome"]


def test_explain_shows_twenty_functions_unless_asked_for_all(monkeypatch):
    monkeypatch.setitem(REGRESSORS, "frvm", Method("frvm", REGRESSION, "", lambda: RelevanceVectorRegressor("passthrough")))
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(120, 26)), columns=[f"input_{letter}" for letter in ascii_lowercase])
    table.assign(y=table.sum(axis=1) + 0.01 * rng.normal(size=120)).to_csv("wide.csv", index=False)
    assert run("fit", "wide.csv", "--target", "y").exit_code == 0
    short, long = run("explain", "model.skops").stdout, run("explain", "model.skops", "--all").stdout
    assert short.count("input_") == 20
    assert "6 more; use --all to see them" in short
    assert long.count("input_") == 26
    assert "--all" not in long


def test_explain_writes_many_inputs_into_one_column():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.uniform(-1, 1, (60, 8)), columns=[f"input{i}" for i in range(8)])
    table.assign(y=10.0 * table["input0"], input7="word").to_csv("wide.csv", index=False)
    assert run("fit", "wide.csv", "--target", "y").exit_code == 0
    n_active = len(load(Path("model.skops")).regressor.active_)
    assert n_active > 0
    shown = run("explain", "model.skops", "--all").stdout
    assert shown.count("input0=") == shown.count("input7=word") == n_active
    assert max(map(len, shown.splitlines())) <= 100


def test_explain_says_how_far_back_an_undo_goes(houses):
    run("fit", "houses.csv", "--target", "price", "--method", "ssge-oscillating", "--out", "searched.skops")
    trace = load(Path("searched.skops")).regressor.trace_
    assert trace["action"][-1] == "undo"
    last = run("explain", "searched.skops").stdout.rstrip().splitlines()[-1]
    assert last.split()[:5] == [str(len(trace)), "undo", str(trace["index"][-1]), "steps", "back"]


def test_twenty_widths_are_listed_at_most_and_the_narrowest(monkeypatch):
    gamma = np.linspace(0.01, 1.0, 23)
    method = Method("many", REGRESSION, "", lambda: RelevanceVectorRegressor(KernelBasis(gamma=gamma)), Widths("given"))
    monkeypatch.setitem(REGRESSORS, "many", method)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 23)), columns=[f"x{place}" for place in range(23)])
    frame.assign(y=frame["x0"] + 0.1 * frame["x1"]).to_csv("many.csv", index=False)
    for result in (run("fit", "many.csv", "--target", "y", "--method", "many"), run("explain", "model.skops")):
        assert result.exit_code == 0, result.output
        words = " ".join(result.stdout.split())
        assert "x22 1," in words
        assert "x3 0.145, and 3 wider ones" in words


@pytest.mark.parametrize("rule", ["cv", "ard"])
def test_fit_prints_the_width_it_chose(houses, rule):
    result = run("fit", "houses.csv", "--target", "price", "--widths", rule, "--out", "x.skops")
    assert result.exit_code == 0, result.output
    gamma = np.max(load(Path("x.skops")).regressor.basis_.gamma_)
    assert f"{gamma:.3g}"[:4] in rows_of(result.stdout)["kernel"]


def test_fit_says_where_widths_are_not_for_the_method(houses):
    result = run("fit", "houses.csv", "--target", "price", "--method", "gps-u", "--widths", "ard", "--out", "x.skops")
    assert result.exit_code == 2
    assert "--widths ard is not for --method gps-u" in " ".join(result.stderr.split())
    assert not Path("x.skops").exists()


def test_explain_says_which_evidence_it_is(houses, model):
    run("fit", "houses.csv", "--target", "price", "--method", "ssge-forward", "--out", "searched.skops")
    plain, searched = (run("explain", name).stdout for name in (model, "searched.skops"))
    assert "log evidence" in plain
    assert "two more terms" in " ".join(searched.split())
    assert "two terms" not in plain


def test_explain_names_the_inputs_of_a_linear_model(houses, monkeypatch):
    monkeypatch.setitem(REGRESSORS, "frvm", Method("frvm", REGRESSION, "", lambda: RelevanceVectorRegressor("passthrough")))
    assert run("fit", "houses.csv", "--target", "price").exit_code == 0
    functions = active_functions(load(Path("model.skops"))).set_index("function")
    assert functions.loc["size", "weight"] == pytest.approx(2.0 * houses["size"].std(ddof=0), rel=0.1)
    assert "town_Bonn" in functions.index
    assert "town_Bonn" in run("explain", "model.skops").stdout


def test_explain_a_model_without_functions(tmp_path):
    rng = np.random.default_rng(4)
    pd.DataFrame({"a": rng.normal(size=40), "y": rng.normal(size=40)}).to_csv("noise.csv", index=False)
    assert run("fit", "noise.csv", "--target", "y", "--basis", "rbf").exit_code == 0
    result = run("explain", "model.skops")
    assert result.exit_code == 0, result.output
    assert "0 of 40 candidates" in result.stdout
    assert "No candidate explains the target" in result.stdout


# Files that are not to be trusted -----------------------------------------------------------------------------------------


class Stranger:
    """A type that skops knows nothing of."""


def dump_as_model(content, path):
    """Write a file that says it is a model of this version."""
    skops.io.dump(content, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(HEADER, json.dumps({"format": FORMAT}))


def test_a_file_with_foreign_types_is_refused(houses):
    dump_as_model({"pipeline": Stranger(), "target": "y", "columns": {}, "version": "0"}, "evil.skops")
    for command in (["explain", "evil.skops"], ["predict", "evil.skops", "houses.csv"]):
        assert_one_line(run(*command), "evil.skops", f"{__name__}.Stranger", "does not trust")


def test_a_tampered_model_is_refused(model):
    with zipfile.ZipFile(model) as saved:
        parts = {name: saved.read(name) for name in saved.namelist()}
    harmless = b'"__class__": "RelevanceVectorRegressor",\n'
    assert harmless in parts["schema.json"].replace(b"\r", b"")
    schema = parts["schema.json"].replace(b'"RelevanceVectorRegressor"', b'"warnings"')
    schema = schema.replace(b"skarce.estimators.relevance_vector", b"skarce.estimators.base")
    with zipfile.ZipFile(model, "w") as tampered:
        for name, content in {**parts, "schema.json": schema}.items():
            tampered.writestr(name, content)
    assert_one_line(run("explain", model), "skarce.estimators.base.warnings", "does not trust")


@pytest.mark.parametrize(
    ("name", "trusted"),
    [
        ("skarce.posteriors.posterior.Posterior", True),
        ("skarce.basis.kernel_basis.KernelBasis", True),
        ("skarce.estimators.base.KernelBasis", False),  # imported there, not defined
        ("skarce.cli.model_file.import_module", False),
        ("skarce.comparison.registry.find_methods", False),  # a function
        ("skarce.nowhere.Posterior", False),
        ("skarcely.Posterior", False),
        ("os.system", False),
    ],
)
def test_only_classes_that_skarce_defines_are_trusted(name, trusted):
    assert (name in allowed_types()["ObjectNode"]) is trusted


def test_files_that_are_no_models(houses, model, tmp_path):
    assert_one_line(run("explain", "houses.csv"), "houses.csv is not a model")
    assert_one_line(run("explain", "no.skops"), "no.skops does not exist")
    assert_one_line(run("explain", "."), "not a file")
    skops.io.dump({"pipeline": LinearRegression()}, "other.skops")
    assert_one_line(run("predict", "other.skops", "houses.csv"), "other.skops has no format number")
    dump_as_model({"pipeline": LinearRegression()}, "other.skops")
    assert_one_line(run("predict", "other.skops", "houses.csv"), "other.skops is refused", "LinearRegression")
    dump_as_model({"pipeline": 1}, "other.skops")
    assert_one_line(run("predict", "other.skops", "houses.csv"), "other.skops is not a complete model")
    (tmp_path / "half.skops").write_bytes(Path(model).read_bytes()[:500])
    assert_one_line(run("explain", "half.skops"), "half.skops is not a model")


# Interrupts and the entry point -------------------------------------------------------------------------------------------


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("skarce.cli.comparing.cross_validate", ["compare", "houses.csv", "--target", "price", "--json", "result"]),
        (
            "skarce.cli.whole_file.os.replace",
            ["compare", "houses.csv", "--target", "price", "--methods", "ridge", "--json", "result"],
        ),
        ("skarce.cli.whole_file.os.replace", ["fit", "houses.csv", "--target", "price", "--out", "result"]),
        ("skarce.cli.whole_file.os.replace", ["predict", "houses.skops", "houses.csv", "--out", "result"]),
    ],
)
def test_an_interrupt_leaves_no_file_behind(model, monkeypatch, place, arguments):
    monkeypatch.setattr(place, interrupt)
    before = sorted(os.listdir())
    result = run(*arguments)
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr
    assert sorted(os.listdir()) == before


def test_an_interrupt_leaves_the_former_result_as_it_was(houses, model, monkeypatch):
    former = Path(model).read_bytes()
    monkeypatch.setattr("skarce.cli.whole_file.os.replace", interrupt)
    houses.assign(price=-houses["price"]).to_csv("other.csv", index=False)
    assert run("fit", "other.csv", "--target", "price", "--out", model).exit_code == 130
    assert Path(model).read_bytes() == former


def test_a_full_disk_is_one_line(houses, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skarce.cli.whole_file.os.replace", full)
    assert_one_line(run("fit", "houses.csv", "--target", "price"), "model.skops cannot be written: No space left")
    assert os.listdir() == ["houses.csv"]


@pytest.mark.parametrize("command", ["compare", "fit", "predict", "explain", "reproduce"])
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n    skarce {command}" in result.stdout
    assert command in run("--help").stdout


@pytest.mark.parametrize("name", entry.NEEDED)
def test_the_entry_point_says_what_to_install(name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit) as stopped:
        entry.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"Error: the command line needs {name}: install skarce[cli].\n"


def test_the_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skarce", "--version"])
    monkeypatch.delitem(sys.modules, "skarce.__main__")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("skarce", run_name="__main__", alter_sys=True)
    assert stopped.value.code == 0
    assert __version__ in capsys.readouterr().out
