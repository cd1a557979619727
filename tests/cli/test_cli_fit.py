"""`skarce fit` and `skarce predict`: what they print, what they save, and what they refuse."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from skarce import Outcome, RelevanceVectorRegressor, __version__
from skarce.cli.model_file import SavedModel, load, save
from skarce.comparison import REGRESSION, Method
from skarce.datasets.tables import read_table
from skarce.datasets.training import inputs, make_preprocessing, training_data
from skarce.posteriors.posterior import Posterior
from tests.cli.commands import N_ROWS, REGRESSORS, assert_one_line, rows_of, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


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


def test_fit_and_explain_show_the_factor_on_the_std(houses):
    for method, is_scaled in (("frvm", True), ("vbls", False)):
        result = run("fit", "houses.csv", "--target", "price", "--method", method, "--out", "m.skops")
        fitted = load(Path("m.skops")).regressor
        assert (fitted.std_scale_ != 1.0) == is_scaled
        for shown in (result.stdout, run("explain", "m.skops").stdout):
            assert (f"{fitted.std_scale_:.3g} (chosen on left-out rows" in " ".join(shown.split())) == is_scaled


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
