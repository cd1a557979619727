"""`skarce compare --report` and `skarce explain --report`: pages that are sound, complete, and written whole or not at all."""

import json
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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
    assert set(content["report"]) == {"verdict", "checks", "table", "calibration", "inputs", "export", "provenance"}
    best = content["methods"][0]
    assert content["report"]["verdict"]["best"] == best["name"]
    errors = [fold["rmse"] for fold in best["folds"]]
    row = content["report"]["table"][0]
    assert (row["error"], row["spread"]) == (pytest.approx(np.mean(errors)), pytest.approx(np.std(errors)))
    (curve,) = content["report"]["calibration"]  # ridge has no intervals
    frvm = next(method for method in content["methods"] if method["name"] == "frvm")
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
        seen.append((report["verdict"]["level"], report["checks"], report["table"], report["provenance"]))
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
    result = run("compare", "houses.csv", "--target", "price", "--methods", "vbls,ridge", *QUICK, "--report", "r.html")
    assert result.exit_code == 1
    page = assert_sound(Path("r.html").read_text(encoding="utf-8"))
    assert "the <bridge> is out" in page.text
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


def test_lengths_of_kernels_are_not_called_what_matters(houses):
    """A length says how quickly predictions bend, not how large the effect of an input is."""
    assert run("fit", "houses.csv", "--target", "price", "--widths", "ard", "--out", "ard.skops").exit_code == 0
    assert run("explain", "ard.skops", "--report", "m.html").exit_code == 0
    page = assert_sound(Path("m.html").read_text(encoding="utf-8"))
    assert "How fast the model can change along each input" in page.text
    assert "matters most" not in page.text
    assert "Inputs that matter" not in page.text


def test_kernels_have_the_names_that_displays_give_them(houses, model):
    assert run("explain", model, "--report", "m.html").exit_code == 0
    text = assert_sound(Path("m.html").read_text(encoding="utf-8")).text
    names = ranked_functions(load(Path(model)).pipeline).names
    assert " at row " in names[0]
    assert all(name in text for name in names[:20])


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
    nasty.assign(**{"class": "perhaps"}).to_csv("other.csv", index=False)
    assert_one_line(run("explain", "c.skops", "other.csv", "--report", "m.html"), "'perhaps'", "not seen")
