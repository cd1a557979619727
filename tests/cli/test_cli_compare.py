"""`skarce compare`: the table, its JSON, and what it refuses."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from sklearn.linear_model import LinearRegression

from skarce import Outcome, RelevanceVectorRegressor, __version__
from skarce._progress import Lines
from skarce.cli.comparison_table import FIRST_TO_GO, comparison_table
from skarce.comparison import REGRESSION, Method, MethodResult
from skarce.comparison.scores import RegressionScore
from skarce.report.outcome_words import command_line_words
from tests.cli.commands import N_ROWS, REGRESSORS, assert_one_line, rows_of, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


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
    assert notes == ["(a) 1 warning each (ssge-oscillating, svr), the first: Look out."]
    if width != "20":
        show_in = Console(width=int(width), file=io.StringIO())
        show_in.print(table)
        row = next(line for line in show_in.file.getvalue().splitlines() if "ssge" in line)
        assert len(row) <= int(width)
        assert row.split()[:6] == ["ssge-oscillating", "(a)", "0.8123", "±", "0.0000", "0.876"]


def test_compare_shows_its_progress_on_a_terminal(houses, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("skarce._progress.Bars.first", 0.0)
    result = run("compare", "houses.csv", "--target", "price", "--methods", "ridge")
    assert "━" in result.stderr
    assert "5 fits in" in result.stderr
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


def test_each_note_is_there_once_in_words_of_the_command_line():
    fold = RegressionScore(rmse=0.8, r2=0.8, n_functions=123, fit_seconds=0.01, predict_seconds=0.001, coverage=0.95)
    doubt = Outcome.HALF_USED.value
    rule = replace(REGRESSORS["rvm"], chosen_rule="ard")
    results = [
        MethodResult(REGRESSORS["skr"], [fold], warnings=[doubt] * 5),
        MethodResult(REGRESSORS["frvm"], [fold], warnings=[doubt] * 4),
        MethodResult(rule, [fold], warnings=[doubt]),
    ]
    settings = {"data": "a.csv", "n_rows": 9, "n_inputs": 4, "cv": 2, "repeats": 1, "widths": REGRESSORS["frvm"].width_rule}
    table, *notes = comparison_table(results, settings)
    assert list(table.columns[0].cells) == ["skr (a)", "frvm (a)", "rvm (b, a)"]
    assert len(notes) == 2
    assert notes[0].startswith("(a) 1 to 5 warnings each (skr, frvm, rvm), the first: The model uses up more than half of the rows")
    assert notes[1] == "(b) widths: ard"


@pytest.mark.parametrize("outcome", Outcome)
def test_no_advice_needs_python(outcome):
    words = command_line_words(outcome.value)
    parameters = {"max_active", "max_iter", "max_time", "n_basis", "tol", "KernelBasis", "passthrough", "VBLSRegressor", "penalty="}
    assert [name for name in parameters if re.search(rf"(?<![\w-]){name}(?!\w)", words)] == []


def test_our_warnings_become_a_footnote(houses, monkeypatch):
    monkeypatch.setitem(REGRESSORS, "short", Method("short", REGRESSION, "", lambda: RelevanceVectorRegressor("rbf", max_iter=1)))
    result = run("compare", "houses.csv", "--target", "price", "--methods", "short", "--cv", "3")
    assert result.exit_code == 0
    assert "short (a)" in result.stdout
    assert rows_of(result.stdout)["(a)"].startswith("(a) 3 warnings, the first: The fit reached the step limit")


def test_compare_refuses_unknown_methods(houses):
    assert_one_line(
        run("compare", "houses.csv", "--target", "price", "--methods", "frvm,magic"),
        "'magic'",
        "frvm, rvm, fgcv, orr, rfs, ols, kmp, ssge-forward",
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


def test_progress_in_a_file_is_lines_that_name_the_method(houses, monkeypatch):
    due = lambda say, first: Lines(say, clock=lambda: -100.0, first=first)  # noqa: E731  # the first line is due at once
    monkeypatch.setattr("skarce.cli.streamed.progress.Lines", due)
    result = run("compare", "houses.csv", "--target", "price", "--methods", "ridge,frvm", "--cv", "3", "--basis", "rbf")
    assert result.exit_code == 0
    first = result.stderr.splitlines()[0]
    assert first.startswith("Comparing: 0 of 6 fits (0%), ridge, ")
    assert "\x1b" not in result.stderr
