"""Missing values on the command line: refused, left out with their rows, or filled in."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

from skarce import RelevanceVectorRegressor
from skarce.cli.model_file import load
from tests.cli.commands import assert_one_line, run

QUICK = ("--target", "price", "--basis", "rbf")


@pytest.fixture
def gaps(houses):
    """The houses with gaps in each column. Rows 4 and 8 have no price."""
    rng = np.random.default_rng(1)
    frame = houses.astype({"age": float, "garden": object})
    for name in ("size", "age", "town", "garden"):
        frame.loc[rng.random(len(frame)) < 0.07, name] = None
    frame.loc[[4, 8], "price"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    return frame


def scale_then_fill(train, rows):
    """By hand: numbers scaled by the mean and std of known training values, gaps at the scaled median; one column for each text."""
    columns = []
    for name in ("size", "age", "garden"):
        known, values = (frame[name].astype(float).to_numpy() for frame in (train, rows))
        filled = np.where(np.isnan(values), np.nanmedian(known), values)
        columns.append((filled - np.nanmean(known)) / np.nanstd(known))
    towns = rows["town"].fillna("(missing)")
    columns += [(towns == town).astype(float) for town in sorted(train["town"].fillna("(missing)").unique())]
    return np.column_stack(columns)


# Refused ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["compare", "fit"])
def test_an_error_names_all_columns_and_both_ways_out(gaps, command):
    counts = gaps.isna().sum()
    assert counts.min() > 1
    named = [f"'{name}' ({count})" for name, count in counts.items()]
    first = f"line {2 + np.flatnonzero(gaps.isna().any(axis=1))[0]}"
    assert_one_line(
        run(command, "gaps.csv", *QUICK), "5 columns have missing values", *named, first, "--missing drop", "--missing fill"
    )


def test_excluded_columns_may_have_gaps(gaps):
    gaps.assign(price=np.arange(len(gaps)) * 1.0, town="a", size=2.0, garden=True).to_csv("some.csv", index=False)
    assert_one_line(run("fit", "some.csv", *QUICK), "column 'age' has")
    assert run("fit", "some.csv", *QUICK, "--exclude", "age").exit_code == 0
    result = run("fit", "some.csv", *QUICK, "--exclude", "age", "--missing", "drop")
    assert result.exit_code == 0
    assert "left out" not in result.stderr


def test_predict_refuses_what_the_model_cannot_fill(gaps, model):
    named = [f"'{name}' ({count})" for name, count in gaps.drop(columns="price").isna().sum().items()]
    assert_one_line(run("predict", model, "gaps.csv"), "4 columns have missing values", *named)
    assert_one_line(run("predict", model, "gaps.csv", "--missing", "fill"), "fitted without --missing fill", "--missing drop")


def test_a_column_without_values_cannot_be_filled(gaps):
    gaps.assign(empty=np.nan).to_csv("gaps.csv", index=False)
    result = run("fit", "gaps.csv", *QUICK, "--missing", "fill")
    assert result.exit_code == 2
    assert "no value at all in 'empty'" in result.stderr
    assert "--exclude empty" in result.stderr
    assert_one_line(run("fit", "gaps.csv", *QUICK, "--missing", "drop"), "no row of gaps.csv is left", "--missing fill")


# Left out -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [(), ("--stream",)])
def test_dropped_rows_are_as_if_they_were_not_there(gaps, streamed):
    complete = gaps.dropna()
    complete.to_csv("complete.csv", index=False)
    dropped = run("fit", "gaps.csv", *QUICK, "--missing", "drop", "--out", "m.skops", *streamed)
    assert dropped.stdout == run("fit", "complete.csv", *QUICK, "--out", "m.skops", *streamed).stdout
    assert f"{len(gaps) - len(complete)} of {len(gaps)} rows were left out" in dropped.stderr


def test_streamed_blocks_without_any_complete_row(gaps, monkeypatch):
    frame = pd.concat([gaps.assign(size=np.nan), gaps, gaps.assign(age=np.nan)])
    frame.to_csv("gaps.csv", index=False)
    monkeypatch.setattr("skarce.cli.streamed.files.BLOCK_ROWS", len(gaps))
    result = run("fit", "gaps.csv", *QUICK, "--missing", "drop", "--stream")
    n_complete = len(gaps.dropna())
    assert f"{len(frame) - n_complete} of {len(frame)} rows were left out" in result.stderr
    assert f"{n_complete}, streamed" in result.stdout
    gaps.assign(size=np.nan).to_csv("gaps.csv", index=False)
    assert_one_line(run("fit", "gaps.csv", *QUICK, "--missing", "drop", "--stream"), "no rows without missing values")


def test_compare_on_dropped_rows(gaps):
    gaps.dropna().to_csv("complete.csv", index=False)
    options = ("--target", "price", "--methods", "ridge", "--json", "numbers.json")
    errors = []
    for arguments in (["gaps.csv", "--missing", "drop"], ["complete.csv"]):
        assert run("compare", *arguments, *options).exit_code == 0
        with open("numbers.json") as file:
            errors.append([fold["rmse"] for fold in json.load(file)["methods"][0]["folds"]])
    assert errors[0] == errors[1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predict_leaves_out_rows(gaps, model, suffix):
    inputs = gaps.drop(columns="price")
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        inputs.to_parquet("inputs.parquet")
        inputs.dropna().to_parquet("complete.parquet")
    else:
        inputs.to_csv("inputs.csv", index=False)
        inputs.dropna().to_csv("complete.csv", index=False)
    dropped = run("predict", model, f"inputs.{suffix}", "--missing", "drop", "--out", f"dropped.{suffix}")
    assert f"{len(inputs) - len(inputs.dropna())} of {len(inputs)} rows were left out" in dropped.stderr
    assert run("predict", model, f"complete.{suffix}", "--out", f"all.{suffix}").exit_code == 0
    read = pd.read_csv if suffix == "csv" else pd.read_parquet
    pd.testing.assert_frame_equal(read(f"dropped.{suffix}"), read(f"all.{suffix}"), check_dtype=False)


def test_predict_needs_a_row_that_is_left(gaps, model):
    gaps.assign(size=np.nan).to_csv("none.csv", index=False)
    assert_one_line(run("predict", model, "none.csv", "--missing", "drop"), "leaves no row")


# Filled in ----------------------------------------------------------------------------------------------------------------


def test_a_filled_fit_is_that_by_hand(gaps):
    result = run("fit", "gaps.csv", *QUICK, "--missing", "fill", "--out", "filled.skops")
    assert result.exit_code == 0, result.output
    n_gaps = int(gaps.dropna(subset="price").drop(columns="price").isna().sum().sum())
    assert "2 of 90 rows were left out, because 'price' is missing" in result.stderr
    assert f"filled in {n_gaps} missing values in 4 columns" in result.stderr
    train = gaps.dropna(subset="price")
    by_hand = scale_then_fill(train, train)
    expected = RelevanceVectorRegressor("rbf").fit(by_hand, train["price"].to_numpy())
    predicted = pd.read_csv(io.StringIO(run("predict", "filled.skops", "gaps.csv").stdout))
    mean, std = expected.predict(scale_then_fill(train, gaps), return_std=True)
    np.testing.assert_allclose(predicted["price_mean"], mean, rtol=1e-6)
    # The scale of the std is left to cross-fitted models, some of which end elsewhere if an input changes by a rounding error.
    scale = load(Path("filled.skops")).regressor.std_scale_
    np.testing.assert_allclose(predicted["price_std"] / scale, std / expected.std_scale_, rtol=1e-6)


def test_compare_learns_what_to_fill_in_from_the_training_rows_of_each_fold(gaps):
    options = ("--target", "price", "--methods", "ridge", "--cv", "3", "--missing", "fill", "--json", "numbers.json")
    assert run("compare", "gaps.csv", *options).exit_code == 0
    with open("numbers.json") as file:
        content = json.load(file)
    known = gaps.dropna(subset="price").reset_index(drop=True)
    expected = []
    for train, test in KFold(3, shuffle=True, random_state=np.random.RandomState(0)).split(known):
        rows = known.iloc[train]
        model = RidgeCV(alphas=np.logspace(-3, 3, 13)).fit(scale_then_fill(rows, rows), rows["price"])
        errors = model.predict(scale_then_fill(rows, known.iloc[test])) - known["price"].iloc[test]
        expected.append(np.sqrt(np.mean(errors**2)))
    assert content["missing"] == "fill"
    np.testing.assert_allclose([fold["rmse"] for fold in content["methods"][0]["folds"]], expected, rtol=1e-9)


def test_a_model_that_fills_explains_itself_and_can_be_told_to_refuse(gaps):
    assert run("fit", "gaps.csv", *QUICK, "--missing", "fill", "--out", "filled.skops").exit_code == 0
    assert load(Path("filled.skops")).fills_gaps
    explained = run("explain", "filled.skops")
    assert explained.exit_code == 0
    assert "(missing)" in explained.stdout
    assert_one_line(run("predict", "filled.skops", "gaps.csv", "--missing", "error"), "4 columns have missing values")


def test_a_report_on_filled_rows(gaps):
    result = run("compare", "gaps.csv", *QUICK, "--methods", "frvm", "--missing", "fill", "--report", "report.html")
    assert result.exit_code == 0, result.output


def test_classes_that_are_missing(gaps):
    gaps.drop(columns="price").to_csv("gardens.csv", index=False)
    n_missing = int(gaps["garden"].isna().sum())
    result = run("fit", "gardens.csv", "--target", "garden", "--basis", "rbf", "--missing", "fill")
    assert f"{n_missing} of 90 rows were left out, because 'garden' is missing" in result.stderr
    assert "classes" in result.stdout
    assert "False, True" in result.stdout


def test_streamed_rows_are_not_filled(gaps):
    assert_one_line(run("fit", "gaps.csv", *QUICK, "--missing", "fill", "--stream"), "median of all rows", "--missing drop")


def explained(*arguments):
    result = run("explain", *arguments, "--report", "m.html")
    assert result.exit_code == 0, result.output
    return result, Path("m.html").read_text(encoding="utf-8")


def test_rows_with_gaps_for_an_explanation(gaps, model):
    """What the message suggests is an option, and does what it does elsewhere."""
    assert_one_line(run("explain", model, "gaps.csv", "--report", "m.html"), "4 columns have missing values", "--missing drop")
    assert_one_line(run("explain", model, "gaps.csv", "--report", "m.html", "--missing", "fill"), "fitted without --missing fill")
    complete = gaps.dropna()
    result, page = explained(model, "gaps.csv", "--missing", "drop")
    assert f"{len(gaps) - len(complete)} of {len(gaps)} rows were left out, because values are missing" in result.stderr
    complete.to_csv("complete.csv", index=False)
    _, alone = explained(model, "complete.csv")
    assert _quality(page) == _quality(alone)
    result = run("explain", model, "--missing", "drop")
    assert result.exit_code == 2
    assert "--missing is for the rows of DATA" in result.stderr


def test_a_model_that_fills_gaps_explains_rows_with_gaps(gaps):
    assert run("fit", "gaps.csv", *QUICK, "--missing", "fill", "--out", "filled.skops").exit_code == 0
    result, page = explained("filled.skops", "gaps.csv")
    assert "2 of 90 rows were left out, because 'price' is missing" in result.stderr
    assert "<dd>88</dd>" in _quality(page)
    assert_one_line(run("explain", "filled.skops", "gaps.csv", "--report", "m.html", "--missing", "error"), "missing values")
    gaps.assign(price=np.nan).to_csv("blind.csv", index=False)
    assert_one_line(run("explain", "filled.skops", "blind.csv", "--report", "m.html"), "no row of blind.csv is left")


def _quality(page):
    return page.split("On the given rows</h2>")[1].split("</section>")[0]
