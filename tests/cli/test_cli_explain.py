"""`skarce explain`: functions, widths, steps and evidence of a model."""

from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pandas as pd
import pytest

from skarce import KernelBasis, Outcome, RelevanceVectorRegressor, VBLSRegressor
from skarce.cli.explanation import active_functions
from skarce.cli.model_file import load
from skarce.comparison import REGRESSION, Method
from skarce.comparison.width_rules import Widths
from skarce.inspection import summary
from tests.cli.commands import N_ROWS, REGRESSORS, rows_of, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


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
    np.testing.assert_allclose(functions["weight"], regressor.dual_coef_[order])
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


def test_explain_tests_the_inputs_of_a_linear_model_and_no_kernels(houses, model):
    kernels = run("explain", model).stdout
    assert "std error" in kernels
    assert "p value" not in kernels
    assert run("fit", "houses.csv", "--target", "price", "--method", "vbls").exit_code == 0
    saved = load(Path("model.skops"))
    functions, table = active_functions(saved).set_index("candidate"), summary(saved.regressor).iloc[1:]
    assert len(functions) > 0
    for shown, column in {"weight": "coefficient", "std error": "std", "lower": "lower", "upper": "upper", "p value": "p"}.items():
        np.testing.assert_array_equal(functions[shown].loc[saved.regressor.active_], table[column])
    linear = run("explain", "model.skops").stdout
    assert all(heading in linear for heading in ("lower", "upper", "p value"))
    assert max(map(len, linear.splitlines())) <= 100


def test_explain_least_squares_that_leaves_no_noise(monkeypatch):
    monkeypatch.setitem(REGRESSORS, "frvm", Method("frvm", REGRESSION, "", lambda: VBLSRegressor(prior="none")))
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 10)), columns=[*ascii_lowercase[:9], "y"])
    table.to_csv("few.csv", index=False)
    assert run("fit", "few.csv", "--target", "y").exit_code == 0
    assert np.isnan(load(Path("model.skops")).regressor.coef_tests().p_value).all()
    result = run("explain", "model.skops")
    assert result.exit_code == 0, result.output
    assert "std error" in result.stdout
    assert "p value" not in result.stdout


def test_explain_a_model_without_functions(tmp_path):
    rng = np.random.default_rng(4)
    pd.DataFrame({"a": rng.normal(size=40), "y": rng.normal(size=40)}).to_csv("noise.csv", index=False)
    assert run("fit", "noise.csv", "--target", "y", "--basis", "rbf").exit_code == 0
    result = run("explain", "model.skops")
    assert result.exit_code == 0, result.output
    assert "0 of 40 candidates" in result.stdout
    assert "No candidate explains the target" in result.stdout
