"""The methods the command line knows."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from skarce.comparison.registry import (
    METHODS,
    UnknownMethodError,
    count_functions,
    find_methods,
    find_own_method,
    gives_std,
    own_names,
)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, 5.0 * np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_method_makes_fresh_unfitted_regressors(method):
    first, second = method.make(), method.make()
    assert first is not second
    assert is_regressor(first)
    assert clone(first).get_params().keys() == second.get_params().keys()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_method_fits_and_its_functions_can_be_counted(method, problem):
    X, y = problem
    model = method.make().fit(X, y)
    assert model.score(X, y) > 0.5
    most = X.shape[1] if method.name in ("vbls", "ridge", "lasso") else len(X)
    assert 0 < count_functions(model) <= most


def test_functions_are_counted_by_what_a_prediction_evaluates(problem):
    X, y = problem
    ours = METHODS["frvm"].make().fit(X, y)
    assert count_functions(ours) == len(ours.active_)
    svr = METHODS["svr"].make().fit(X, y)
    assert count_functions(svr) == len(svr.regressor_.support_vectors_)
    ridge = METHODS["ridge"].make().fit(X, y)
    ridge.coef_[1] = 0.0
    assert count_functions(ridge) == 2


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
def test_a_gaussian_process_uses_every_training_row(problem):
    assert count_functions(METHODS["gp"].make().fit(*problem)) == 40


def test_only_bayesian_methods_give_a_std():
    assert [name for name, method in METHODS.items() if gives_std(method.make())] == [
        "frvm",
        "rvm",
        "fgcv",
        "orr",
        "rfs",
        "ols",
        "ssge-forward",
        "ssge-pta",
        "ssge-floating",
        "ssge-oscillating",
        "abf",
        "gps",
        "gps-u",
        "gps-be",
        "skr",
        "as",
        "vbls",
        "vbls-rvm",
        "stepwise",
        "gp",
    ]


def test_the_two_relevance_vector_machines_differ_in_their_solver():
    assert METHODS["frvm"].make().solver == "fast"
    assert METHODS["rvm"].make().solver == "em"


def test_methods_are_found_in_the_order_asked_and_each_once():
    assert [method.name for method in find_methods([" svr", "frvm", "svr", ""])] == ["svr", "frvm"]


@pytest.mark.parametrize("names", [["frvm", "boosting"], ["boosting"]])
def test_an_unknown_name_lists_the_known_ones(names):
    with pytest.raises(UnknownMethodError, match=r"'boosting'.*frvm, rvm, fgcv, orr, rfs, ols.*svr, gp, ridge, lasso"):
        find_methods(names)


def test_no_name_at_all_is_an_error():
    with pytest.raises(UnknownMethodError, match="no method"):
        find_methods(["", " "])


def test_rivals_are_not_among_our_own():
    assert own_names() == [name for name in METHODS if name not in ("svr", "gp", "ridge", "lasso")]
    assert {"frvm", "rvm", "fgcv", "orr", "rfs", "ols", "ssge-forward", "ssge-pta"} < set(own_names())
    assert find_own_method("rvm").name == "rvm"
    with pytest.raises(UnknownMethodError, match=r"'svr' is a rival.*frvm, rvm, fgcv, orr, rfs, ols.*abf"):
        find_own_method("svr")
    with pytest.raises(UnknownMethodError, match=r"unknown method 'x'.*frvm, rvm"):
        find_own_method("x")
