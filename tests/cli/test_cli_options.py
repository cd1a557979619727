"""Options of the commands, and the notes that keep a user from a model that cannot generalise."""

import time
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skarce.cli.model_file import load
from skarce.comparison import METHODS, REGRESSION, Method
from tests.cli.commands import assert_one_line, run


@pytest.fixture(autouse=True)
def waves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 80)
    frame = pd.DataFrame({"x": x, "name": [f"row {i}" for i in range(80)], "y": np.sin(x) + rng.normal(0, 0.1, 80)})
    frame.drop(columns="name").to_csv("waves.csv", index=False)
    frame.to_csv("named.csv", index=False)


@pytest.fixture
def slow_clock(monkeypatch):
    """A clock that goes on by a second whenever it is asked."""
    seconds = count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))


def test_fit_takes_width_and_landmarks():
    assert run("fit", "waves.csv", "--target", "y", "--gamma", "0.7", "--centers", "12").exit_code == 0
    regressor = load(Path("model.skops")).regressor
    assert regressor.basis_.gamma_ == 0.7
    assert len(regressor.relevance_) == 12


def test_fit_takes_a_budget_where_the_method_has_one():
    assert run("fit", "waves.csv", "--target", "y", "--method", "gps-be", "--gamma", "0.5", "--n-basis", "6").exit_code == 0
    assert len(load(Path("model.skops")).regressor.active_) == 6
    assert "n_basis=6" in run("explain", "model.skops").stdout
    result = run("fit", "waves.csv", "--target", "y", "--method", "frvm", "--n-basis", "6")
    assert result.exit_code == 2
    assert "--n-basis 6 is not for --method frvm" in result.stderr
    assert "gps-be" in result.stderr


@pytest.mark.usefixtures("slow_clock")
def test_fit_says_that_time_ended_the_learning_of_widths():
    result = run("fit", "waves.csv", "--target", "y", "--method", "gps-be", "--max-time", "1e-9")
    assert result.exit_code == 0
    assert "The time limit was reached while kernel widths were learned" in " ".join(result.stderr.split())
    assert "The fit reached the time limit, and this is the best model so far" in " ".join(result.stdout.split())


@pytest.mark.parametrize("option", [("--gamma", "0.5"), ("--centers", "50")])
def test_kernel_options_are_refused_where_there_are_none(option):
    result = run("fit", "waves.csv", "--target", "y", "--method", "vbls", *option)
    assert result.exit_code == 2
    assert f"{option[0]} {option[1]} is not for --method vbls, which has no kernels" in " ".join(result.stderr.split())


def test_augmented_std_is_refused_where_there_are_no_kernels():
    assert run("fit", "waves.csv", "--target", "y", "--method", "vbls").exit_code == 0
    result = run("predict", "model.skops", "waves.csv", "--std", "augmented")
    assert result.exit_code == 2
    assert "--std augmented needs a model with kernels" in " ".join(result.stderr.split())


@pytest.mark.usefixtures("slow_clock")
def test_fit_respects_the_time_limit():
    result = run("fit", "waves.csv", "--target", "y", "--max-time", "1e-9")
    assert result.exit_code == 0
    assert "time limit" in result.stdout


def test_fit_refuses_a_width_that_is_none():
    result = run("fit", "waves.csv", "--target", "y", "--gamma", "-1")
    assert result.exit_code == 2
    assert "gamma" in result.stderr


def test_augmented_std_grows_away_from_the_data():
    run("fit", "waves.csv", "--target", "y")
    pd.DataFrame({"x": [0.0, 50.0]}).to_csv("new.csv", index=False)
    stds = {}
    for kind in ("plain", "augmented"):
        assert run("predict", "model.skops", "new.csv", "--std", kind, "--out", f"{kind}.csv").exit_code == 0
        stds[kind] = pd.read_csv(f"{kind}.csv")["y_std"]
    assert stds["augmented"][1] > 2 * stds["plain"][1]
    assert stds["augmented"][0] == pytest.approx(stds["plain"][0], rel=0.1)


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_column_that_differs_in_every_row_is_noted(command):
    result = run(command, "named.csv", "--target", "y", *(["--methods", "ridge"] if command == "compare" else []))
    assert result.exit_code == 0
    assert "column 'name' has 80 different texts in 80 rows" in result.stderr
    assert "different texts" not in run("fit", "waves.csv", "--target", "y").stderr


@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize("missing", ["error", "fill"])
def test_identifiers_of_many_rows_are_refused(command, missing):
    """Each of their texts would become a column, so that a comparison takes minutes and says nothing about new rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=150), "id": [f"h{row}" for row in range(150)]}).assign(y=lambda t: t["x"])
    frame.to_csv("ids.csv", index=False)
    result = run(command, "ids.csv", "--target", "y", "--missing", missing)
    assert_one_line(result, "column 'id' has 150 different texts in 150 rows", "--exclude id", "convert dates to numbers")
    assert not Path("model.skops").exists()
    frame.assign(id=[*map(str, rng.normal(size=149)), "1,5"]).to_csv("ids.csv", index=False)
    result = run(command, "ids.csv", "--target", "y", "--missing", missing)
    assert_one_line(result, "'id' is treated as text", "'1,5' in line 151", "correct these values", "--exclude id")
    frame.assign(id=rng.integers(0, 40, 150).astype(str), town=rng.choice(["a", "b"], 150)).to_csv("ids.csv", index=False)
    assert run("fit", "ids.csv", "--target", "y").exit_code == 0


def test_compare_leaves_out_what_would_take_long_unless_it_is_named(monkeypatch):
    ridge = METHODS[REGRESSION]["ridge"]
    kept = {"ridge": ridge, "slow": Method("slow", REGRESSION, "slow", ridge.make, max_rows=79)}
    monkeypatch.setitem(METHODS, REGRESSION, kept)
    result = run("compare", "waves.csv", "--target", "y")
    assert "slow on 80 rows: slow. Use --methods" in result.stderr
    assert "slow" not in result.stdout
    assert "slow" in run("compare", "waves.csv", "--target", "y", "--methods", "slow").stdout
