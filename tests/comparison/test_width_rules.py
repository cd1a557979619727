"""Kernel widths by a rule: in methods, in comparisons, and on the command line."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.basis.widths import scale_gamma
from skarce.cli.model_file import load
from skarce.comparison import METHODS, REGRESSION, WIDTH_RULES, own_names
from skarce.comparison.width_rules import FACTORS
from tests.cli.commands import assert_one_line, run

REGRESSORS = METHODS[REGRESSION]


@pytest.fixture(scope="module")
def problem():
    X, y = make_friedman1(80, n_features=6, noise=0.5, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.fixture
def friedman(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_friedman1(80, n_features=6, noise=0.5, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    frame.to_csv("friedman.csv", index=False)
    return frame


# Methods ------------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("basis", ["auto", "rbf"])
@pytest.mark.parametrize("rule", ["learned", "scale", "evidence", "ard"])
def test_our_methods_have_the_width_of_the_rule(problem, rule, basis):
    fitted = REGRESSORS["frvm"].with_basis(basis).with_widths(rule).fit(*problem)
    kernel = "rbf" if rule == "scale" else basis  # the evidence chooses kernels together with widths
    expected = RelevanceVectorRegressor(KernelBasis(kernel, gamma=rule)).fit(*problem)
    assert fitted.basis_.kernel_ == expected.basis_.kernel_
    np.testing.assert_array_equal(fitted.basis_.gamma_, expected.basis_.gamma_)
    np.testing.assert_array_equal(fitted.active_, expected.active_)
    assert np.ndim(fitted.basis_.gamma_) == (rule in ("learned", "ard"))


def test_methods_on_the_quick_basis(problem):
    assert REGRESSORS["frvm"].with_basis("rbf").width_rule == "scale"
    assert REGRESSORS["frvm"].with_basis("rbf").fit(*problem).basis_.gamma_ == scale_gamma(problem[0], None)
    for name in ("gps", "vbls", "svr"):  # their basis is always the same
        assert REGRESSORS[name].with_basis("rbf") is REGRESSORS[name]


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_cross_validation_takes_the_best_of_nine_widths(problem):
    X, y = problem
    fitted = REGRESSORS["frvm"].with_widths("cv").fit(X, y)
    widths = scale_gamma(X, None) * FACTORS
    folds = KFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(RelevanceVectorRegressor("rbf"), {"basis__gamma": widths}, cv=folds, scoring="neg_mean_squared_error")
    assert fitted.basis_.gamma_ == search.fit(X, y).best_params_["basis__gamma"]
    assert len(widths) == 9
    assert scale_gamma(X, None) in widths


class Timed(RelevanceVectorRegressor):
    """Notes how much time every fit is given, and takes all of it."""

    given: ClassVar[list[float]] = []
    now: ClassVar[float] = 0.0

    def fit(self, X, y):
        self.given.append(self.max_time)
        Timed.now += self.max_time
        return super().fit(X, y)


def test_a_time_limit_is_for_all_fits_together(problem, monkeypatch):
    monkeypatch.setattr(Timed, "given", [])
    monkeypatch.setattr(Timed, "now", 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: Timed.now)
    with pytest.warns(ConvergenceWarning, match=r"after 0 of 9 kernel widths had been cross-validated"):
        fitted = replace(REGRESSORS["frvm"], make=Timed).with_widths("cv").fit(*problem, max_time=20.0)
    assert Timed.given == [2.0] * 5 + [10.0]  # five folds take half of it; the rest is for the last fit
    assert fitted.max_time == 20.0
    assert fitted.basis_.gamma_ == scale_gamma(problem[0], None)  # none was compared: that by scale


def test_an_ample_time_limit_changes_nothing(problem):
    method = REGRESSORS["frvm"].with_widths("cv")
    limited, free = method.fit(*problem, max_time=3600.0), method.fit(*problem)
    assert limited.basis_.gamma_ == free.basis_.gamma_
    np.testing.assert_array_equal(limited.dual_coef_, free.dual_coef_)


@pytest.mark.parametrize("name", own_names(REGRESSION))
def test_all_our_methods_follow_every_rule(name):
    method = REGRESSORS[name]
    if method.widths.rules:
        assert [method.with_widths(rule).width_rule for rule in WIDTH_RULES] == list(WIDTH_RULES)


@pytest.mark.parametrize(
    ("name", "followed"),
    [
        ("svr", ["cv", "scale", "cv", "cv", "cv"]),
        ("gp", ["evidence", "evidence", "evidence", "evidence", "ard"]),
        ("ridge", ["none"] * 5),
        ("lasso", ["none"] * 5),
    ],
)
def test_rivals_follow_the_nearest_rule_they_can(name, followed):
    assert [REGRESSORS[name].with_widths(rule).width_rule for rule in WIDTH_RULES] == followed


def test_a_support_vector_machine_is_cross_validated(problem):
    X, y = problem
    fitted = REGRESSORS["svr"].with_widths("ard").fit(X, y)
    assert fitted.regressor_.gamma in scale_gamma(X, None) * FACTORS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_gaussian_process_has_one_length_scale_or_one_per_input(problem):
    scales = {rule: REGRESSORS["gp"].with_widths(rule).fit(*problem).kernel_.k1.k2.length_scale for rule in ("scale", "ard")}
    assert np.ndim(scales["scale"]) == 0
    assert np.shape(scales["ard"]) == (6,)


def test_a_method_by_itself_uses_its_default_widths(problem):
    assert REGRESSORS["frvm"].uses_default_widths
    assert not REGRESSORS["frvm"].with_widths("scale").uses_default_widths
    fitted = REGRESSORS["frvm"].fit(*problem, max_active=3)
    assert fitted.basis == "auto"
    assert len(fitted.active_) <= 3
    assert REGRESSORS["frvm"].width_rule == "learned"


# The commands -------------------------------------------------------------------------------------------------------------


def test_compare_states_the_rule_of_every_method(friedman):
    options = ("--methods", "frvm,svr,ridge", "--cv", "2", "--json", "out.json")
    result = run("compare", "friedman.csv", "--target", "y", "--widths", "ard", *options)
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line.strip()}
    assert "kernel widths: ard" in rows["friedman.csv:"]
    assert rows["svr"].split()[:2] == ["svr", "(a)"]
    assert rows["(a)"] == "(a) widths: cv"
    assert "(" not in rows["frvm"] + rows["ridge"]
    content = json.loads(Path("out.json").read_text())
    assert content["widths"] == "ard"
    assert {method["name"]: method["widths"] for method in content["methods"]} == {"frvm": "ard", "svr": "cv", "ridge": "none"}


def test_compare_says_nothing_of_widths_unless_asked(friedman):
    assert "widths" not in run("compare", "friedman.csv", "--target", "y", "--methods", "frvm,svr", "--cv", "2").stdout


def test_learned_widths_are_the_better_ones_where_inputs_are_noise(friedman):
    errors = {}
    for rule in ("scale", "ard"):
        run("compare", "friedman.csv", "--target", "y", "--widths", rule, "--methods", "frvm", "--json", f"{rule}.json")
        folds = json.loads(Path(f"{rule}.json").read_text())["methods"][0]["folds"]
        errors[rule] = np.mean([fold["rmse"] for fold in folds])
    assert errors["ard"] < 0.9 * errors["scale"]


@pytest.mark.parametrize("rule", ["cv", "evidence", "ard"])
def test_fit_chooses_widths_and_explain_shows_them(friedman, rule):
    assert run("fit", "friedman.csv", "--target", "y", "--widths", rule).exit_code == 0
    basis = load(Path("model.skops")).regressor.basis_
    kernel, gamma = basis.kernel_, basis.gamma_
    shown = " ".join(run("explain", "model.skops").stdout.split())
    if rule == "ard":
        order = [f"{'abcdef'[place]} {gamma[place]:.3g}" for place in np.argsort(-gamma)]
        assert f"{kernel}, one gamma per input (by 'ard', on scaled inputs): {', '.join(order)}" in shown
    else:
        origin = "by 'evidence', on scaled inputs" if rule == "evidence" else "on scaled inputs"
        assert f"{kernel}, gamma {gamma:.4g} ({origin})" in shown


def test_explain_shows_a_width_that_nobody_chose(friedman):
    for options, rule in (((), "learned"), (("--basis", "rbf"), "scale")):
        run("fit", "friedman.csv", "--target", "y", *options)
        assert f"(by '{rule}', on scaled inputs)" in " ".join(run("explain", "model.skops").stdout.split())


def test_what_the_user_can_mend_is_one_line(friedman):
    assert_one_line(run("compare", "friedman.csv", "--target", "y", "--widths", "wide"), "'wide'", "scale", "ard")
    assert_one_line(run("fit", "friedman.csv", "--target", "y", "--widths", "ard", "--gamma", "1"), "--gamma 1 and --widths ard")


def test_help_says_what_the_rules_are():
    shown = " ".join(run("compare", "--help").stdout.split())
    assert all(meaning in shown for meaning in WIDTH_RULES.values())
    assert "--widths ard" in shown
