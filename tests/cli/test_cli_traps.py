"""Traps of real tables: a column that gives the target away, an outlier in the target, text that training rows did not have."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.traps import traps
from skarce.cli.model_file import load
from tests.cli.commands import assert_one_line, run

N_ROWS = 120


@pytest.fixture(autouse=True)
def wells(in_a_folder_of_its_own):
    frame = traps(np.random.default_rng(0), N_ROWS)
    frame.to_csv("wells.csv", index=False)
    return frame


def fit(*options):
    return run("fit", "wells.csv", "--target", "yield", "--basis", "rbf", *options)


@pytest.fixture
def model():
    assert fit("--exclude", "estimate", "--out", "wells.skops").exit_code == 0
    return "wells.skops"


@pytest.mark.parametrize(
    "options",
    [("--exclude", "estimate,batch"), ("--exclude", "estimate", "--exclude", "batch"), ("--exclude", "estimate, batch,estimate")],
)
def test_columns_are_left_out(options):
    result = fit(*options)
    assert result.exit_code == 0, result.output
    assert list(load(Path("model.skops")).columns) == ["depth", "pressure", "salinity", "operator_age", "site"]
    assert "nearly a copy" not in result.stderr


def test_a_name_with_a_comma_is_one_column(wells):
    wells.rename(columns={"batch": "batch, old"}).to_csv("wells.csv", index=False)
    assert fit("--exclude", "batch, old").exit_code == 0
    assert "batch, old" not in load(Path("model.skops")).columns


def test_a_model_predicts_with_and_without_what_was_left_out(wells, model):
    wells.drop(columns="estimate").to_csv("new.csv", index=False)
    with_it, without = (run("predict", model, name) for name in ("wells.csv", "new.csv"))
    assert with_it.exit_code == without.exit_code == 0
    means = [pd.read_csv(pd.io.common.StringIO(result.stdout))["yield_mean"] for result in (with_it, without)]
    np.testing.assert_array_equal(*means)


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_wrong_names_to_leave_out_are_one_line(command):
    arguments = (command, "wells.csv", "--target", "yield", "--exclude")
    assert_one_line(run(*arguments, "estimte"), "no column 'estimte'", "did you mean 'estimate'")
    assert_one_line(run(*arguments, "batch,yield"), "the target 'yield' cannot be excluded")
    everything = "depth,pressure,salinity,operator_age,batch,site,estimate"
    assert_one_line(run(*arguments, everything), "'yield' is the only column left")


def test_dates_and_gaps_can_be_left_out(wells):
    wells.assign(day=pd.Timestamp("2020-01-01"), remark=np.nan).to_csv("wells.csv", index=False)
    assert fit().exit_code == 2
    assert fit("--exclude", "day,remark").exit_code == 0


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_column_that_gives_the_target_away_is_noted(command):
    options = {"fit": ("--method", "vbls"), "compare": ("--methods", "ridge")}[command]
    noted = " ".join(run(command, "wells.csv", "--target", "yield", *options).stderr.split())
    assert "Note: column 'estimate' is nearly a copy of the target" in noted
    assert noted.count("nearly a copy") == 1
    assert "leave it out: --exclude estimate" in noted


def test_a_fold_with_an_outlier_is_noted(wells):
    wells.loc[17, "yield"] *= 100.0
    wells.to_csv("wells.csv", index=False)
    arguments = ("compare", "wells.csv", "--target", "yield", "--exclude", "estimate", "--methods", "ridge", "--json", "x.json")
    lines = " ".join(run(*arguments).stdout.split())
    content = json.loads(Path("x.json").read_text())
    errors = [fold["rmse"] for fold in content["methods"][0]["folds"]]
    worst = int(np.argmax(errors))
    factor = errors[worst] / np.median(np.delete(errors, worst))
    assert f"Note: fold {worst + 1} of 5 has an error (RMSE) {factor:.2g} times the median of the other folds (ridge)." in lines
    assert f"the farthest one in this fold is {wells.loc[17, 'yield']:g} in line 19." in lines
    assert content["exclude"] == ["estimate"]


def test_folds_alike_are_not_noted(wells):
    wells.assign(**{"yield": wells["depth"] + wells["salinity"]}).to_csv("wells.csv", index=False)
    result = run("compare", "wells.csv", "--target", "yield", "--exclude", "estimate", "--methods", "lasso")
    assert result.exit_code == 0
    assert "Note: fold" not in result.stdout


def test_text_that_the_model_has_not_seen_is_noted(wells, model):
    new = wells.assign(site=["mars", "moon", "mars", *wells["site"][3:]])
    new.to_csv("new.csv", index=False)
    result = run("predict", model, "new.csv")
    assert result.exit_code == 0
    noted = " ".join(result.stderr.split())
    assert "Note: column 'site' has text that the model has not seen: 'mars', 'moon' (3 rows of 120)." in noted
    assert len(result.stdout.splitlines()) == 1 + N_ROWS
    assert run("predict", model, "wells.csv").stderr == ""


def test_intervals_are_those_of_the_model(wells, model):
    result = run("predict", model, "wells.csv", "--interval", "0.8")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(pd.io.common.StringIO(result.stdout))
    assert list(written.columns[-4:]) == ["yield_mean", "yield_std", "yield_lower", "yield_upper"]
    pipeline = load(Path(model)).pipeline
    expected = pipeline[-1].predict_interval(pipeline[:-1].transform(wells), 0.8)
    np.testing.assert_allclose(written[["yield_lower", "yield_upper"]].to_numpy().T, expected)


def test_intervals_of_counts(wells):
    wells.assign(count=np.random.default_rng(0).poisson(wells["depth"] / 20.0)).to_csv("wells.csv", index=False)
    fitted = run("fit", "wells.csv", "--target", "count", "--task", "counts", "--basis", "rbf", "--out", "counts.skops")
    assert fitted.exit_code == 0, fitted.output
    written = pd.read_csv(pd.io.common.StringIO(run("predict", "counts.skops", "wells.csv", "--interval", "0.9").stdout))
    inside = (written["count_lower"] <= written["count"]) & (written["count"] <= written["count_upper"])
    assert 0.8 <= inside.mean() <= 1.0


def test_intervals_are_refused_where_there_are_none(model):
    assert_one_line(run("predict", model, "wells.csv", "--interval", "0.9", "--std", "augmented"), "--interval is for --std plain")
    assert_one_line(run("predict", model, "wells.csv", "--interval", "1.5"), "--interval")
    assert run("fit", "wells.csv", "--target", "site", "--method", "vbls", "--out", "sites.skops").exit_code == 0
    assert_one_line(run("predict", "sites.skops", "wells.csv", "--interval", "0.9"), "--interval is for numbers and counts")


def test_whole_numbers_taken_for_classes_name_both_other_tasks(wells):
    wells.assign(stars=np.arange(N_ROWS) % 5).to_csv("wells.csv", index=False)
    noted = " ".join(run("fit", "wells.csv", "--target", "stars", "--method", "vbls").stderr.split())
    assert "'stars' were recognized as classes; if they are amounts, use --task regression or --task counts." in noted
