"""`skarce compare --report` and `skarce explain --report`: pages that are sound, complete, and written whole or not at all."""

import json
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman3

from skarce.cli.model_file import load
from skarce.comparison import METHODS, REGRESSION, Method
from skarce.inspection.functions import ranked_functions
from skarce.report.provenance import fingerprint
from tests.cli.commands import REGRESSORS, assert_one_line, run
from tests.report.pages import assert_sound

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")
QUICK = ("--basis", "rbf", "--cv", "3")
NASTY = "</title><script>alert(1)</script>"


@pytest.fixture
def nasty():
    """Names and texts that would be code in a careless page."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({NASTY: rng.normal(size=60), "b|`c`": rng.choice(["<b>x</b>", '"&amp;'], 60)})
    frame["count"] = rng.poisson(np.exp(1.0 + 0.5 * frame[NASTY]))
    frame["number"] = frame[NASTY] + 0.3 * rng.normal(size=60)
    frame["class"] = np.where(frame["number"] > 0, "<i>yes</i>", "no & never")
    frame.to_csv("nasty.csv", index=False)
    return frame


@pytest.mark.parametrize(
    ("target", "options", "methods", "sections"),
    [
        ("number", (), "frvm,vbls,ridge", ["RMSE", "log score", "Coverage of intervals", "Errors over their std"]),
        ("class", (), "frvm,logistic", ["accuracy", "Brier", "Probabilities and frequencies", "predicted as <i>yes</i>"]),
        ("count", ("--task", "counts"), "frvm,poisson", ["deviance", "D2", "log score", "Coverage of intervals"]),
    ],
)
def test_the_page_is_sound_whatever_the_table_holds(nasty, target, options, methods, sections):
    others = ",".join({"number", "class", "count"} - {target})
    named = ("--target", target, "--exclude", others, "--methods", methods, *options, *QUICK)
    result = run("compare", "nasty.csv", *named, "--report", "r.html", "--markdown", "r.md", "--json", "r.json")
    assert result.exit_code == 0, result.output
    text = Path("r.html").read_text(encoding="utf-8")
    page = assert_sound(text)
    assert len(page.named("script")) == 1
    assert not page.named("b")
    assert NASTY in page.text
    for word in ("predicts", "Reused test rows", "Inputs that matter", "Where this comes from", *sections):
        assert word in page.text
    assert all(svg["role"] == "img" for svg in page.named("svg"))
    report = json.loads(Path("r.json").read_text())["report"]
    assert report["verdict"]["sentence"] in page.text
    assert fingerprint(pd.read_csv("nasty.csv")) in report["provenance"]["data"]
    markdown = Path("r.md").read_text(encoding="utf-8")
    assert "<script>" not in markdown.replace("`", "").split("## Where")[0].replace("\\<", "")
    assert markdown.startswith(f"# {target}: ")


def test_commands_of_the_page_write_the_model_as_c(houses):
    """They are run as they stand there, and the header has as many bytes of tables as the page says."""
    options = ("--target", "price", "--methods", "frvm,ridge", "--exclude", "age", *QUICK)
    result = run("compare", "houses.csv", *options, "--report", "r.html", "--json", "r.json", "--markdown", "r.md")
    assert result.exit_code == 0, result.output
    export = json.loads(Path("r.json").read_text())["report"]["export"]
    assert len(export["commands"]) == 2
    for command in export["commands"]:
        program, *arguments = shlex.split(command)
        assert program == "skarce"
        done = run(*arguments)
        assert done.exit_code == 0, done.output
    assert f"Flash: {export['bytes']} bytes of tables" in Path("model.h").read_text()
    page, markdown = assert_sound(Path("r.html").read_text(encoding="utf-8")), Path("r.md").read_text(encoding="utf-8")
    for text in (page.text, markdown):
        assert f"{export['bytes']:,} bytes of constant tables" in text
        assert all(command in text for command in export["commands"])
    assert "in C" in markdown.split("## Methods")[1]


def test_commands_of_the_page_ask_for_double_if_float_is_not_precise_enough():
    X, y = make_friedman3(200, noise=0.1, random_state=0)
    pd.DataFrame(X, columns=list("abcd")).assign(y=1e4 + y).to_csv("offset.csv", index=False)
    options = ("--target", "y", "--methods", "vbls", "--cv", "3")
    assert run("compare", "offset.csv", *options, "--report", "r.html", "--json", "r.json").exit_code == 0
    export = json.loads(Path("r.json").read_text())["report"]["export"]
    assert export["real"] == "double"
    assert export["commands"][1].endswith("--real double")
    for command in export["commands"]:
        assert run(*shlex.split(command)[1:]).exit_code == 0
    assert f"Flash: {export['bytes']} bytes of tables" in Path("model.h").read_text()
    assert "Float is not precise enough for it." in assert_sound(Path("r.html").read_text(encoding="utf-8")).text
    assert run("explain", "model.skops", "--report", "m.html", "--json", "m.json").exit_code == 0
    assert json.loads(Path("m.json").read_text())["export"]["commands"][0].endswith("--real double")


def test_data_without_a_file_have_no_commands():
    assert run("compare", "--methods", "frvm", *QUICK, "--json", "r.json", "--report", "r.html").exit_code == 0
    export = json.loads(Path("r.json").read_text())["report"]["export"]
    assert export["bytes"] > 0
    assert export["commands"] == []


def test_the_numbers_of_the_page_are_those_of_the_comparison(houses):
    result = run(
        "compare", "houses.csv", "--target", "price", "--methods", "frvm,ridge", *QUICK, "--report", "r.html", "--json", "r.json"
    )
    assert result.exit_code == 0, result.output
    content = json.loads(Path("r.json").read_text())
    assert set(content["report"]) == {
        "verdict",
        "checks",
        "table",
        "calibration",
        "residuals",
        "inputs",
        "far",
        "export",
        "provenance",
    }
    best = content["methods"][0]
    assert content["report"]["verdict"]["best"] == best["name"]
    errors = [fold["rmse"] for fold in best["folds"]]
    row = content["report"]["table"][0]
    assert (row["error"], row["spread"]) == (pytest.approx(np.mean(errors)), pytest.approx(np.std(errors)))
    rows = {row["name"]: row for row in content["report"]["table"]}
    for method in content["methods"]:
        row, folds = rows[method["name"]], method["folds"]
        for name in ("rmse", "r2", "n_functions"):
            assert row[name] == pytest.approx(np.mean([fold[name] for fold in folds]))
        for name in ("fit_seconds", "predict_seconds"):
            assert row[name] == pytest.approx(np.median([fold[name] for fold in folds]))
    assert rows["ridge"]["is_rival"] is True
    assert rows["ridge"]["coverage"] is rows["ridge"]["log_score"] is None
    assert rows["frvm"]["bytes_of_model"] > rows["frvm"]["bytes_in_c"] > 0
    residuals = content["report"]["residuals"]
    assert sorted(residuals["rows"]) == list(range(len(houses)))
    # pandas before 3 reads numbers of a file up to the last bit
    np.testing.assert_allclose(residuals["true"], houses["price"].iloc[residuals["rows"]], rtol=1e-15)
    stds = (np.array(residuals["true"]) - residuals["predicted"]) / residuals["z"]
    inside = np.mean(np.abs(residuals["z"]) <= 1.959964)
    assert (stds > 0).all()
    (curve,) = content["report"]["calibration"]  # ridge has no intervals
    frvm = next(method for method in content["methods"] if method["name"] == "frvm")
    assert inside == pytest.approx(curve["happened"][-2])
    weights = [len(test) for test in np.array_split(np.arange(len(houses)), 3)]
    assert curve["happened"][-2] == pytest.approx(np.average([fold["coverage"] for fold in frvm["folds"]], weights=weights))
    assert {each["name"] for each in content["report"]["inputs"]} == {"size", "age", "town", "garden"}
    assert content["report"]["inputs"][0]["name"] == "size"
    assert {check["finding"] for check in content["report"]["checks"]} <= {"fine", "note", "warning"}
    for key, word in {"command": "skarce compare houses.csv --target price", "seed": "0", "versions": "numpy"}.items():
        assert word in content["report"]["provenance"][key]


def test_the_same_command_writes_the_same_table_and_checks(houses):
    named = (
        "compare",
        "houses.csv",
        "--target",
        "price",
        "--methods",
        "frvm,ridge",
        *QUICK,
        "--report",
        "r.html",
        "--json",
        "r.json",
    )
    seen = []
    for _ in range(2):
        assert run(*named).exit_code == 0
        report = json.loads(Path("r.json").read_text())["report"]
        table = [{name: value for name, value in row.items() if not name.endswith("_seconds")} for row in report["table"]]
        seen.append((report["verdict"]["level"], report["checks"], table, report["provenance"]))
    assert seen[0] == seen[1]


def test_without_a_report_nothing_of_it_is_computed(houses, monkeypatch):
    def refuse(*given):
        raise AssertionError("nobody asked for this")

    monkeypatch.setattr("skarce.comparison.out_of_fold.OutOfFold.take", refuse)
    named = ("compare", "houses.csv", "--target", "price", "--methods", "ridge", *QUICK)
    assert run(*named, "--json", "r.json").exit_code == 0
    assert "report" not in json.loads(Path("r.json").read_text())


def test_a_failed_method_is_in_the_report(houses, monkeypatch):
    class Failing(REGRESSORS["ridge"].make().__class__):
        def fit(self, X, y):
            raise FloatingPointError("the <bridge> is out")

    monkeypatch.setitem(METHODS[REGRESSION], "ridge", Method("ridge", REGRESSION, "fails", Failing, is_rival=True))
    result = run(
        "compare", "houses.csv", "--target", "price", "--methods", "vbls,ridge", *QUICK, "--report", "r.html", "--json", "r.json"
    )
    assert result.exit_code == 1
    page = assert_sound(Path("r.html").read_text(encoding="utf-8"))
    assert "the <bridge> is out" in page.text
    failed = json.loads(Path("r.json").read_text())["report"]["table"][-1]
    assert (failed["name"], failed["title"], failed["rmse"], failed["error"]) == (
        "ridge", "failed: FloatingPointError: the <bridge> is out", None, None,
    )  # fmt: skip
    assert "all others failed" in page.text
    only = run("compare", "houses.csv", "--target", "price", "--methods", "ridge", *QUICK, "--report", "r.html")
    assert only.exit_code == 1
    assert "No method could be fitted" in assert_sound(Path("r.html").read_text(encoding="utf-8")).text


def test_warnings_of_the_terminal_are_in_the_report(houses, monkeypatch):
    class Shaky(REGRESSORS["ridge"].make().__class__):
        def fit(self, X, y):
            warnings.warn("the <bridge> shakes", UserWarning, stacklevel=2)
            return super().fit(X, y)

    monkeypatch.setitem(METHODS[REGRESSION], "ridge", Method("ridge", REGRESSION, "warns", Shaky, is_rival=True))
    named = ("--target", "price", "--methods", "vbls,ridge", *QUICK, "--report", "r.html", "--markdown", "r.md")
    result = run("compare", "houses.csv", *named)
    assert result.exit_code == 0, result.output
    assert "the <bridge> shakes" in result.stdout
    assert "ridge (3 warnings): The <bridge> shakes." in assert_sound(Path("r.html").read_text(encoding="utf-8")).text
    assert "ridge (3 warnings)" in Path("r.md").read_text(encoding="utf-8")


def test_a_target_that_hardly_varies_has_numbers_that_can_be_read(in_a_folder_of_its_own):
    """One row is far from all others, which are equal: log scores are immense, and so may be the spread of errors."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "y": 3.0})
    frame.loc[40, "y"] = 3.5
    frame.to_csv("flat.csv", index=False)
    named = ("--target", "y", "--task", "regression", "--methods", "frvm,vbls,ridge", *QUICK, "--report", "r.html")
    assert run("compare", "flat.csv", *named, "--markdown", "r.md", "--json", "r.json").exit_code == 0
    rows = json.loads(Path("r.json").read_text())["report"]["table"]
    assert min(row["log_score"] for row in rows if row["log_score"] is not None) < -1e20
    lines = Path("r.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith(("| frvm", "| vbls", "| ridge"))]
    assert max(len(cell) for row in cells for cell in row[1:]) <= 12
    forms = {template_of(row[place]) for row in cells for place in (1, 2)}
    assert len(forms) == 1  # errors and spreads have the same decimals


def template_of(cell):
    return re.sub(r"\d", "0", cell.removeprefix("± "))


def test_outputs_are_refused_before_any_work(houses):
    named = ("compare", "houses.csv", "--target", "price")
    assert_one_line(run(*named, "--report", "none/r.html"), "none/r.html", "folder", "does not exist")
    assert_one_line(run(*named, "--markdown", "houses.csv"), "houses.csv is an input")
    result = run(*named, "--report", "r.html", "--json", "r.html")
    assert result.exit_code == 2
    assert "two outputs have the same name" in result.stderr
    assert not Path("r.html").exists()


def test_a_model_is_explained_with_and_without_rows(houses, model):
    result = run("explain", model, "--report", "m.html")
    assert result.exit_code == 0, result.output
    assert "Active functions" in result.stdout
    page = assert_sound(Path("m.html").read_text(encoding="utf-8"))
    assert "Functions and their weights" in page.text
    assert "Calibration" not in page.text
    assert run("explain", model, "houses.csv", "--report", "m.html").exit_code == 0
    page = assert_sound(Path("m.html").read_text(encoding="utf-8"))
    for word in ("Calibration", "Predicted and true", "shuffling", "RMSE", "Last steps"):
        assert word in page.text


def test_a_model_of_counts_is_explained(nasty):
    named = ("fit", "nasty.csv", "--target", "count", "--task", "counts", "--exclude", "number,class", "--basis", "rbf")
    assert run(*named, "--out", "c.skops").exit_code == 0
    assert run("explain", "c.skops", "nasty.csv", "--report", "m.html", "--json", "m.json").exit_code == 0
    assert "deviance without inputs" in assert_sound(Path("m.html").read_text(encoding="utf-8")).text
    assert json.loads(Path("m.json").read_text())["quality"]["beats_base"] is True


def test_the_report_on_a_model_is_a_page_a_text_and_numbers(houses, model):
    """Other rows than those of the fit, one of them far from all others, and one there twice."""
    rng = np.random.default_rng(5)
    new = houses.assign(size=houses["size"] + rng.uniform(0.1, 0.2, len(houses)))
    new.loc[7, "size"] = 5_000.0
    new.loc[9] = new.loc[8]
    new.to_csv("new.csv", index=False)
    named = ("--report", "m.html", "--markdown", "m.md", "--json", "m.json")
    result = run("explain", model, "new.csv", *named)
    assert result.exit_code == 0, result.output
    found = json.loads(Path("m.json").read_text())
    page, markdown = assert_sound(Path("m.html").read_text(encoding="utf-8")), Path("m.md").read_text(encoding="utf-8")
    assert found["verdict"]["sentence"] in page.text
    assert found["verdict"]["sentence"] in markdown
    saved = load(Path(model))
    predicted = saved.pipeline.predict(new[list(saved.columns)])
    np.testing.assert_allclose(found["residuals"]["predicted"], predicted)
    assert found["quality"]["error"] == pytest.approx(np.sqrt(np.mean((new["price"] - predicted) ** 2)))
    assert found["far"][0]["row"] == 7
    assert found["far"][0]["place"] == "line 9"
    assert "line 9" in page.text.split("Rows far from the others")[1]
    findings = {check["name"]: check["finding"] for check in found["checks"]}
    assert findings["Repeated rows"] == "warning"
    assert findings["Rows of the fit"] == "fine"
    for name in findings:
        assert name in page.text
        assert name in markdown
    assert len(found["functions"]) == len(saved.regressor.active_)
    assert "seed" in found["provenance"]


def test_rows_of_the_fit_are_found_in_the_report(houses, model, monkeypatch):
    """Intervals are wide for rows of the fit, and that is no fault."""
    monkeypatch.setattr("skarce.report.checks.too_wide", lambda shares, n_rows: list(shares))
    assert run("explain", model, "houses.csv", "--json", "m.json").exit_code == 0
    report = json.loads(Path("m.json").read_text())
    found = {check["name"]: check for check in report["checks"]}
    assert "was fitted to such rows" in report["verdict"]["sentence"]
    assert "Wider than" not in found["Honest intervals"]["words"]
    n_active = len(load(Path(model)).regressor.active_)
    assert found["Rows of the fit"]["words"].startswith(f"{n_active} of the given rows are centers")


def test_a_report_on_a_model_without_rows_has_a_verdict_too(model):
    assert run("explain", model, "--json", "m.json", "--markdown", "m.md").exit_code == 0
    found = json.loads(Path("m.json").read_text())
    assert found["quality"] is found["residuals"] is None
    saved = load(Path(model)).regressor
    size = f"The model uses {len(saved.active_)} of {len(saved.relevance_)} candidates, and the noise is "
    assert found["verdict"]["sentence"].startswith(size)
    assert "The fit has converged" in found["verdict"]["sentence"]
    assert "No rows were given" in found["verdict"]["sentence"]
    assert "## Functions" in Path("m.md").read_text(encoding="utf-8")


def test_two_outputs_of_an_explanation_have_two_names(model):
    result = run("explain", model, "--report", "m.html", "--json", "m.html")
    assert result.exit_code == 2
    assert "two outputs have the same name" in result.stderr


def test_a_report_on_few_equal_rows(houses, model):
    """Nothing divides by zero, and no column is said to tell a target that never changes."""
    houses.iloc[[0, 0]].to_csv("two.csv", index=False)
    houses.iloc[[0]].to_csv("one.csv", index=False)
    for name in ("one.csv", "two.csv"):
        result = run("explain", model, name, "--report", "m.html", "--json", "m.json")
        assert result.exit_code == 0, result.output
        assert "too few to tell" in json.loads(Path("m.json").read_text())["verdict"]["sentence"]


def test_lengths_of_kernels_are_not_called_what_matters(houses):
    """A length says how quickly predictions bend, not how large the effect of an input is."""
    assert run("fit", "houses.csv", "--target", "price", "--widths", "ard", "--out", "ard.skops").exit_code == 0
    assert run("explain", "ard.skops", "--report", "m.html").exit_code == 0
    page = assert_sound(Path("m.html").read_text(encoding="utf-8"))
    assert "How fast the model can change along each input" in page.text
    assert "matters most" not in page.text
    assert "Inputs that matter" not in page.text


def test_kernels_are_named_by_their_rows_counted_from_1(houses, model):
    """Displays count from 0, as Python does."""
    assert run("explain", model, "--report", "m.html").exit_code == 0
    text = assert_sound(Path("m.html").read_text(encoding="utf-8")).text
    kernels = [name.rsplit(" ", 1) for name in ranked_functions(load(Path(model)).pipeline).names[:20]]
    assert kernels[0][0].endswith(" at row")
    assert all(f"{kernel} {int(row) + 1} " in text for kernel, row in kernels)


def test_rows_of_a_comparison_have_one_kind_of_name(houses):
    """Kernels and far rows are at lines of the file, the first row on line 2."""
    options = ("--target", "price", "--methods", "frvm", *QUICK)
    assert run("compare", "houses.csv", *options, "--report", "r.html").exit_code == 0
    text = assert_sound(Path("r.html").read_text(encoding="utf-8")).text
    functions = text.split("Functions and their weights")[1].split("Where this comes from")[0]
    assert run("fit", "houses.csv", "--target", "price", "--basis", "rbf", "--out", "m.skops").exit_code == 0
    regressor = load(Path("m.skops")).regressor
    lines = [f"rbf at line {row + 2} " for row in regressor.basis_.center_indices_]
    assert sum(line in functions for line in lines) >= min(len(lines), 20)
    assert "at row" not in functions


def test_columns_are_explained_in_a_list(houses):
    options = ("--target", "price", "--methods", "frvm,ridge", *QUICK)
    assert run("compare", "houses.csv", *options, "--report", "r.html").exit_code == 0
    text = Path("r.html").read_text(encoding="utf-8")
    for heading in ("log score", "functions", "size", "in C", "times", "coverage"):
        assert f"<li>{heading}: " in text


def test_the_main_chart_has_a_twin_for_narrow_screens(houses):
    """Each has all methods, and no part of it is behind a scroll bar."""
    options = ("--target", "price", "--methods", "frvm,ridge", *QUICK)
    assert run("compare", "houses.csv", *options, "--report", "r.html").exit_code == 0
    text = Path("r.html").read_text(encoding="utf-8")
    wide, narrow = (text.split(f'class="{name}"')[1].split("</svg>")[0] for name in ("on-wide", "on-narrow"))
    widths = [float(re.search(r'viewBox="0 0 (\d+) ', chart)[1]) for chart in (wide, narrow)]
    assert widths[1] <= 390 < widths[0]
    assert all(f"{name}: RMSE" in chart for chart in (wide, narrow) for name in ("frvm", "ridge"))
    assert re.search(r"max-width: 36rem\) \{ \.on-wide \{ display: none", text)
    assert "min-width: 34rem" not in text


def test_inputs_of_a_comparison_are_said_to_be_shuffled_on_the_rows_of_the_fit(houses, model):
    options = ("--target", "price", "--methods", "frvm", *QUICK)
    assert run("compare", "houses.csv", *options, "--report", "r.html").exit_code == 0
    words = "shuffled on the rows that it was fitted to"
    assert words in assert_sound(Path("r.html").read_text(encoding="utf-8")).text
    for name, is_said in (("houses.csv", True), ("new.csv", False)):
        houses.assign(size=houses["size"] + 0.15).to_csv("new.csv", index=False)
        assert run("explain", model, name, "--report", "m.html").exit_code == 0
        assert (words in assert_sound(Path("m.html").read_text(encoding="utf-8")).text) == is_said


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_the_report_is_said_to_be_written(houses, model, monkeypatch, command):
    monkeypatch.setattr("skarce.cli.streamed.progress.QUIET", 0.0)
    options = ("--target", "price", "--methods", "ridge,frvm", *QUICK) if command == "compare" else ("houses.csv",)
    result = run(command, "houses.csv" if command == "compare" else model, *options, "--report", "r.html")
    assert result.exit_code == 0
    assert "Writing the report: " in result.stderr


def test_rows_for_an_explanation_must_suit_the_model(houses, model):
    result = run("explain", model, "houses.csv")
    assert result.exit_code == 2
    assert "--report" in result.stderr
    houses.drop(columns="price").to_csv("blind.csv", index=False)
    assert_one_line(run("explain", model, "blind.csv", "--report", "m.html"), "price")
    assert_one_line(run("explain", model, "--report", model), "is an input")
    assert not Path("m.html").exists()


def test_classes_that_a_model_does_not_know(nasty):
    named = ("fit", "nasty.csv", "--target", "class", "--exclude", "number,count", "--basis", "rbf", "--out", "c.skops")
    assert run(*named).exit_code == 0
    assert run("explain", "c.skops", "nasty.csv", "--report", "m.html").exit_code == 0
    assert "predicted as <i>yes</i>" in assert_sound(Path("m.html").read_text(encoding="utf-8")).text
    assert run("explain", "c.skops", "nasty.csv", "--markdown", "m.md", "--json", "m.json").exit_code == 0
    found = json.loads(Path("m.json").read_text())
    assert found["quality"]["error"] == np.mean(np.array(found["residuals"]["predicted"]) != nasty["class"])
    assert np.sum(found["residuals"]["confusion"]) == len(nasty)
    assert "<script>" not in Path("m.md").read_text(encoding="utf-8").split("## Where")[0].replace("\\<", "")
    nasty.assign(**{"class": "perhaps"}).to_csv("other.csv", index=False)
    assert_one_line(run("explain", "c.skops", "other.csv", "--report", "m.html"), "'perhaps'", "not seen")
