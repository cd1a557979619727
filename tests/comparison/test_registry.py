"""The registry of methods, for every task."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from skarce.comparison import (
    CLASSIFICATION,
    COUNTS,
    METHODS,
    REGRESSION,
    TASKS,
    Fold,
    UnknownMethodError,
    count_functions,
    find_methods,
    find_own_method,
    own_names,
    task_for,
)
from skarce.comparison.registry import all_names
from skarce.comparison.scores import gives_std
from skarce.datasets import TargetKind

REGRESSORS, CLASSIFIERS = METHODS[REGRESSION], METHODS[CLASSIFICATION]
RIVALS = ("svr", "gp", "ridge", "lasso", "lwpr", "pcr", "pls", "fa", "kdr")
EVERY_METHOD = [method for known in METHODS.values() for method in known.values()]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, 5.0 * np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize("method", EVERY_METHOD, ids=lambda method: f"{method.task.name}-{method.name}")
def test_every_method_makes_new_unfitted_models_of_its_task(method):
    first, second = method.make(), method.make()
    assert first is not second
    assert {REGRESSION: is_regressor, CLASSIFICATION: is_classifier, COUNTS: is_regressor}[method.task](first)
    assert clone(first).get_params().keys() == second.get_params().keys()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", REGRESSORS.values(), ids=list(REGRESSORS))
def test_every_regressor_fits_and_its_functions_can_be_counted(method, problem):
    X, y = problem
    model = method.make().fit(X, y)
    assert model.score(X, y) > 0.5
    most = X.shape[1] if method.name in ("vbls", "ridge", "lasso", "pcr", "pls", "fa") else len(X)
    assert 0 < count_functions(model) <= most


def test_functions_are_counted_by_what_a_prediction_evaluates(problem):
    X, y = problem
    ours = REGRESSORS["frvm"].make().fit(X, y)
    assert count_functions(ours) == len(ours.active_)
    svr = REGRESSORS["svr"].make().fit(X, y)
    assert count_functions(svr) == len(svr.regressor_.support_vectors_)
    ridge = REGRESSORS["ridge"].make().fit(X, y)
    ridge.coef_[1] = 0.0
    assert count_functions(ridge) == 2


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
def test_a_gaussian_process_uses_every_training_row(problem):
    assert count_functions(REGRESSORS["gp"].make().fit(*problem)) == 40


def test_only_bayesian_methods_give_a_std():
    assert [name for name, method in REGRESSORS.items() if gives_std(method.make())] == [
        "frvm",
        "rvm",
        "fgcv",
        "orr",
        "rfs",
        "ols",
        "kmp",
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
        "lwpr",
        "fa",
        "kdr",
    ]


def test_the_two_relevance_vector_machines_differ_in_their_solver():
    assert REGRESSORS["frvm"].make().solver == "fast"
    assert REGRESSORS["rvm"].make().solver == "em"


def test_methods_are_found_in_the_order_asked_and_each_once():
    assert [method.name for method in find_methods([" svr", "frvm", "svr", ""], REGRESSION)] == ["svr", "frvm"]


@pytest.mark.parametrize("names", [["frvm", "boosting"], ["boosting"]])
def test_an_unknown_name_lists_the_known_ones(names):
    with pytest.raises(UnknownMethodError, match=r"'boosting'.*frvm, rvm, fgcv, orr, rfs, ols.*svr, gp, ridge, lasso"):
        find_methods(names, REGRESSION)


def test_no_name_at_all_is_an_error():
    with pytest.raises(UnknownMethodError, match="no method"):
        find_methods(["", " "], REGRESSION)


def test_rivals_are_not_among_our_own():
    assert own_names(REGRESSION) == [name for name in REGRESSORS if name not in RIVALS]
    assert {"frvm", "rvm", "fgcv", "orr", "rfs", "ols", "ssge-forward", "ssge-pta"} < set(own_names(REGRESSION))
    assert own_names(CLASSIFICATION) == ["frvm", "rvm", "vbls", "vbls-rvm", "kmp", "psvm"]
    assert find_own_method("rvm", REGRESSION) is REGRESSORS["rvm"]
    assert find_own_method("rvm", CLASSIFICATION) is CLASSIFIERS["rvm"]
    with pytest.raises(UnknownMethodError, match=r"'svr' is a rival.*frvm, rvm, fgcv, orr, rfs, ols.*abf"):
        find_own_method("svr", REGRESSION)
    with pytest.raises(UnknownMethodError, match=r"unknown method 'x'.*frvm, rvm"):
        find_own_method("x", REGRESSION)


def test_every_classifier_fits_and_its_functions_can_be_counted():
    X, y = make_moons(60, noise=0.3, random_state=0)
    for method in CLASSIFIERS.values():
        assert 1 <= count_functions(method.fit(X, y)) <= 60


def test_a_method_for_another_task_is_refused():
    with pytest.raises(UnknownMethodError, match=r"^ridge, fgcv cannot be used for classification; choose from frvm, rvm, vbls,"):
        find_methods(["frvm", "ridge", "fgcv"], CLASSIFICATION)
    with pytest.raises(UnknownMethodError, match=r"^fgcv cannot be used for classification; choose from .* kmp, psvm\.$"):
        find_own_method("fgcv", CLASSIFICATION)


def test_without_a_task_the_names_of_all_tasks_are_known():
    assert [method.name for method in find_methods(["logistic", "ridge"])] == ["logistic", "ridge"]
    assert find_own_method("fgcv").name == "fgcv"
    with pytest.raises(UnknownMethodError) as raised:
        find_methods(["boosting"])
    for task in TASKS.values():
        assert f"{', '.join(all_names(task))} (for {task.target.value})" in str(raised.value)
    with pytest.raises(UnknownMethodError, match="'svc' is a rival"):
        find_own_method("svc")


def test_every_kind_of_target_has_a_task():
    assert [task_for(kind).target for kind in TargetKind] == list(TargetKind)


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_a_task_is_ranked_by_a_number_of_its_score_and_shows_its_metrics(task, problem):
    X, y = problem
    y = {REGRESSION: y, CLASSIFICATION: y > 0.0, COUNTS: np.round(np.abs(y))}[task]
    score = task.score(METHODS[task]["frvm"].fit, Fold(X, y, X, y))
    assert getattr(score, task.ranked_by) >= 0.0
    assert all(hasattr(score, metric.name) for metric in task.metrics)


@pytest.mark.parametrize(
    ("name", "where"), [("lwpr", "LWPRRegressor"), ("fa", "JointFactorRegressor"), ("kdr", "KernelDimensionReduction")]
)
def test_methods_that_are_only_compared_say_where_they_are_in_python(name, where):
    with pytest.raises(UnknownMethodError, match=rf"can only be compared \(in Python, it is skarce.{where}") as refused:
        find_own_method(name)
    assert "rival" not in str(refused.value)
